/** What holders tell of their provider, and what operators make of a pool's rate. */

import { poolNotFound } from "./acquire.ts";
import { serveAll } from "./come-back.ts";
import type { Command, Reason } from "./command.ts";
import type { PoolName } from "./ids.ts";
import { done, type Outcome, refused } from "./outcome.ts";
import { adaptiveOf } from "./rate.ts";
import { noLease } from "./release.ts";
import { poolsIn, tell } from "./tell.ts";
import { emit, type Turn } from "./turn.ts";

type Signal = Extract<Command, { type: "signal" }>;

export function signal(turn: Turn, { id, pool: name, throttled, evidence }: Signal): Outcome {
  const lease = turn.state.leases.get(id);
  if (lease === undefined) return refused(noLease(turn.state, id));
  const pools = poolsIn(turn.state, lease);
  const meant = name === undefined ? pools : pools.filter((pool) => pool.name === name);
  if (name !== undefined && meant.length === 0) {
    return refused({ code: "pool_not_in_lease", id, pool: name });
  }
  tell(turn, lease, meant, { throttled, evidence });
  return done;
}

/** Holds a pool's rate where an operator wants it, whatever is reported; or lets it go again. */
export function pin(turn: Turn, name: PoolName, rate: number | null, reason: Reason): Outcome {
  const pool = turn.state.pools.get(name);
  if (pool === undefined || pool.retired) return refused(poolNotFound(turn.state, name));
  if (rate === null && pool.pin === null) return done;
  if (rate === null && pool.pin !== null) {
    const { min = 0, max = Number.POSITIVE_INFINITY } = adaptiveOf(pool) ?? {};
    const kept = Math.min(max, Math.max(min, pool.pin.rate));
    emit(turn, {
      type: "rate-changed",
      pool: name,
      rate: kept,
      cause: { how: "unpinned", ...reason },
    });
  } else if (rate !== null) {
    emit(turn, { type: "rate-changed", pool: name, rate, cause: { how: "pinned", ...reason } });
  }
  serveAll(turn, new Set([pool]));
  return done;
}
