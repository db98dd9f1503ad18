import type { PoolSpec } from "../../core/model/policy.ts";

/** Whether the pool has no resources of its own and only limits the pools below it. */
export function isLimitOnly({ members, policy }: PoolSpec): boolean {
  if (policy.cluster !== undefined || policy.dynamic !== undefined) return false;
  return policy.limit !== undefined && members.length === 0;
}

/** The pools whose leases count against this one, over any number of levels. */
export function poolsBelow(name: string, pools: readonly PoolSpec[]): ReadonlySet<string> {
  const below = new Set<string>([name]);
  // The loop also visits pools that are added to the set meanwhile.
  for (const parent of below) {
    for (const pool of pools) if (pool.policy.parent === parent) below.add(pool.name);
  }
  below.delete(name);
  return below;
}
