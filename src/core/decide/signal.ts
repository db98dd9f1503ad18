/** What holders tell of their provider, and what operators make of a pool's rate. */

import { configuredRate } from "../gates/pace.ts";
import { adaptiveOf } from "../gates/rate.ts";
import type { Command, Reason } from "../model/command.ts";
import type { PoolName } from "../model/ids.ts";
import { done, type Outcome, refused } from "../model/outcome.ts";
import type { Pool } from "../model/state.ts";
import { leaseNotFound, poolNotFound } from "./not-found.ts";
import { poolsIn, report, upwards } from "./report.ts";
import { emit, type Turn } from "./turn.ts";

type Signal = Extract<Command, { type: "signal" }>;

export function signal(turn: Turn, { id, pool: name, throttled, evidence }: Signal): Outcome {
  const lease = turn.state.leases.get(id);
  if (lease === undefined) return refused(leaseNotFound(turn.state, id));
  const pools = poolsIn(turn.state, lease);
  const meant =
    name === undefined ? pools : [...upwards(pools)].filter((pool) => pool.name === name);
  if (name !== undefined && meant.length === 0) {
    return refused({ code: "pool_not_in_lease", id, pool: name });
  }
  report(turn, lease, meant, { throttled, evidence });
  return done;
}

/** Holds a pool's rate where an operator wants it, whatever is reported; or lets it go again. */
export function pin(turn: Turn, name: PoolName, rate: number | null, reason: Reason): Outcome {
  const pool = turn.state.pools.get(name);
  if (pool === undefined || pool.retired) return refused(poolNotFound(turn.state, name));
  if (rate !== null) {
    emit(turn, { type: "rate-changed", pool: name, rate, cause: { how: "pinned", ...reason } });
  } else if (pool.pin !== null) {
    const kept = rateUnpinned(pool, pool.pin.rate);
    const cause = { how: "unpinned", ...reason } as const;
    emit(turn, { type: "rate-changed", pool: name, rate: kept, cause });
  } else {
    return done;
  }
  return done;
}

/** A rate that finds itself goes on from the pin, within its bounds; any other is as configured. */
function rateUnpinned(pool: Pool, pinned: number): number | null {
  const policy = adaptiveOf(pool);
  if (policy?.mode !== "auto") return configuredRate(pool);
  return Math.min(policy.max, Math.max(policy.min, pinned));
}
