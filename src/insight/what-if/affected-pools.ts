import type { PoolSpec } from "../../core/model/policy.ts";
import type { AskedItem } from "../history/entry.ts";

/**
 * All pools that a change of some pools may affect: those that were requested together with one of
 * them, and those that share a limit with one, over any number of steps.
 */
export function reachOf(
  changed: readonly string[],
  pools: readonly PoolSpec[],
  asked: Iterable<{ readonly items: readonly Pick<AskedItem, "pool">[] }>,
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
  for (const { items } of asked) {
    const [first, ...others] = items;
    for (const { pool } of others) tie(first?.pool ?? pool, pool);
  }
  const reached = new Set(changed);
  // The loop also visits pools that are added to the set meanwhile.
  for (const pool of reached) for (const other of ties.get(pool) ?? []) reached.add(other);
  return reached;
}
