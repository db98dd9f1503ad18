import { slowDown } from "../gates/adaptive.ts";
import { ancestors } from "../gates/limits.ts";
import type { Lease, Pool, State } from "../model/state.ts";
import { emit, type Turn } from "./turn.ts";

/**
 * Records a provider's report for the pools of a lease and all their ancestors, because a provider
 * throttles the account, which is often a parent pool.
 */
export function report(
  turn: Turn,
  { id }: Lease,
  pools: readonly Pool[],
  { throttled, evidence }: { readonly throttled: boolean; readonly evidence?: string | undefined },
): void {
  const why = evidence === undefined ? undefined : { why: evidence };
  for (const pool of upwards(pools)) {
    emit(turn, {
      type: "pool-signalled",
      pool: pool.name,
      id,
      throttled,
      ...(evidence === undefined ? undefined : { evidence }),
    });
    const change = throttled ? slowDown(pool, { lease: id, ...why }, turn.now) : undefined;
    if (change !== undefined) emit(turn, change);
  }
}

/** Returns these pools and all their ancestors, each once. */
export function upwards(pools: readonly Pool[]): ReadonlySet<Pool> {
  return new Set(pools.flatMap((pool) => [...ancestors(pool)]));
}

/**
 * Returns the pools of the lease's claims, and those of its ask, because some claims may have
 * ended.
 */
export function poolsIn(state: State, { claims, ask }: Lease): Pool[] {
  const pools = new Set(claims.map(({ resource }) => resource.pool));
  for (const item of ask.items) {
    const pool = item.anyOf === undefined ? state.pools.get(item.pool) : undefined;
    if (pool !== undefined) pools.add(pool);
  }
  return [...pools];
}
