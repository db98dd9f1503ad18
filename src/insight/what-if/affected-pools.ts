import type { PoolSpec } from "../../core/model/policy.ts";
import { type Asked, type AskedItem, poolsOf } from "../history/entry.ts";

/**
 * All pools that a change of some pools may affect: those that were requested together with one of
 * them (by one request, as alternatives, or by one group), and those that share a limit with one,
 * over any number of steps.
 */
export function reachOf(
  changed: readonly string[],
  pools: readonly PoolSpec[],
  asked: Iterable<{
    readonly items: readonly Pick<AskedItem, "pool" | "anyOf">[];
    readonly group?: Asked["group"];
  }>,
): ReadonlySet<string> {
  const ties = new Map<string, Set<string>>();
  const tie = (a: string, b: string) => {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const others = ties.get(from);
      if (others === undefined) ties.set(from, new Set([to]));
      else others.add(to);
    }
  };
  for (const { name, policy } of pools) if (policy.parent !== undefined) tie(name, policy.parent);
  const groups = new Map<string, string>();
  for (const { items, group } of asked) {
    const [first, ...others] = items.flatMap(poolsOf);
    if (first === undefined) continue;
    for (const pool of others) tie(first, pool);
    if (group === undefined) continue;
    tie(first, groups.get(group.name) ?? first);
    groups.set(group.name, first);
  }
  const reached = new Set(changed);
  // The loop also visits pools that are added to the set meanwhile.
  for (const pool of reached) for (const other of ties.get(pool) ?? []) reached.add(other);
  return reached;
}
