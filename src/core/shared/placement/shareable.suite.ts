/** Helpers for tests of placement: shared resources without a broker. */
import type { Strategy } from "../../model/strategies.ts";
import type { Placing } from "./demand.ts";
import { demandOf } from "./demand.ts";
import type { View } from "./fit.ts";
import type { Candidates } from "./plan.ts";
import type { Amounts, CapacitySpec, Part, Shareable } from "./shareable.ts";
import { standingKey } from "./strategy.ts";

export interface SharedText {
  readonly capacity: Amounts;
  readonly used?: Amounts;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<CapacitySpec>;
  readonly drained?: boolean;
  readonly parts?: Readonly<Record<string, readonly Part[]>>;
}

export function shared(name: string, text: SharedText, index = 0): Shareable {
  const { capacity, used = {}, labels = {}, drained = false, parts = {} } = text;
  return {
    name,
    labels,
    drained,
    standing: 0,
    order: index,
    spec: { index, capacity, ...text.spec },
    levels: Object.entries(capacity).map(([level, most]) => {
      return { name: level, capacity: most, used: used[level] ?? 0 };
    }),
    parts: new Map(Object.entries(parts)),
    reservations: [],
    lastFence: 0,
  };
}

export function part(name: string, apart?: string): Part {
  return {
    kind: "networks",
    name,
    apart,
    attributes: {},
    owner: null,
    uses: 0,
    reservedFor: [],
    resources: new Set<Shareable>(),
  };
}

/** Sorts the resources as a pool with this strategy does. */
export function poolOf(
  resources: readonly Shareable[],
  strategy: Strategy = "least-used",
): Candidates {
  const key = (one: Shareable) => standingKey(strategy, one);
  return {
    strategy,
    resources: resources.toSorted((a, b) => key(a) - key(b) || a.order - b.order),
  };
}

export const wanted = (placing: Placing, count = 1) => demandOf(count, placing);

/** A request behind all others. */
export const anybody: View = { rank: { priority: 0, order: 1_000_000, space: null }, owner: "me" };
