/**
 * The choice of a set of resources as one problem: so many different ones, each with another value of
 * a label, over at most so many values of others. It is never greedy: a resource is taken only if the
 * set can still be completed, and where the bounds alone cannot tell, the search goes back.
 */
import type { Demand } from "./demand.ts";
import type { Room } from "./room.ts";

/** Bounds what one decision may cost; shared by all that it searches. */
export interface Budget {
  left: number;
}

/** All sets that satisfy the demand, the best first, each a prefix in the order of the candidates. */
export function* sets(
  candidates: readonly Room[],
  demand: Demand,
  budget: Budget,
): Generator<Room[], void, undefined> {
  yield* extend([], candidates, demand, budget);
}

function* extend(
  chosen: readonly Room[],
  rest: readonly Room[],
  demand: Demand,
  budget: Budget,
): Generator<Room[], void, undefined> {
  if (chosen.length === demand.count) {
    yield [...chosen];
    return;
  }
  for (let start = 0; start < rest.length; start++) {
    if (budget.left <= 0) return;
    budget.left -= 1;
    const tail = rest.slice(start);
    if (!canComplete(chosen, tail, demand)) return;
    const [room, ...others] = tail;
    if (room === undefined) return;
    const next = [...chosen, room];
    if (!mayJoin(room, chosen, demand) || !canComplete(next, others, demand)) continue;
    yield* extend(next, others, demand, budget);
  }
}

function mayJoin(room: Room, chosen: readonly Room[], { placing }: Demand): boolean {
  const { spread, atMost = {} } = placing;
  if (spread !== undefined && valuesOf(chosen, spread).has(room.at.labels[spread] ?? "")) {
    return false;
  }
  return Object.entries(atMost).every(
    ([label, max]) => valuesOf([...chosen, room], label).size <= max,
  );
}

/** A resource without the label is in no place that could count. */
function valuesOf(rooms: readonly Room[], label: string): Set<string> {
  return new Set(rooms.flatMap(({ at }) => at.labels[label] ?? []));
}

/** Each rule on its own leaves enough. With one rule that is exact; with several it is a bound. */
function canComplete(chosen: readonly Room[], rest: readonly Room[], demand: Demand): boolean {
  const missing = demand.count - chosen.length;
  if (missing <= 0) return true;
  const { spread, atMost } = demand.placing;
  if (rest.length < missing) return false;
  if (spread !== undefined) {
    const used = valuesOf(chosen, spread);
    const fresh = [...valuesOf(rest, spread)].filter((value) => !used.has(value));
    if (fresh.length < missing) return false;
  }
  for (const label in atMost) {
    if (mostUnder(label, atMost[label] ?? 0, chosen, rest) < missing) return false;
  }
  return true;
}

/** How many more could be taken if this were the only rule: the largest values are opened first. */
function mostUnder(
  label: string,
  max: number,
  chosen: readonly Room[],
  rest: readonly Room[],
): number {
  const open = valuesOf(chosen, label);
  const counts = new Map<string, number>();
  let most = 0;
  for (const { at } of rest) {
    const value = at.labels[label];
    if (value === undefined || open.has(value)) most += 1;
    else counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const largest = [...counts.values()].sort((a, b) => b - a).slice(0, Math.max(0, max - open.size));
  return largest.reduce((sum, count) => sum + count, most);
}

/** How many resources could be had at once: the answer to "why not four?". */
export function mostAtOnce(candidates: readonly Room[], demand: Demand): number {
  for (let count = Math.min(demand.count, candidates.length); count > 0; count--) {
    const budget = { left: 10_000 };
    const found = sets(candidates, { ...demand, count }, budget).next();
    if (!found.done || budget.left <= 0) return count;
  }
  return 0;
}
