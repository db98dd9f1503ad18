/** From what the core knows of shares to what the wire carries. */

import type * as Wire from "../../api/placement-schemas.ts";
import type { Claim, Resource as WireResource } from "../../api/schemas.ts";
import type { RoomView } from "../../core/explain/explain.ts";
import type { ResourceView } from "../../core/explain/resource-view.ts";
import type { SharedView } from "../../core/explain/shared-view.ts";
import type { ClaimView } from "../../core/explain/view.ts";
import type { Unfit } from "../../core/shared/placement/fit.ts";
import type { Amounts } from "../../core/shared/placement/shareable.ts";
import { type Sight, withoutNames } from "../sight.ts";
import { timestamp } from "../timestamp.ts";

type Share = Pick<Claim, "amount" | "parts">;

export function renderShare({ parts }: ClaimView, amount: Amounts, secrets: boolean): Share {
  const shown = parts.map(({ kind, name, attributes }) => {
    return { kind, name, ...(secrets ? { attributes } : undefined) };
  });
  return { amount, ...(shown.length === 0 ? undefined : { parts: shown }) };
}

export function renderShares(
  shared: ResourceView["shared"],
  sees: Sight,
): Pick<WireResource, "usage" | "taints" | "shares" | "reservations"> | undefined {
  if (shared === null) return undefined;
  const reservations = shared.reservations.map((one) => withoutNames(one, sees));
  return {
    ...renderUse(shared, sees),
    taints: [...shared.taints],
    ...(reservations.length > 0 && { reservations }),
  };
}

function renderUse(shared: SharedView, sees: Sight): Pick<WireResource, "usage" | "shares"> {
  const usage = shared.usage.map(({ dimension, used, capacity, reserved }) => {
    return { dimension, used, capacity, ...(reserved > 0 && { reserved }) };
  });
  const shares = shared.shares.map((share) => {
    return { ...withoutNames(share, sees), since: timestamp(share.since) };
  });
  return { usage, shares };
}

export function renderSharedResources(
  rooms: readonly RoomView[],
  sees: Sight,
): Wire.RoomExplanation[] {
  return rooms.map(({ resource, shared, fits, unfit, short, isReserved, keptFor, longest }) => ({
    resource,
    fits,
    ...renderUse(shared, sees),
    ...(unfit === null ? undefined : { unfit: unfitText(unfit) }),
    short: [...short],
    ...(isReserved && { reserved: true }),
    keptFor: keptFor.map((one) => withoutNames(one, sees)),
    ...(longest === null
      ? undefined
      : {
          longest: {
            id: withoutNames(longest, sees).id,
            holder: withoutNames(longest, sees).holder,
            ...(longest.backBy === null ? undefined : { backBy: timestamp(longest.backBy) }),
          },
        }),
  }));
}

function unfitText(unfit: Unfit): string {
  switch (unfit.why) {
    case "cordoned":
      return unfit.detail === undefined ? "it is not lent for now" : `it ${unfit.detail}`;
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
