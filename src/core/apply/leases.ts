/** What becomes of requests and leases by their events. */

import { needsAdmission, useCredits } from "../gates/credits.ts";
import { hasCohort } from "../gates/limits.ts";
import { isPaced, movePace } from "../gates/pace.ts";
import { countStarts } from "../gates/rate.ts";
import type { Ended } from "../model/ended-memory.ts";
import type { EventOf, GrantedClaim, LeaseEnd, ResolvedAsk, Return } from "../model/event.ts";
import type { RequestId } from "../model/ids.ts";
import { must } from "../model/must.ts";
import {
  bucketFor,
  busyState,
  type Claim,
  cleaningState,
  coolingState,
  type Lease,
  type Pool,
  type Request,
  removeIfEmpty,
  type State,
} from "../model/state.ts";
import { after, earliest, type Instant, never } from "../model/time.ts";
import { type Wants, wantsOf } from "../queue/alternatives.ts";
import { combinedWants, joinGang, leaderOf, leaveGang } from "../queue/gang.ts";
import { clearReservations, partFor, setReservations } from "../shared/capacity.ts";
import { isWithinReach } from "../shared/place.ts";
import type { Part } from "../shared/placement/room.ts";
import { schedule, schedulePool, scheduleResource, scheduleUpwards } from "./deadlines.ts";
import { chargeClaim, put } from "./membership.ts";

export function requestQueued(state: State, event: EventOf<"request-queued">, at: Instant): void {
  const request = addRequest(state, event.id, event.ask, at);
  renewRequest(state, request, at, 0);
  for (const { pool } of request.needs) scheduleUpwards(state, pool, at);
}

/** Puts a request into its queues. Shared with `thaw`, which knows an older `order`. */
export function addRequest(
  state: State,
  id: RequestId,
  ask: ResolvedAsk,
  queuedAt: Instant,
  order = ++state.order,
): Request {
  const own = wantsOf(state, ask);
  const request: Request = {
    kind: "request",
    id,
    ask,
    own,
    ...own,
    priority: ask.priority ?? 0,
    order,
    queuedAt,
    gang: null,
    inLine: false,
    evaluated: false,
    patience: { kind: "patience", request: id, dueAt: never, heapIndex: -1 },
    reservations: null,
    dueAt: never,
    heapIndex: -1,
  };
  state.requests.set(id, request);
  if (ask.key !== undefined) state.keys.set(ask.key, id);
  if (joinGang(state, request)) standInLine(state, request);
  return request;
}

function standInLine(state: State, request: Request): void {
  request.inLine = true;
  for (const { pool, state: from } of request.needs) {
    bucketFor(pool, from).queue.add(request);
    pool.waiting += 1;
  }
  const shares = request.needs.filter(({ demands }) => demands !== null);
  if (shares.length === 0) return;
  // Whoever is put into a line has just been found not to fit, unless it stands too far back.
  // And unless it was time or a limit that stood in its way: that changes without any room.
  request.evaluated = request.needs.every((need) => {
    return isWithinReach(need, request) && !isHeldBack(need.pool);
  });
  const patienceMs = Math.max(...shares.map(({ pool }) => pool.policy.patienceMs));
  schedule(state, request.patience, after(request.queuedAt, patienceMs));
}

/** Something else than a lack of room may keep it from being lent. */
function isHeldBack(pool: Pool): boolean {
  return isPaced(pool) || hasCohort(pool) || needsAdmission(pool);
}

function removeRequest(state: State, request: Request): void {
  state.requests.delete(request.id);
  state.due.clear(request);
  const speaker = leaderOf(request);
  if (speaker.inLine) leaveLine(state, speaker);
  leaveGang(state, request);
}

/** What was kept for it is given up, and of a company the others wait for another to come. */
function leaveLine(state: State, request: Request): void {
  request.inLine = false;
  state.due.clear(request.patience);
  clearReservations(request);
  request.reservations = null;
  for (const { pool, state: from } of request.needs) {
    const shelf = bucketFor(pool, from);
    shelf.queue.remove(request);
    pool.waiting -= 1;
    removeIfEmpty(shelf);
  }
  stand(request, request.own);
}

function stand(request: Request, { needs, alternatives }: Wants): void {
  request.needs = needs;
  request.alternatives = alternatives;
}

/** A pool is lent otherwise than before: what everybody wants of it is read anew. */
export function rereadNeeds(state: State): void {
  const standing = [...state.requests.values()].filter(({ inLine }) => inLine);
  for (const request of standing) leaveLine(state, request);
  for (const request of state.requests.values()) {
    request.own = wantsOf(state, request.ask);
    stand(request, request.own);
  }
  for (const request of standing) {
    const { gang } = request;
    if (gang !== null) stand(request, combinedWants(gang.members));
    standInLine(state, request);
    request.evaluated = false;
  }
}

