/** Reports of holders about their provider, and pins of a pool's rate by operators. */

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

/** Pins a pool's rate, so that reports do not change it, or removes the pin. */
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

/**
 * The rate after a pin: an adaptive rate continues from the pin, within its bounds; any other rate
 * is as configured.
 */
function rateUnpinned(pool: Pool, pinned: number): number | null {
  const policy = adaptiveOf(pool);
  if (policy?.mode !== "auto") return configuredRate(pool);
  return Math.min(policy.max, Math.max(policy.min, pinned));
}
