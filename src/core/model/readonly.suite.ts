import type { State } from "./state.ts";

/**
 * Compiled, but never run: the type check fails if one of these writes is allowed. Only
 * `core/apply` may change a state.
 */
export function forbiddenWrites(state: State): void {
  // @ts-expect-error A number of the state is readonly.
  state.fence = 1;
  // @ts-expect-error A map of the state has no methods that change it.
  state.pools.clear();
  for (const pool of state.pools.values()) {
    // @ts-expect-error Objects of the state are readonly,
    pool.retired = true;
    // @ts-expect-error and so are its sets,
    pool.members.clear();
    for (const { queue, idle } of pool.buckets.values()) {
      const [request] = queue;
      // @ts-expect-error its queues,
      if (request !== undefined) queue.remove(request);
      // @ts-expect-error its lists,
      if (idle.first !== null) idle.remove(idle.first);
    }
    for (const resource of pool.members) {
      // @ts-expect-error its resources,
      resource.drained = true;
      // @ts-expect-error their labels,
      resource.labels["a"] = "b";
      // @ts-expect-error and their levels.
      if (resource.sharing === "shared") for (const level of resource.levels) level.used = 0;
    }
  }
  for (const lease of state.leases.values()) {
    // @ts-expect-error A lease is readonly,
    lease.seenAt = lease.grantedAt;
    // @ts-expect-error and so are its claims.
    lease.claims.pop();
  }
  // @ts-expect-error Only events set deadlines.
  state.due.clear(state.due.first());
}
