/** Leases, requests and resources as the wire carries them. */

import type { FastifyReply } from "fastify";
import type * as Wire from "../../api/schemas.ts";
import { nameWithoutSpace } from "../../auth/space-names.ts";
import type { NeedExplanation } from "../../core/explain/explain.ts";
import type { ResourceView } from "../../core/explain/resource-view.ts";
import type { ClaimView, LeaseView, RequestView } from "../../core/explain/view.ts";
import type { Reason } from "../../core/model/command.ts";
import type { SpaceName } from "../../core/model/ids.ts";
import { freeState } from "../../core/model/lifecycle.ts";
import { idOf, type Outcome } from "../../core/model/outcome.ts";
import { after, formatDuration, type Instant, never } from "../../core/model/time.ts";
import type { Estimate, Estimates } from "../../insight/forecast/estimates.ts";
import type { Context } from "../context.ts";
import { problemOf } from "../problems.ts";
import { maySee, type Sight, withoutNames } from "../sight.ts";
import { timestamp } from "../timestamp.ts";
import { renderShare, renderSharedResources, renderShares } from "./shares.ts";

const none: Readonly<Record<string, string>> = Object.freeze({});

/**
 * `secrets`: the reader has shown that it is the holder. `token`: it is the one that asks. A client
 * that repeats a request id gets the token, so the request id is a secret as well.
 */
export interface Audience {
  readonly secrets: boolean;
  readonly token?: string;
}

export const publicAudience: Audience = { secrets: false };

export function renderLease(lease: LeaseView, audience: Audience): Wire.Lease {
  return {
    id: lease.id,
    requestId: audience.secrets ? requestIdOf(lease) : null,
    ...(audience.token === undefined ? undefined : { token: audience.token }),
    holder: lease.holder,
    ...(lease.space === undefined ? undefined : { space: lease.space }),
    priority: lease.priority,
    labels: lease.labels ?? none,
    ttl: durationOrNull(lease.ttlMs),
    queuedAt: timestamp(lease.queuedAt),
    grantedAt: timestamp(lease.grantedAt),
    lastHeartbeatAt: timestampOrNull(lease.heartbeatAt),
    expiresAt: timestampOrNull(lease.expiresAt),
    endsAt: timestampOrNull(lease.endsAt),
    revokedAt: timestampOrNull(lease.revokedAt),
    ...renderNotice(lease),
    ...(lease.delivered ? undefined : { delivered: false }),
    waitedSeconds: (lease.grantedAt - lease.queuedAt) / 1_000,
    claims: lease.claims.map((claim) => renderClaim(claim, audience)),
  };
}

export function renderNotice({ notice }: LeaseView): Pick<Wire.Lease, "notice"> | undefined {
  if (notice === null) return undefined;
  return { notice: { endsBy: timestamp(notice.until), reason: notice.reason.why } };
}

/** As the client has chosen it. */
function requestIdOf({ key, space }: Pick<LeaseView, "key" | "space">): string | null {
  return key === undefined ? null : nameWithoutSpace(space, key);
}

function renderClaim(claim: ClaimView, audience: Audience): Wire.Claim {
  return {
    id: claim.id,
    pool: claim.pool,
    resource: claim.resource,
    fence: claim.fence,
    heldUntil: timestampOrNull(claim.heldUntil),
    labels: claim.labels,
    ...(claim.cluster ? { cluster: true } : undefined),
    ...(audience.secrets ? { userData: claim.userData } : undefined),
    ...(claim.amount === null ? undefined : renderShare(claim, claim.amount, audience.secrets)),
  };
}

export function renderRequest(
  request: RequestView,
  now: Instant,
  audience: Audience,
  estimates: EstimateSource,
): Wire.WaitingRequest {
  const estimate = renderEstimate(estimates.of(request.id, now), now);
  return {
    id: request.id,
    requestId: audience.secrets ? requestIdOf(request) : null,
    ...(audience.token === undefined ? undefined : { token: audience.token }),
    holder: request.holder,
    ...(request.space === undefined ? undefined : { space: request.space }),
    priority: request.priority,
    ...(request.isStarved ? { starved: true } : undefined),
    labels: request.labels ?? none,
    ttl: durationOrNull(request.ttlMs),
    items: request.items.map(({ pool, anyOf, count, state = freeState, ...item }) => ({
      pool,
      ...(anyOf === undefined ? undefined : { anyOf: [pool, ...anyOf] }),
      count,
      state,
      ...(item.amount === undefined ? undefined : { amount: item.amount }),
      ...(item.selector === undefined ? undefined : { selector: item.selector }),
      ...(item.resource === undefined ? undefined : { resource: item.resource }),
      ...(item.parameters === undefined ? undefined : { parameters: { ...item.parameters } }),
    })),
    queuedAt: timestamp(request.queuedAt),
    waitedSeconds: seconds(now - request.queuedAt),
    position: request.position,
    etaSeconds: estimate?.p50Seconds ?? null,
    estimate,
    ...(estimate === null ? { noEstimate: whyNoEstimate(request, estimates) } : undefined),
    reason: request.reason,
  };
}

