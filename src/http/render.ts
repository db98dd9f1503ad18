/** From what the core shows to what the wire carries. */
import type * as Wire from "../api/schemas.ts";
import { formatDuration } from "../core/duration.ts";
import { type NeedExplanation, statesOf } from "../core/explain.ts";
import type { PoolPolicy } from "../core/policy.ts";
import { freeCount, freeState, type Pool, type Resource, shownState } from "../core/state.ts";
import { type Instant, never } from "../core/time.ts";
import type { ClaimView, LeaseView, RequestView } from "../core/view.ts";
import type { Estimate, Estimates } from "../estimate/estimates.ts";
import { renderRoom, renderRooms, renderShare, renderUsage } from "./render-shares.ts";
import { timestamp } from "./timestamp.ts";

const none: Readonly<Record<string, string>> = Object.freeze({});

/**
 * `secrets`: the reader has shown that it is the holder. `token`: it is the one that asks. Who knows a
 * request id can ask again with it and is told the token, so the request id is a secret as well.
 */
export interface Audience {
  readonly secrets: boolean;
  readonly token?: string;
}

export const anybody: Audience = { secrets: false };

export function renderLease(lease: LeaseView, audience: Audience): Wire.Lease {
  return {
    id: lease.id,
    requestId: audience.secrets ? (lease.key ?? null) : null,
    ...(audience.token === undefined ? undefined : { token: audience.token }),
    holder: lease.holder,
    priority: lease.priority,
    labels: lease.labels ?? none,
    ttl: durationOrNull(lease.ttlMs),
    queuedAt: timestamp(lease.queuedAt),
    grantedAt: timestamp(lease.grantedAt),
    expiresAt: timestampOrNull(lease.expiresAt),
    endsAt: timestampOrNull(lease.endsAt),
    waitedSeconds: (lease.grantedAt - lease.queuedAt) / 1_000,
    claims: lease.claims.map((claim) => renderClaim(claim, audience)),
  };
}

function renderClaim(claim: ClaimView, audience: Audience): Wire.Claim {
  return {
    id: claim.id,
    pool: claim.pool,
    resource: claim.resource,
    fence: claim.fence,
    heldUntil: timestampOrNull(claim.heldUntil),
    labels: claim.labels,
    ...(audience.secrets ? { userData: claim.userData } : undefined),
    ...renderShare(claim, audience.secrets),
  };
}

export function renderRequest(
  request: RequestView,
  now: Instant,
  audience: Audience,
  estimates: EstimateSource,
): Wire.WaitingRequest {
  const estimate = renderEstimate(estimates.of(request.id, now));
  return {
    id: request.id,
    requestId: audience.secrets ? (request.key ?? null) : null,
    ...(audience.token === undefined ? undefined : { token: audience.token }),
    holder: request.holder,
    priority: request.priority,
    labels: request.labels ?? none,
    ttl: durationOrNull(request.ttlMs),
    items: request.items.map(({ pool, count, state = freeState, amount }) => {
      return { pool, count, state, ...(amount === undefined ? undefined : { amount }) };
    }),
    queuedAt: timestamp(request.queuedAt),
    waitedSeconds: seconds(now - request.queuedAt),
    position: request.position,
    etaSeconds: estimate?.p50Seconds ?? null,
    estimate,
    reason: request.reason,
  };
}

/** Where estimates come from: made beside the broker, so that telling one costs nothing. */
export type EstimateSource = Pick<Estimates, "of">;

function renderEstimate(estimate: Estimate | null): Wire.Estimate | null {
  if (estimate === null) return null;
  const { p50Ms, p90Ms, samples } = estimate;
  return {
    p50Seconds: Math.round(p50Ms / 1_000),
    p90Seconds: Math.round(p90Ms / 1_000),
    samples,
  };
}

export function renderPool(pool: Pool, now: Instant): Wire.Pool {
  const oldest = oldestQueuedAt(pool);
  return {
    name: pool.name,
    total: pool.members.size,
    free: pool.policy.placement === undefined ? freeCount(pool) : pool.rooms.size - usedRooms(pool),
    held: pool.held,
    states: statesOf(pool),
    waiting: pool.waiting,
    oldestWaitSeconds: oldest === null ? null : seconds(now - oldest),
    meanHoldSeconds: pool.holds.count === 0 ? null : seconds(pool.holds.meanMs),
    retiring: pool.retired,
    policy: renderPolicy(pool.policy),
    ...renderUsage(pool),
  };
}

/** Of those that are usable, how many somebody has a share of. */
function usedRooms(pool: Pool): number {
  let count = 0;
  for (const { claims } of pool.rooms) if (claims.size > 0) count += 1;
  return count;
}

/** The head of the line has waited longest, unless priorities have put a younger one before it. */
export function oldestQueuedAt(pool: Pool): Instant | null {
  let oldest: Instant | null = null;
  for (const { queue } of pool.shelves.values()) {
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

export function renderResource(resource: Resource): Wire.Resource {
  const { claim } = resource;
  return {
    name: resource.name,
    pool: resource.pool.name,
    state: shownState(resource),
    drained: resource.drained,
    retiring: resource.retired,
    note: resource.note,
    changedAt: timestamp(resource.changedAt),
    restsUntil: resource.restsUntil === never ? null : timestamp(resource.restsUntil),
    dynamic: resource.dynamic,
    expiresAt: resource.expiresAt === never ? null : timestamp(resource.expiresAt),
    failures: resource.failures,
    labels: resource.labels,
    userDataKeys: Object.keys(resource.userData),
    lease: claim && {
      id: claim.lease.id,
      holder: claim.lease.ask.holder,
      since: timestamp(claim.lease.grantedAt),
      fence: claim.fence,
    },
    ...renderRoom(resource),
  };
}

export function renderNeeds(needs: readonly NeedExplanation[]): Wire.Explanation["needs"] {
  return needs.map(({ rooms, ...need }) => ({
    ...need,
    nextAt: timestampOrNull(need.nextAt),
    limits: [...need.limits],
    ...(rooms === null ? undefined : { rooms: renderRooms(rooms) }),
    aheadOfIt: [...need.aheadOfIt],
    heldBy: need.heldBy.map(({ amount: _, ...held }) => ({
      ...held,
      since: timestamp(held.since),
      backBy: timestampOrNull(held.backBy),
    })),
  }));
}

function seconds(durationMs: number): number {
  return Math.max(0, Math.round(durationMs) / 1_000);
}

function durationOrNull(durationMs: number | null): string | null {
  return durationMs === null ? null : formatDuration(durationMs);
}

export function timestampOrNull(instant: Instant | null): string | null {
  return instant === null ? null : timestamp(instant);
}
