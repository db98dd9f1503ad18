import type * as Wire from "../../api/schemas.ts";
import { statesOf } from "../../core/explain/explain.ts";
import { formatDuration } from "../../core/model/duration.ts";
import type { PoolPolicy } from "../../core/model/policy.ts";
import { freeCount, isShared, type Pool } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import type { Site } from "../context.ts";
import { renderAdmission } from "./admission.ts";
import { renderFlow, renderFlowPolicy } from "./flow.ts";
import { durationOrNull, seconds } from "./lease.ts";
import { renderUsage } from "./shares.ts";

type LooksOutside = Pick<Site, "admission">;

export function renderPool(pool: Pool, now: Instant, { admission }: LooksOutside): Wire.Pool {
  const oldest = oldestQueuedAt(pool);
  return {
    name: pool.name,
    total: pool.members.size,
    free: isShared(pool) ? pool.shared.size - partlyHeld(pool) : freeCount(pool),
    held: pool.held,
    states: statesOf(pool),
    waiting: pool.waiting,
    oldestWaitSeconds: oldest === null ? null : seconds(now - oldest),
    meanHoldSeconds: pool.holds.count === 0 ? null : seconds(pool.holds.meanMs),
    retiring: pool.retired,
    policy: renderPolicy(pool.policy),
    flow: renderFlow(pool, now),
    admission: renderAdmission(pool, now, admission?.()?.last.get(pool.name)),
    ...renderUsage(pool),
  };
}

/** Of those that are usable, how many somebody has a share of. */
function partlyHeld(pool: Pool): number {
  let count = 0;
  for (const { claims } of pool.shared) if (claims.size > 0) count += 1;
  return count;
}

/** The head of the line has waited longest, unless priorities have put a younger one before it. */
export function oldestQueuedAt(pool: Pool): Instant | null {
  let oldest: Instant | null = null;
  for (const { queue } of pool.buckets.values()) {
    for (const { queuedAt } of queue) if (oldest === null || queuedAt < oldest) oldest = queuedAt;
  }
  return oldest;
}

function renderPolicy(policy: PoolPolicy): Wire.Pool["policy"] {
  const { ttlMs, lifetimeMs, holdMs, cooldownMs, lockDelayMs, patienceMs } = policy;
  return {
    ttl: formatDuration(ttlMs),
    lifetime: lifetimeMs === null ? null : formatDuration(lifetimeMs),
    hold: holdMs === null ? null : formatDuration(holdMs),
    cooldown: formatDuration(cooldownMs),
    lockDelay: formatDuration(lockDelayMs),
    patience: formatDuration(patienceMs),
    onRelease: policy.onRelease,
    onExpire: policy.onExpire,
    ...renderFlowPolicy(policy),
    silence: Object.fromEntries(
      Object.entries(policy.silence ?? {}).map(([state, { afterMs, to }]) => {
        return [state, { after: formatDuration(afterMs), to }];
      }),
    ),
    dynamic: renderDynamic(policy.dynamic),
    cleaning:
      policy.cleaning === undefined
        ? null
        : {
            retries: policy.cleaning.retries,
            backoff: formatDuration(policy.cleaning.backoffMs),
          },
  };
}

function renderDynamic(dynamic: PoolPolicy["dynamic"]): Wire.Pool["policy"]["dynamic"] {
  if (dynamic === undefined) return null;
  const { min, max, state, lifespanMs } = dynamic;
  return { min, max, state, lifespan: durationOrNull(lifespanMs) };
}
