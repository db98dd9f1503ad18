/** How leases end, and the states of their resources afterwards. */
import { leaseView } from "../explain/view.ts";
import type { Cluster } from "../model/cluster.ts";
import type { Command, Reason } from "../model/command.ts";
import type { LeaseEnd, Return } from "../model/event.ts";
import type { ClaimId, RequestId } from "../model/ids.ts";
import {
  freeState,
  isUpkeep,
  quarantinedState,
  reservedStates,
  toBeDeletedState,
  tombstoneState,
  usedState,
} from "../model/lifecycle.ts";
import { done, type Outcome, type Refusal, refused } from "../model/outcome.ts";
import { defaultCleaning } from "../model/policy.ts";
import {
  type Claim,
  type ExclusiveResource,
  isHeld,
  type Lease,
  type Resource,
  type Revoked,
} from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { poolsOf } from "../queue/needs.ts";
import { standing } from "./acquire.ts";
import { leaseNotFound, leaseRevoked } from "./not-found.ts";
import { refuseHolderState, refuseState } from "./refuse-state.ts";
import { poolsIn, report } from "./report.ts";
import { emit, type Turn } from "./turn.ts";
import { afterWork, refuseReached } from "./work.ts";

type Release = Extract<Command, { type: "release" }>;

export function renew(turn: Turn, id: RequestId): Outcome {
  const lease = turn.state.leases.get(id);
  if (lease === undefined) return refused(leaseNotFound(turn.state, id));
  if (lease.revoked !== null) return refused(leaseRevoked(lease.id, lease.revoked));
  emit(turn, { type: "lease-renewed", id });
  return { type: "granted", lease: leaseView(lease) };
}

/**
 * Releases a lease or one claim. Accepts a second release, because the first reply may have been
 * lost.
 */
export function release(turn: Turn, command: Release): Outcome {
  const { id, claim: claimId, state, failure } = command;
  if (state !== undefined && reservedStates.includes(state))
    return refused({ code: "state_reserved", state });
  const lease = turn.state.leases.get(id);
  if (lease === undefined) {
    const wasReleased = turn.state.ended.get(id)?.how === "released";
    return wasReleased ? done : refused(leaseNotFound(turn.state, id));
  }
  const notAllowed =
    state === undefined
      ? undefined
      : (refuseReached(lease, state) ?? refuseStateOf(lease, { ...command, state }));
  if (notAllowed !== undefined) return refused(notAllowed);
  if (command.outcome !== undefined)
    report(turn, lease, poolsIn(turn.state, lease), command.outcome);
  const ending = {
    why: "released" as const,
    ...(state === undefined ? undefined : { state }),
    ...(failure === undefined ? undefined : { failure }),
  };
  const isLast =
    claimId === undefined ||
    (lease.claims.every((claim) => claim.id === claimId) && lease.replacements.length === 0);
  if (isLast) {
    if (claimId !== undefined && lease.claims.length === 0) return goneClaim(lease, claimId);
    if (lease.revoked !== null) return confirmRevoked(turn, lease, lease.revoked, ending);
    endLease(turn, lease, ending);
  } else {
    const claim = lease.claims.find(({ id: other }) => other === claimId);
    cancelReplacements(turn, lease, claimId);
    if (claim === undefined) return goneClaim(lease, claimId);
    endClaim(turn, claim, ending);
  }
  return done;
}

/**
 * Ends a revoked lease that its holder releases. Refuses all the same, so that the holder learns
 * why its work was interrupted.
 */
function confirmRevoked(turn: Turn, lease: Lease, revoked: Revoked, ending: Ending): Outcome {
  const { reason } = revoked;
  endLease(turn, lease, { ...ending, why: "revoked", confirmed: true, reason });
  return refused(leaseRevoked(lease.id, revoked));
}

/** Accepts the release of a claim that has ended, and refuses one that the lease never had. */
function refuseStateOf(
  { ask, claims }: Lease,
  { claim, state, asHolder }: Pick<Release, "claim" | "asHolder"> & { readonly state: string },
): Refusal | undefined {
  const refuse = asHolder && !ask.items.some(isUpkeep) ? refuseHolderState : refuseState;
  const ended = claims.filter(({ id }) => claim === undefined || id === claim);
  return ended.flatMap(({ resource }) => refuse(resource.pool, state) ?? [])[0];
}

function goneClaim(lease: Lease, claim: NonNullable<Release["claim"]>): Outcome {
  const granted = lease.ask.items.reduce((sum, { count }) => sum + count, 0);
  const number = Number(claim);
  const was = String(number) === claim && number >= 1 && number <= granted && number % 1 === 0;
  return was ? done : refused({ code: "claim_not_found", id: lease.id, claim });
}

