/** The public view of a pool: plain data with names, without references. */
import { creditsOf } from "../gates/credits.ts";
import { opensByTime } from "../gates/gates.ts";
import { descendants, hasCohort, isOnlyLimit, limitOf } from "../gates/limits.ts";
import { intervalMs } from "../gates/pace.ts";
import { rateOf } from "../gates/rate.ts";
import { hiddenHolder, type PoolName, type SpaceName } from "../model/ids.ts";
import { quarantinedState, ruleOf } from "../model/lifecycle.ts";
import type { PoolPolicy } from "../model/policy.ts";
import {
  exclusiveClaim,
  freeCount,
  isHeld,
  isShared,
  type Lease,
  type Pin,
  type Pool,
  type Request,
  type Resource,
  type Suspension,
} from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { type LimitView, limitViews, nextGrant, statesOf } from "./explain.ts";
import { sharedIn, usagesOf } from "./explain-capacity.ts";
import { type ClusterPlanView, clusterPlanView } from "./next-steps.ts";

export interface PoolView {
  readonly name: PoolName;
  readonly total: number;
  readonly free: number;
  readonly held: number;
  readonly states: Readonly<Record<string, number>>;
  readonly waiting: number;
  readonly oldestQueuedAt: Instant | null;
  readonly meanHoldMs: number | null;
  readonly retired: boolean;
  /** Why the pool lends nothing; null if it is not suspended. */
  readonly suspended: Suspension | null;
  readonly policy: PoolPolicy;
  readonly flow: FlowView;
  /** Null if no external check controls the pool. */
  readonly admission: AdmissionView | null;
  /** Null for an exclusive pool. */
  readonly placement: PlacementView | null;
  /** Null for a pool with resources of its own. */
  readonly limit: LimitUse | null;
  /** Null unless the pool makes its resources. */
  readonly clusters: ClusterPlanView | null;
}

/** The use of a pool that is only a limit. */
export interface LimitUse {
  readonly used: number;
  readonly limit: number;
  /** The number of requests that wait for the pools below it. */
  readonly waiting: number;
  readonly oldestQueuedAt: Instant | null;
}

export interface FlowView {
  /** Null without a pace. */
  readonly everyMs: number | null;
  readonly rate: number | null;
  /** The adaptive rate while the mode is `advise`. */
  readonly advisedRate: number | null;
  readonly nextAt: Instant | null;
  readonly nextBy: PoolName | null;
  readonly pin: Pin | null;
  readonly signals: { readonly throttled: number; readonly ok: number };
  readonly limits: readonly LimitView[];
}

export interface AdmissionView {
  readonly by: string;
  readonly credits: number;
  /** Null without credits. */
  readonly until: Instant | null;
  readonly why: string | null;
}

export interface PlacementView {
  readonly strategy: string;
  /** The sum over all its resources. A part of several resources counts once for each. */
  readonly usage: readonly DimensionUsage[];
}

export interface DimensionUsage {
  readonly dimension: string;
  readonly used: number;
  readonly capacity: number;
}

export function poolView(pool: Pool, now: Instant): PoolView {
  return {
    name: pool.name,
    total: pool.members.size,
    free: isShared(pool) ? pool.shared.size - partlyHeld(pool) : freeCount(pool),
    held: pool.held,
    states: statesOf(pool),
    waiting: pool.waiting,
    oldestQueuedAt: oldestQueuedAt(pool),
    meanHoldMs: pool.holds.count === 0 ? null : pool.holds.meanMs,
    retired: pool.retired,
    suspended: pool.suspended,
    policy: pool.policy,
    flow: flowView(pool, now),
    admission: admissionView(pool, now),
    placement: placementView(pool),
    limit: isOnlyLimit(pool) ? limitUse(pool) : null,
    clusters: clusterPlanView(pool, now),
  };
}

function limitUse(pool: Pool): LimitUse {
  const waiting = new Set<Request>();
  for (const { buckets } of descendants(pool)) {
    for (const { queue } of buckets.values()) for (const request of queue) waiting.add(request);
  }
  let oldest: Instant | null = null;
  for (const { queuedAt } of waiting) if (oldest === null || queuedAt < oldest) oldest = queuedAt;
  const { used } = pool;
  return { used, limit: limitOf(pool), waiting: waiting.size, oldestQueuedAt: oldest };
}

/** The number of usable resources that have at least one claim. */
function partlyHeld(pool: Pool): number {
  let count = 0;
  for (const { claims } of pool.shared) if (claims.size > 0) count += 1;
  return count;
}

export function oldestQueuedAt(pool: Pool): Instant | null {
  return oldestIn(pool)?.queuedAt ?? null;
}

/** The oldest request. Checks the whole queue, because priorities may put a younger one first. */
export function oldestIn(pool: Pool): Request | null {
  let oldest: Request | null = null;
  for (const { queue } of pool.buckets.values()) {
    for (const one of queue) if (oldest === null || one.queuedAt < oldest.queuedAt) oldest = one;
  }
  return oldest;
}

