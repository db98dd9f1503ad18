/**
 * Chooses a set of different resources: each with another value of one label (`spread`), with a
 * maximum number of values of others (`atMost`). The search is not greedy: it takes a resource only
 * if the set can still be completed, and backtracks if the bounds alone cannot decide this.
 *
 * The check whether a set can be completed reads all remaining resources, so it runs once for
 * resources with the same labels: if it fails for one, it fails for every later one, after which
 * even fewer remain. A set from a thousand resources then needs few checks in any order. With one
 * check for each resource it took 20 ms if the third value began after 650 resources of two other
 * values.
 */
import { entryOf } from "../../model/entries.ts";
import type { Demand } from "./demand.ts";
import type { Shareable } from "./shareable.ts";

/** How many more resources a search may look at. One look takes a tenth to a third of a microsecond. */
export interface Budget {
  left: number;
}

/** Yields all sets that satisfy the demand, best first, in the order of the candidates. */
export function* sets<Resource extends Shareable>(
  candidates: readonly Resource[],
  demand: Demand,
  budget: Budget,
): Generator<Resource[], void, undefined> {
  if (canComplete([], candidates, demand, budget)) yield* extend([], candidates, demand, budget);
}

/** The caller has checked that the set can be completed. */
function* extend<Resource extends Shareable>(
  chosen: readonly Resource[],
  rest: readonly Resource[],
  demand: Demand,
  budget: Budget,
): Generator<Resource[], void, undefined> {
  if (chosen.length === demand.count) {
    yield [...chosen];
    return;
  }
  budget.left -= 20; // For what does not depend on their number.
  const labels = [
    ...new Set([demand.placing.spread ?? [], ...Object.keys(demand.placing.atMost ?? {})].flat()),
  ];
  const hopeful = boundsOf(chosen, rest, demand, budget);
  const hopeless = new Set<string>();
  for (const [index, resource] of rest.entries()) {
    const kind = kindOf(resource, labels);
    if (hopeless.has(kind)) continue;
    if (budget.left <= 0) return;
    budget.left -= 5; // For its labels.
    if (!mayJoin(resource, chosen, demand) || !hopeful(resource)) {
      hopeless.add(kind);
      continue;
    }
    const [next, others] = [[...chosen, resource], rest.slice(index + 1)];
    if (canComplete(next, others, demand, budget)) yield* extend(next, others, demand, budget);
    else hopeless.add(kind);
  }
}

/**
 * Returns the same text for resources with the same values of the labels that the demand has rules
 * for.
 */
function kindOf({ labels: own }: Shareable, labels: readonly string[]): string {
  return labels.length === 0 ? "" : JSON.stringify(labels.map((label) => own[label]));
}

/**
 * Returns a cheap first check for a resource: does each rule alone leave enough, if no earlier
 * resource were skipped? Useful if there are as many values as resources.
 */
function boundsOf(
  chosen: readonly Shareable[],
  rest: readonly Shareable[],
  { count, placing }: Demand,
  budget: Budget,
): (resource: Shareable) => boolean {
  const bounds = Object.entries(placing.atMost ?? {}).map(([label, max]) => {
    budget.left -= rest.length;
    const { open, counts, most, largest } = tally(label, chosen, rest);
    const top = (among: readonly number[], values: number) => {
      return among.slice(0, Math.max(0, values)).reduce((sum, size) => sum + size, most);
    };
    const others = max - open.size - 1;
    return ({ labels }: Shareable) => {
      const value = entryOf(labels, label);
      if (value === undefined || open.has(value)) return top(largest, others + 1);
      const size = counts.get(value) ?? 0;
      const isLargest = size >= (largest[Math.max(0, others)] ?? 0);
      return isLargest ? top(largest, others + 1) : top(largest, others) + size;
    };
  });
  return (resource) => bounds.every((bound) => bound(resource) >= count - chosen.length);
}

function mayJoin(resource: Shareable, chosen: readonly Shareable[], { placing }: Demand): boolean {
  const { spread, atMost = {} } = placing;
  if (
    spread !== undefined &&
    valuesOf(chosen, spread).has(entryOf(resource.labels, spread) ?? "")
  ) {
    return false;
  }
  return Object.entries(atMost).every(
    ([label, max]) => valuesOf([...chosen, resource], label).size <= max,
  );
}

/** The values of a label. Resources without the label do not count. */
function valuesOf(resources: readonly Shareable[], label: string): Set<string> {
  return new Set(resources.flatMap(({ labels }) => entryOf(labels, label) ?? []));
}

/**
 * Whether each rule alone leaves enough. Exact for one rule; for several rules it is only a bound.
 */
function canComplete(
  chosen: readonly Shareable[],
  rest: readonly Shareable[],
  demand: Demand,
  budget: Budget,
): boolean {
  const missing = demand.count - chosen.length;
  if (missing <= 0) return true;
  const { spread, atMost } = demand.placing;
  if (rest.length < missing) return false;
  if (spread !== undefined) {
    budget.left -= rest.length;
    const used = valuesOf(chosen, spread);
    const fresh = [...valuesOf(rest, spread)].filter((value) => !used.has(value));
    if (fresh.length < missing) return false;
  }
  for (const label in atMost) {
    budget.left -= rest.length;
    if (mostUnder(label, atMost[label] ?? 0, chosen, rest) < missing) return false;
  }
  return true;
}

/**
 * The number of further resources if this were the only rule. Uses the values with the most
 * resources first.
 */
function mostUnder(
  label: string,
  max: number,
  chosen: readonly Shareable[],
  rest: readonly Shareable[],
): number {
  const { open, most, largest } = tally(label, chosen, rest);
  return largest.slice(0, Math.max(0, max - open.size)).reduce((sum, count) => sum + count, most);
}

/**
 * Counts the remaining resources by value: those with a value in use or without the label, and
 * those of each other value.
 */
function tally(label: string, chosen: readonly Shareable[], rest: readonly Shareable[]) {
  const open = valuesOf(chosen, label);
  const counts = new Map<string, number>();
  let most = 0;
  for (const { labels } of rest) {
    const value = entryOf(labels, label);
    if (value === undefined || open.has(value)) most += 1;
    else counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return { open, counts, most, largest: [...counts.values()].sort((a, b) => b - a) };
}

/** The maximum number of resources that can be granted at once, as far as the budget tells. Answers "why not four?". */
export function mostAtOnce(
  candidates: readonly Shareable[],
  demand: Demand,
  budget: Budget,
): number {
  const isPossible = (count: number) => {
    const found = sets(candidates, { ...demand, count }, budget).next();
    return found.done !== true || budget.left <= 0;
  };
  const max = Math.min(demand.count, candidates.length);
  if (max === 0 || isPossible(max)) return max;
  let [possible, tooMany] = [0, max];
  // Of a set that can be granted, every part can be granted too.
  while (tooMany - possible > 1) {
    const count = Math.floor((possible + tooMany) / 2);
    if (isPossible(count)) possible = count;
    else tooMany = count;
  }
  return possible;
}