export function roomKept(state: State, event: EventOf<"room-kept">): void {
  const request = must(state.requests.get(event.id), event.id);
  state.due.clear(request.patience);
  setReservations(request, event.rooms, (name) => must(state.resources.get(name), name));
}

export function renewRequest(state: State, request: Request, at: Instant, waitMs: number): void {
  state.due.set(request, after(at, waitMs + pollTtlOf(request)));
}

/** For how long a waiter that says nothing is believed to be there. */
function pollTtlOf({ ask }: Request): number {
  return ask.presenceMs ?? ask.ttlMs ?? 0;
}

function renewLease(state: State, lease: Lease, at: Instant): void {
  lease.seenAt = at;
  lease.expiresAt = after(at, holderTtlOf(lease));
  schedule(state, lease, earliest(lease.expiresAt, lease.endsAt));
}

/** For how long a holder that says nothing is believed to be there. */
function holderTtlOf(lease: Lease): number {
  const { ask, delivered } = lease;
  if (!delivered && ask.presenceMs !== undefined) return ask.presenceMs;
  return ask.ttlMs ?? Math.min(...lease.claims.map(silenceAllowed));
}

function silenceAllowed({ resource }: Claim): number {
  return resource.pool.policy.silence?.[resource.state]?.afterMs ?? Number.POSITIVE_INFINITY;
}

export function leaseRenewed(state: State, lease: Lease, at: Instant): void {
  lease.confirmed = true;
  renewLease(state, lease, at);
}

export function leaseDelivered(state: State, event: EventOf<"lease-delivered">, at: Instant): void {
  const lease = must(state.leases.get(event.id), event.id);
  lease.delivered = event.delivered;
  if (event.delivered) lease.sent += 1;
  renewLease(state, lease, at);
}

/** Gives time, never takes any: who waits on an open connection may have more already. */
export function graceGiven(state: State, at: Instant): void {
  for (const lease of state.leases.values()) renewLease(state, lease, at);
  for (const request of state.requests.values()) {
    const waitingUntil = request.heapIndex < 0 ? at : request.dueAt;
    const waitMs = Math.max(0, waitingUntil - at - pollTtlOf(request));
    renewRequest(state, request, at, waitMs);
  }
}

export function requestLeft(state: State, event: EventOf<"request-left">, at: Instant): void {
  const request = must(state.requests.get(event.id), event.id);
  removeRequest(state, request);
  rememberEnd(state, request.id, request.ask, event.why, at);
}

export function leaseGranted(state: State, event: EventOf<"lease-granted">, at: Instant): void {
  const request = state.requests.get(event.id);
  const ask = event.ask ?? must(request, event.id).ask;
  if (request !== undefined) removeRequest(state, request);
  else if (ask.key !== undefined) state.keys.set(ask.key, event.id);
  const queuedAt = request?.queuedAt ?? at;
  const lease = newLease(state, {
    id: event.id,
    ask,
    queuedAt,
    grantedAt: at,
    endsAt: event.endsAt ?? never,
    claims: event.claims,
    delivered: event.undelivered !== true,
  });
  renewLease(state, lease, at);
  for (const paced of event.paced ?? []) {
    const pool = must(state.pools.get(paced.pool), paced.pool);
    movePace(pool, paced);
    countStarts(pool, paced.ticks, at);
    schedulePool(state, pool, at);
  }
  for (const { pool, count } of event.admitted ?? []) {
    useCredits(must(state.pools.get(pool), pool), count);
  }
}

/** What a lease is made of, in an event or in a snapshot. */
export interface LeaseRecord {
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly queuedAt: Instant;
  readonly grantedAt: Instant;
  readonly endsAt: Instant;
  readonly claims: readonly ClaimRecord[];
  readonly delivered: boolean;
}

/** Told by a snapshot alone: the user data that it was lent with, where that has changed since. */
export interface ClaimRecord extends GrantedClaim {
  readonly given?: Readonly<Record<string, string>>;
}

export function newLease(state: State, record: LeaseRecord): Lease {
  const { id, ask, queuedAt, grantedAt, endsAt, delivered } = record;
  const lease: Lease = {
    kind: "lease",
    id,
    ask,
    queuedAt,
    grantedAt,
    endsAt,
    expiresAt: grantedAt,
    seenAt: grantedAt,
    delivered,
    sent: delivered ? 1 : 0,
    confirmed: false,
    claims: [],
    dueAt: never,
    heapIndex: -1,
  };
  lease.claims = record.claims.map((granted) => newClaim(state, lease, granted));
  state.leases.set(id, lease);
  return lease;
}

