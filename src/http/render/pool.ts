import type * as Wire from "../../api/schemas.ts";
import { statesOf } from "../../core/explain/explain.ts";
import { inWords } from "../../core/model/fields.ts";
import type { PoolPolicy } from "../../core/model/policy.ts";
import { policyFields } from "../../core/model/policy-fields.ts";
import { freeCount, isShared, type Pool } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import type { Site } from "../context.ts";
import { renderAdmission } from "./admission.ts";
import { renderFlow } from "./flow.ts";
import { seconds } from "./lease.ts";
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

/** A policy is never changed, only replaced, and to put one into words takes 10 µs. */
const rendered = new WeakMap<PoolPolicy, Wire.Pool["policy"]>();

function renderPolicy(policy: PoolPolicy): Wire.Pool["policy"] {
  const known = rendered.get(policy);
  if (known !== undefined) return known;
  const words = inWords(policyFields, policy);
  rendered.set(policy, words);
  return words;
}