export function revoke(turn: Turn, command: Extract<Command, { type: "revoke" }>): Outcome {
  const { id, reason, holderGone = false } = command;
  const lease = turn.state.leases.get(id);
  if (lease === undefined) {
    const wasRevoked = turn.state.ended.get(id)?.how === "revoked";
    return wasRevoked ? done : refused(leaseNotFound(turn.state, id));
  }
  if (holderGone || !mayBeAlive(lease, turn.now)) {
    endLease(turn, lease, { why: "revoked", reason });
  } else if (lease.revoked === null) {
    cancelReplacements(turn, lease);
    emit(turn, { type: "lease-revoked", id, heldUntil: lease.expiresAt, reason });
  }
  return done;
}

/** Whether the holder may still work with the lease and will notice that it was revoked. */
function mayBeAlive({ delivered, expiresAt }: Lease, now: Instant): boolean {
  return delivered && expiresAt > now && expiresAt !== never;
}

/**
 * A poll is a sign of life, also after the request was granted. But if the lease was not delivered
 * yet, the client does not know that it holds it, so the poll does not renew it.
 */
export function keepWaiting(turn: Turn, id: RequestId, waitMs: number): Outcome {
  if (turn.state.requests.has(id)) emit(turn, { type: "request-seen", id, waitMs });
  else if (isDelivered(turn.state.leases.get(id))) emit(turn, { type: "lease-renewed", id });
  return standing(turn.state, id, turn.now);
}

function isDelivered(lease: Lease | undefined): boolean {
  return lease?.delivered === true && lease.revoked === null;
}

/**
 * Removes a waiting request. If it was granted in the meantime, the caller gets the lease and must
 * release it.
 */
export function leave(turn: Turn, command: Extract<Command, { type: "leave" }>): Outcome {
  const { id, why, reason } = command;
  const request = turn.state.requests.get(id);
  if (request === undefined) {
    const hadLeft = turn.state.ended.get(id)?.how === "cancelled";
    return hadLeft ? done : standing(turn.state, id, turn.now);
  }
  emit(turn, { type: "request-left", id, why, ...(reason === undefined ? undefined : { reason }) });
  return done;
}

/**
 * The reply with a lease was lost. A polling client with a key gets time to ask again. The lease of
 * any other client ends, because it would never learn the id.
 */
export function notDelivered(
  turn: Turn,
  { id, repliesSent: sent }: Extract<Command, { type: "not-delivered" }>,
): Outcome {
  const lease = turn.state.leases.get(id);
  if (lease === undefined || lease.confirmed || lease.sent > sent) return done;
  const canAskAgain = lease.ask.key !== undefined && lease.ask.presenceMs !== undefined;
  if (canAskAgain && lease.revoked === null) {
    emit(turn, { type: "lease-delivered", id, delivered: false });
    return done;
  }
  endLease(turn, lease, { why: "uncollected" });
  return done;
}

/** The states of resources after a lease. */

export interface Ending {
  readonly why: LeaseEnd | "hold" | "replaced";
  /** Overrides the state that the pool's policy chooses. */
  readonly state?: string;
  /** The cleaning failed with this output. */
  readonly failure?: string;
  readonly reason?: Reason;
  /** The holder has confirmed that it stopped. */
  readonly confirmed?: true;
}

/**
 * A released resource gets the pool's `onRelease` state after its cooldown. If the holder
 * disappeared or lost the lease, it may still be at work, so the resource also waits for the
 * lock-delay. An uncollected resource returns to the state from which it was taken.
 */
function returnOf(claim: Claim, ending: Ending, now: Instant): Return {
  const { resource, lease, purpose } = claim;
  const { name, failures } = resource;
  const { why } = ending;
  if (resource.sharing === "shared") return { resource: name, state: resource.state };
  if (resource.cluster !== null)
    return clusterReturn(claim, resource, resource.cluster, ending, now);
  if (why === "uncollected") {
    return { resource: name, state: unlessLeaving(resource, takenFrom(lease, resource)) };
  }
  // Only a cleaner can report that its cleaning failed.
  if (ending.failure !== undefined && purpose === "clean") {
    return failedReturn(resource, ending.failure, lease, now);
  }
  const inOrder = why === "released" || why === "hold";
  const restMs = restAfter(claim, inOrder || ending.confirmed === true);
  const wanted = ending.state ?? stateAfter(claim, inOrder);
  return {
    resource: name,
    state: unlessLeaving(resource, wanted),
    ...(restMs === 0 ? undefined : { restsUntil: after(now, restMs) }),
    ...expiryOf(resource, now),
    ...(inOrder && failures > 0 && purpose === "clean" ? { failures: 0 } : undefined),
  };
}

/**
 * A cluster that was lent is destroyed and never lent again, unless its client never received the
 * lease.
 */