function newClaim(state: State, lease: Lease, granted: ClaimRecord): Claim {
  const resource = must(state.resources.get(granted.resource), granted.resource);
  const isShare = granted.amount !== undefined;
  if (isShare !== (resource.room !== null)) {
    throw new Error(`Cannot grant ${resource.name} to ${lease.id}: it is lent otherwise`);
  }
  if (resource.claim !== null) {
    throw new Error(
      `Cannot grant ${resource.name} to ${lease.id}: ${resource.claim.lease.id} has it`,
    );
  }
  const claim: Claim = {
    kind: "claim",
    id: granted.id,
    lease,
    resource,
    fence: granted.fence,
    heldUntil: granted.heldUntil ?? never,
    amount: granted.amount ?? null,
    parts: isShare ? partsOf(resource.pool, granted) : noParts,
    given: granted.given ?? resource.userData,
    dueAt: never,
    heapIndex: -1,
  };
  if (claim.heldUntil !== never) state.due.set(claim, claim.heldUntil);
  if (granted.fence > state.fence) state.fence = granted.fence;
  if (isShare) {
    chargeClaim(resource, claim, 1, lease.grantedAt);
  } else {
    put(resource, { claim, state: granted.into ?? busyState }, lease.grantedAt);
    state.due.clear(resource);
  }
  return claim;
}

const noParts: readonly Part[] = [];

function partsOf(pool: Pool, { parts = {} }: GrantedClaim): Part[] {
  return Object.entries(parts).flatMap(([kind, names]) =>
    names.map((name) => partFor(pool, kind, name)),
  );
}

export function claimEnded(state: State, event: EventOf<"claim-ended">, at: Instant): void {
  const lease = must(state.leases.get(event.id), event.id);
  const claim = must(
    lease.claims.find(({ id }) => id === event.claim),
    event.claim,
  );
  lease.claims = lease.claims.filter((other) => other !== claim);
  giveBack(state, claim, event.back, "released", at);
}

export function leaseEnded(state: State, event: EventOf<"lease-ended">, at: Instant): void {
  const lease = must(state.leases.get(event.id), event.id);
  const { claims } = lease;
  lease.claims = [];
  state.leases.delete(lease.id);
  state.due.clear(lease);
  let index = 0;
  for (const claim of claims) {
    giveBack(state, claim, must(event.back[index++], claim.resource.name), event.why, at);
  }
  rememberEnd(state, lease.id, lease.ask, event.why, at);
}

function giveBack(state: State, claim: Claim, back: Return, how: LeaseEnd, at: Instant): void {
  const { resource } = claim;
  const has = resource.claim === claim || resource.room?.claims.has(claim) === true;
  if (!has || resource.name !== back.resource) {
    throw new Error(`Cannot take ${back.resource} back: the lease ${claim.lease.id} has lost it`);
  }
  state.due.clear(claim);
  // One who never came for it has not had it.
  const had = how !== "uncollected";
  if (had && resource.state !== cleaningState) {
    learnHold(resource.pool, at - claim.lease.grantedAt);
  }
  if (resource.room !== null) return chargeClaim(resource, claim, -1, at);
  if (had) resource.last = { holder: claim.lease.ask.holder, how, state: back.state, at };
  resource.restsTo = back.state;
  resource.failures = back.failures ?? resource.failures;
  const { restsUntil = never, expiresAt = resource.expiresAt, note = "" } = back;
  const next = restsUntil === never ? back.state : coolingState;
  put(resource, { claim: null, state: next, note, restsUntil, expiresAt: expiresAt ?? never }, at);
  scheduleResource(state, resource);
}

/** A mean that forgets: the last few dozen holds weigh the most. What it draws on learns as well. */
function learnHold(pool: Pool, holdMs: number): void {
  for (let up: Pool | null = pool; up !== null; up = up.parent) {
    const { holds } = up;
    holds.count += 1;
    holds.meanMs += (holdMs - holds.meanMs) / Math.min(holds.count, 32);
  }
}

function rememberEnd(
  state: State,
  id: RequestId,
  { key, holder }: ResolvedAsk,
  how: Ended["how"],
  at: Instant,
): void {
  for (const forgotten of state.ended.add({ id, key, holder, how, at })) {
    const { key: old } = forgotten;
    if (old !== undefined && state.keys.get(old) === forgotten.id) state.keys.delete(old);
  }
}

/** Its time counts from when its holder was last heard of, under the new policy as under the old. */
export function followPolicy(state: State, lease: Lease): void {
  lease.expiresAt = after(lease.seenAt, holderTtlOf(lease));
  schedule(state, lease, earliest(lease.expiresAt, lease.endsAt));
}