/** When a check finds capacity is known to nobody, so no computation is waited for. */
function whyNoEstimate({ id, reason }: RequestView, estimates: EstimateSource) {
  return reason.code === "admission" ? "admission" : estimates.whyNone(id);
}

/** Estimates are made beside the broker, so that reading one costs nothing. */
export type EstimateSource = Pick<Estimates, "of" | "whyNone">;

function renderEstimate(estimate: Estimate | null, now: Instant): Wire.Estimate | null {
  if (estimate === null) return null;
  const { p50Ms, p90Ms, samples, exact, first } = estimate;
  const time = (atMs: number) => timestamp(after(now, Math.round(atMs - now)));
  return {
    p50Seconds: Math.round(p50Ms / 1_000),
    p90Seconds: Math.round(p90Ms / 1_000),
    samples,
    exact,
    first: { p50At: time(first.p50At), p90At: time(first.p90At) },
  };
}

export function renderResource(
  resource: ResourceView,
  sees: Sight,
  only: SpaceName | undefined,
): Wire.Resource {
  const { lease, noteFor, drainReason, phase } = resource;
  return {
    name: resource.name,
    pool: resource.pool,
    state: resource.state,
    drained: resource.drained,
    // Who drains what is for those who see all spaces, as in the events.
    ...(drainReason !== null && only === undefined && { drainedBy: renderReason(drainReason) }),
    retiring: resource.retired,
    note: maySee(noteFor, only) ? resource.note : "",
    changedAt: timestamp(resource.changedAt),
    restsUntil: timestampOrNull(resource.restsUntil),
    dynamic: resource.dynamic,
    ...(resource.cluster && { cluster: true }),
    ...(phase && {
      phase: {
        since: timestamp(phase.since),
        usualSeconds: phase.usualMs === null ? null : seconds(phase.usualMs),
      },
    }),
    expiresAt: timestampOrNull(resource.expiresAt),
    failures: resource.failures,
    labels: resource.labels,
    userDataKeys: [...resource.userDataKeys],
    lease: lease && {
      ...withoutNames(lease, sees),
      since: timestamp(lease.since),
      endsAt: timestampOrNull(lease.endsAt),
    },
    ...renderShares(resource.shared, sees),
  };
}

/** A name that was only given stands behind the proven one, in brackets. */
function renderReason({ by, as, why }: Reason): { by: string; why: string } {
  return { by: as === undefined ? by : `${by} (${as})`, why };
}

export function renderNeeds(
  needs: readonly NeedExplanation[],
  sees: Sight,
): Wire.Explanation["needs"] {
  return needs.map(({ rooms, selects, ...need }) => ({
    ...need,
    ...(selects === null ? undefined : { selects }),
    nextAt: timestampOrNull(need.nextAt),
    limits: [...need.limits],
    ...(rooms === null ? undefined : { rooms: renderSharedResources(rooms, sees) }),
    aheadOfIt: need.aheadOfIt.map((one) => withoutNames(one, sees)),
    heldBy: need.heldBy.map(({ amount: _, ...held }) => ({
      ...withoutNames(held, sees),
      since: timestamp(held.since),
      backBy: timestampOrNull(held.backBy),
    })),
  }));
}

export function seconds(durationMs: number): number {
  return Math.max(0, Math.round(durationMs) / 1_000);
}

function durationOrNull(durationMs: number | null): string | null {
  return durationMs === null ? null : formatDuration(durationMs);
}

export function timestampOrNull(instant: Instant | null): string | null {
  return instant === null || instant === never ? null : timestamp(instant);
}

/**
 * 200 or 201 with the lease, 202 with the place in line. The body is returned, not sent: a handler
 * that returns the reply makes the framework wait for it once more.
 */
export function answerOutcome(
  { broker, insight }: Pick<Context, "broker" | "insight">,
  reply: FastifyReply,
  outcome: Outcome,
  audience: Audience,
  granted: 200 | 201,
): Wire.Lease | Wire.WaitingRequest | undefined {
  switch (outcome.type) {
    case "granted":
      reply.code(granted);
      return renderLease(outcome.lease, audience);
    case "waiting":
      reply.code(202);
      return renderRequest(outcome.request, broker.now(), audience, insight.estimates);
    case "refused":
      throw problemOf(outcome.refusal);
    default:
      // The connection is closed and the request has left the queue: nobody reads this.
      reply.code(204);
      return undefined;
  }
}

/** For the client that has just made the request: with its token. */
export function answerNewRequest(
  context: Pick<Context, "broker" | "insight" | "tokens">,
  reply: FastifyReply,
  outcome: Outcome,
): Wire.Lease | Wire.WaitingRequest | undefined {
  const id = idOf(outcome);
  const audience =
    id === undefined ? publicAudience : { secrets: true, token: context.tokens.of(id) };
  return answerOutcome(context, reply, outcome, audience, 201);
}