function clusterReturn(
  { purpose }: Claim,
  resource: ExclusiveResource,
  cluster: Cluster,
  ending: Ending,
  now: Instant,
): Return {
  const { name } = resource;
  if (purpose === "provision") return afterWork(resource, cluster, ending, now);
  if (ending.why === "uncollected" && cluster.hold === null) {
    return { resource: name, state: freeState, unused: true };
  }
  return { resource: name, state: usedState };
}

/** A dynamic resource starts a new lifespan; a listed resource has none. */
function expiryOf(resource: Resource, now: Instant): Pick<Return, "expiresAt"> | undefined {
  const { dynamic, pool, expiresAt } = resource;
  if (!dynamic) return expiresAt === never ? undefined : { expiresAt: null };
  const lifespanMs = pool.policy.dynamic?.lifespanMs ?? null;
  return lifespanMs === null ? undefined : { expiresAt: after(now, lifespanMs) };
}

/** No lock-delay for a holder without a token, because it need not send heartbeats. */
function restAfter({ purpose, lease, resource }: Claim, hasStopped: boolean): number {
  const { cooldownMs, lockDelayMs } = resource.pool.policy;
  if (purpose === "clean") return 0;
  return hasStopped || lease.ask.byName ? cooldownMs : Math.max(cooldownMs, lockDelayMs);
}

/** Interrupted cleaning leaves the resource in the state from which it was taken. */
function stateAfter({ purpose, lease, resource }: Claim, inOrder: boolean): string {
  const { state } = resource;
  const { policy } = resource.pool;
  const { byName } = lease.ask;
  if (purpose === "clean" && !byName) return inOrder ? freeState : takenFrom(lease, resource);
  if (inOrder) return policy.onRelease;
  return byName ? (policy.silence?.[state]?.to ?? policy.onExpire) : policy.onExpire;
}

function takenFrom({ ask }: Lease, { pool }: Resource): string {
  return ask.items.find((item) => poolsOf(item).includes(pool.name))?.state ?? freeState;
}

/**
 * Keeps a resource that is marked for deletion from being lent again, even if its last holder sets
 * another state.
 */
function unlessLeaving({ leaving }: Resource, wanted: string): string {
  return leaving && wanted !== tombstoneState ? toBeDeletedState : wanted;
}

function failedReturn(resource: Resource, failure: string, lease: Lease, now: Instant): Return {
  const { retries, backoffMs } = resource.pool.policy.cleaning ?? defaultCleaning;
  const failures = resource.failures + 1;
  const failed = { resource: resource.name, failures, note: failure };
  if (failures >= retries) return { ...failed, state: unlessLeaving(resource, quarantinedState) };
  const restMs = Math.min(backoffMs * 2 ** (failures - 1), backoffMsMax);
  return {
    ...failed,
    state: unlessLeaving(resource, takenFrom(lease, resource)),
    restsUntil: after(now, restMs),
  };
}

const backoffMsMax = 3_600_000;

export function endLease(
  turn: Turn,
  lease: Lease,
  ending: Ending & { readonly why: LeaseEnd },
): void {
  const { claims } = lease;
  cancelReplacements(turn, lease);
  emit(turn, {
    type: "lease-ended",
    id: lease.id,
    why: ending.why,
    back: claims.map((claim) => returnOf(claim, ending, turn.now)),
    ...(ending.reason === undefined ? undefined : { reason: ending.reason }),
  });
  for (const resource of new Set(claims.map((claim) => claim.resource))) moveOn(turn, resource);
}

/** Nobody waits any longer for another cluster of the lease, or of one of its claims. */
function cancelReplacements(turn: Turn, { replacements }: Lease, claim?: ClaimId): void {
  for (const id of replacements) {
    const replaced = turn.state.requests.get(id)?.ask.replaces?.claim;
    if (claim !== undefined && replaced !== claim) continue;
    const reason = { by: "berth", why: "its lease no longer needs it" };
    emit(turn, { type: "request-left", id, why: "cancelled", reason });
  }
}

export function endClaim(
  turn: Turn,
  claim: Claim,
  ending: Ending & { readonly why: "released" | "hold" | "replaced" },
): void {
  const { lease, resource } = claim;
  const back = returnOf(claim, ending, turn.now);
  emit(turn, { type: "claim-ended", id: lease.id, claim: claim.id, why: ending.why, back });
  moveOn(turn, resource);
}

/** Removes a resource that its pool no longer lists, or moves it to the pool that lists it now. */
function moveOn(turn: Turn, resource: Resource): void {
  const { name, movesTo } = resource;
  if (!resource.retired || isHeld(resource)) return;
  if (movesTo !== null && turn.state.pools.has(movesTo.pool)) {
    emit(turn, { type: "resource-moved", resource: name, ...movesTo });
  } else {
    emit(turn, { type: "resource-removed", resource: name });
  }
}
