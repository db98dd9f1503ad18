/** From what the core knows of shares to what the wire carries. */

import type * as Wire from "../../api/placement-schemas.ts";
import type { Claim, Pool as WirePool, Resource as WireResource } from "../../api/schemas.ts";
import type { Usage } from "../../core/explain/explain-capacity.ts";
import { type SharedExplanation, sharedIn, usagesOf } from "../../core/explain/explain-capacity.ts";
import type { ClaimView } from "../../core/explain/view.ts";
import type { Pool, Resource } from "../../core/model/state.ts";
import type { Unfit } from "../../core/shared/placement/fit.ts";
import { formatTaint } from "../../core/shared/placement/taint.ts";
import { timestamp } from "../timestamp.ts";

type Share = Pick<Claim, "amount" | "parts">;

export function renderShare({ amount, parts }: ClaimView, secrets: boolean): Share | undefined {
  if (amount === null) return undefined;
  const shown = parts.map(({ kind, name, attributes }) => {
    return { kind, name, ...(secrets ? { attributes } : undefined) };
  });
  return { amount, ...(shown.length === 0 ? undefined : { parts: shown }) };
}

/** What all of its resources have together. A part that several have is counted once for each. */
export function renderUsage(pool: Pool): Pick<WirePool, "place" | "usage"> | undefined {
  const { placement } = pool.policy;
  if (placement === undefined) return undefined;
  const sums = new Map<string, { used: number; capacity: number }>();
  for (const room of sharedIn(pool)) {
    for (const { dimension, used, capacity } of usagesOf(room)) {
      const sum = sums.get(dimension) ?? { used: 0, capacity: 0 };
      sums.set(dimension, { used: sum.used + used, capacity: sum.capacity + capacity });
    }
  }
  const usage = Array.from(sums, ([dimension, sum]) => ({ dimension, ...sum }));
  return { place: placement.strategy, usage };
}

export function renderRoom(
  resource: Resource,
): Pick<WireResource, "usage" | "taints" | "shares"> | undefined {
  if (resource.sharing === "exclusive") return undefined;
  const usage = usagesOf(resource).map(({ dimension, used, capacity }: Usage) => {
    return { dimension, used, capacity };
  });
  const shares = Array.from(resource.claims, ({ lease, amount }) => {
    return { id: lease.id, holder: lease.ask.holder, amount };
  });
  return { usage, taints: (resource.spec.taints ?? []).map(formatTaint), shares };
}

export function renderRooms(rooms: readonly SharedExplanation[]): Wire.RoomExplanation[] {
  return rooms.map(({ resource, fits, unfit, short, keptFor, longest }) => ({
    resource,
    fits,
    ...(unfit === null ? undefined : { unfit: unfitText(unfit) }),
    short: [...short],
    keptFor: [...keptFor],
    ...(longest === null
      ? undefined
      : {
          longest: {
            id: longest.id,
            holder: longest.holder,
            ...(longest.backBy === null ? undefined : { backBy: timestamp(longest.backBy) }),
          },
        }),
  }));
}

function unfitText(unfit: Unfit): string {
  switch (unfit.why) {
    case "cordoned":
      return "it is not lent for now";
    case "excluded":
      return "it is lent by name only";
    case "not_the_one":
      return `${unfit.wanted} is asked for`;
    case "unwanted":
      return "it is not wanted";
    case "label":
      return `its ${unfit.key} is ${unfit.has ?? "not set"}, not ${unfit.wanted}`;
    case "taint":
      return `it is tainted ${unfit.taint}`;
    case "no_label":
      return `it has no label ${unfit.key} to spread over`;
  }
}
