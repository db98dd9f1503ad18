import { slowDown } from "../gates/adaptive.ts";
import { ancestors } from "../gates/limits.ts";
import type { Lease, Pool, State } from "../model/state.ts";
import { emit, type Turn } from "./turn.ts";

/**
 * Tells the pools of a lease, and all pools above them, how the provider took it: it is the account
 * that a provider throttles, under whatever name it was lent.
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

/** These pools and all above them, each once. */
export function upwards(pools: readonly Pool[]): ReadonlySet<Pool> {
  return new Set(pools.flatMap((pool) => [...ancestors(pool)]));
}

/** Those that it holds something of, and those that it did before the server took it back. */
export function poolsIn(state: State, { claims, ask }: Lease): Pool[] {
  const pools = new Set(claims.map(({ resource }) => resource.pool));
  for (const item of ask.items) {
    const pool = item.anyOf === undefined ? state.pools.get(item.pool) : undefined;
    if (pool !== undefined) pools.add(pool);
  }
  return [...pools];
}