function flowView(pool: Pool, now: Instant): FlowView {
  const { pin, adaptive, policy, signals } = pool;
  return {
    everyMs: paceInterval(pool),
    rate: rateOf(pool),
    advisedRate: policy.adaptive?.mode === "advise" ? (adaptive?.rate ?? null) : null,
    ...nextGrant(pool, now),
    pin,
    signals,
    limits: limitViews(pool),
  };
}

/** The time between two grants; null without a pace. */
export function paceInterval(pool: Pool): number | null {
  const everyMs = intervalMs(pool);
  return everyMs === 0 ? null : everyMs;
}

/** The time until the gates allow the next grant; null if no gate opens at a known time. */
export function grantDelay(pool: Pool, now: Instant): number | null {
  const { nextAt } = nextGrant(pool, now);
  if (nextAt !== null) return nextAt - now;
  return opensByTime(pool) ? 0 : null;
}

/** The limit that the pool shares with its descendants; null if none is shared. */
export function sharedLimit(pool: Pool): LimitView | null {
  if (!hasCohort(pool)) return null;
  return { pool: pool.name, used: pool.used, limit: limitOf(pool) };
}

function admissionView(pool: Pool, now: Instant): AdmissionView | null {
  const { policy, admission } = pool;
  if (policy.admission === undefined) return null;
  const credits = creditsOf(pool, now);
  const until = credits === 0 ? null : admission.until;
  return { by: policy.admission.by, credits, until, why: admission.why };
}

export function placementView(pool: Pool): PlacementView | null {
  const { placement } = pool.policy;
  if (placement === undefined) return null;
  const sums = new Map<string, { used: number; capacity: number }>();
  for (const resource of sharedIn(pool)) {
    for (const { dimension, used, capacity } of usagesOf(resource)) {
      const sum = sums.get(dimension) ?? { used: 0, capacity: 0 };
      sums.set(dimension, { used: sum.used + used, capacity: sum.capacity + capacity });
    }
  }
  const usage = Array.from(sums, ([dimension, sum]) => ({ dimension, ...sum }));
  return { strategy: placement.strategy, usage };
}

/** A cleaner or a person should have taken a resource within this time. */
const stuckAfterMs = 3_600_000;

export interface Stuck {
  readonly count: number;
  /** Since when the first of them is there; null if there are none. */
  readonly since: Instant | null;
}

/**
 * The resources that are in a state from which nobody has taken them for an hour: the state may be a
 * typo, or its cleaner may be gone. Free ones are not stuck, and quarantined ones were put aside on
 * purpose.
 */
export function stuckIn({ buckets, clusters }: Pool, now: Instant): Stuck {
  let count = 0;
  let since: Instant | null = null;
  // A worker and the plan look after clusters, each phase with its own limit.
  for (const { state, idle } of clusters === null ? buckets.values() : []) {
    const { lendable, deadline } = ruleOf(state);
    if (lendable || deadline !== "none" || state === quarantinedState) continue;
    for (const { changedAt } of idle) {
      if (now - changedAt < stuckAfterMs) break; // The others are there for a shorter time.
      count += 1;
      if (since === null || changedAt < since) since = changedAt;
    }
  }
  return { count, since };
}

/**
 * Since when none of a pool can be lent, because all are in states that end only if somebody takes
 * them. Null if one is lent, free or cooling, or if all were put aside on purpose.
 */
export function emptySince(pool: Pool): Instant | null {
  if (pool.clusters !== null || pool.retired || freeCount(pool) > 0) return null;
  let since: Instant | null = null;
  for (const resource of pool.members) {
    const { sharing, state, drained, changedAt } = resource;
    const { lendable, deadline } = ruleOf(state);
    if (sharing === "shared" || isHeld(resource)) return null;
    if (drained || state === quarantinedState) continue;
    if (lendable || deadline !== "none") return null;
    if (since === null || changedAt > since) since = changedAt;
  }
  return since;
}

/** The number of resources in each state. */
export function countByState({ members }: Pool): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { state } of members) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

/** The number of exclusive resources of each holder; `""` for those that are not held. */
export function countByHolder({ members }: Pool, space?: SpaceName): Map<string, number> {
  return countHolders(members, space, () => true);
}

/** The number of exclusive resources that were granted to each holder and not delivered yet. */
export function countUndelivered({ members }: Pool, space?: SpaceName): Map<string, number> {
  return countHolders(members, space, (lease) => lease !== undefined && !lease.delivered);
}

/** With a space, the holders of all other spaces count as one. */
function countHolders(
  members: Iterable<Resource>,
  space: SpaceName | undefined,
  isCounted: (lease: Lease | undefined) => boolean,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const resource of members) {
    const lease = exclusiveClaim(resource)?.lease;
    if (!isCounted(lease)) continue;
    const ask = lease?.ask;
    const isHidden = ask !== undefined && space !== undefined && ask.space !== space;
    const holder = isHidden ? hiddenHolder : (ask?.holder ?? "");
    counts.set(holder, (counts.get(holder) ?? 0) + 1);
  }
  return counts;
}
