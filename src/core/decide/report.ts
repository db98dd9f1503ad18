import { slowDown } from "../gates/adaptive.ts";
import type { Lease, Pool, State } from "../model/state.ts";
import { emit, type Turn } from "./turn.ts";

/**
 * Takes a report to the controllers of the pools and of what they draw on: it is the account that a
 * provider throttles, under whatever name it was lent.
 */
export function report(
  turn: Turn,
  { id }: Lease,
  pools: readonly Pool[],
  report: { readonly throttled: boolean; readonly evidence?: string | undefined },
): void {
  const { throttled, evidence } = report;
  const why = evidence === undefined ? undefined : { why: evidence };
  for (const pool of upwards(pools)) {
    emit(turn, {
      type: "pool-signalled",
      pool: pool.name,
      id,
      throttled,
      ...(evidence === undefined ? undefined : { evidence }),
    });
    if (throttled) slowDown(turn, pool, { lease: id, ...why });
  }
}

/** These pools and all that they draw on, each once. */
export function upwards(pools: readonly Pool[]): ReadonlySet<Pool> {
  const all = new Set<Pool>();
  for (const pool of pools) {
    for (let up: Pool | null = pool; up !== null; up = up.parent) all.add(up);
  }
  return all;
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
