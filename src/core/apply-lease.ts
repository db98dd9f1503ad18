/** What becomes of requests and leases by their events. */

import { optionsOf, placesOf } from "./any-of.ts";
import { attendLater, attendPoolLater, schedule } from "./attention.ts";
import type { Ended } from "./ended-memory.ts";
import type { EventOf, GrantedClaim, LeaseEnd, ResolvedAsk, Return } from "./event.ts";
import type { RequestId } from "./ids.ts";
import { put } from "./membership.ts";
import { must } from "./must.ts";
import { movePace } from "./pace.ts";
import {
  busyState,
  type Claim,
  cleaningState,
  coolingState,
  type Lease,
  type Pool,
  type Request,
  type State,
  shelfFor,
  takeDownIfBare,
} from "./state.ts";
import { after, earliest, type Instant, never } from "./time.ts";

export function requestQueued(state: State, event: EventOf<"request-queued">, at: Instant): void {
  const request = enlist(state, event.id, event.ask, at);
  keepRequest(state, request, at, 0);
  for (const { pool } of request.needs) attendPoolLater(state, pool, at);
}

/** Puts a request into its queues. Shared with `thaw`, which knows an older `order`. */
export function enlist(
  state: State,
  id: RequestId,
  ask: ResolvedAsk,
  queuedAt: Instant,
  order = ++state.order,
): Request {
  const options = optionsOf(state, ask);
  const request: Request = {
    kind: "request",
    id,
    ask,
    needs: placesOf(options),
    options,
    priority: ask.priority ?? 0,
    order,
    queuedAt,
    dueAt: never,
    heapIndex: -1,
  };
  state.requests.set(id, request);
  if (ask.key !== undefined) state.keys.set(ask.key, id);
  for (const { pool, state: from } of request.needs) {
    shelfFor(pool, from).queue.add(request);
    pool.waiting += 1;
  }
  return request;
}

function unlist(state: State, request: Request): void {
  state.requests.delete(request.id);
  state.due.clear(request);
  for (const { pool, state: from } of request.needs) {
    const shelf = shelfFor(pool, from);
    shelf.queue.remove(request);
    pool.waiting -= 1;
    takeDownIfBare(shelf);
  }
}

export function keepRequest(state: State, request: Request, at: Instant, waitMs: number): void {
  state.due.set(request, after(at, waitMs + presenceMs(request)));
}

/** For how long a waiter that says nothing is believed to be there. */
function presenceMs({ ask }: Request): number {
  return ask.presenceMs ?? ask.ttlMs ?? 0;
}

function keepLease(state: State, lease: Lease, at: Instant): void {
  lease.seenAt = at;
  lease.expiresAt = after(at, silenceMs(lease));
  schedule(state, lease, earliest(lease.expiresAt, lease.endsAt));
}

/** For how long a holder that says nothing is believed to be there. */
function silenceMs(lease: Lease): number {
  const { ask, delivered } = lease;
  if (!delivered && ask.presenceMs !== undefined) return ask.presenceMs;
  return ask.ttlMs ?? Math.min(...lease.claims.map(silenceAllowed));
}

function silenceAllowed({ resource }: Claim): number {
  return resource.pool.policy.silence?.[resource.state]?.afterMs ?? Number.POSITIVE_INFINITY;
}

export function leaseRenewed(state: State, lease: Lease, at: Instant): void {
  lease.acknowledged = true;
  keepLease(state, lease, at);
}

export function leaseDelivered(state: State, event: EventOf<"lease-delivered">, at: Instant): void {
  const lease = must(state.leases.get(event.id), event.id);
  lease.delivered = event.delivered;
  keepLease(state, lease, at);
}

/** Gives time, never takes any: who waits on an open connection may have more already. */
export function graceGiven(state: State, at: Instant): void {
  for (const lease of state.leases.values()) keepLease(state, lease, at);
  for (const request of state.requests.values()) {
    const waitingUntil = request.heapIndex < 0 ? at : request.dueAt;
    const waitMs = Math.max(0, waitingUntil - at - presenceMs(request));
    keepRequest(state, request, at, waitMs);
  }
}

export function requestLeft(state: State, event: EventOf<"request-left">, at: Instant): void {
  const request = must(state.requests.get(event.id), event.id);
  unlist(state, request);
  rememberEnd(state, request.id, request.ask, event.why, at);
}

export function leaseGranted(state: State, event: EventOf<"lease-granted">, at: Instant): void {
  const request = state.requests.get(event.id);
  const ask = event.ask ?? must(request, event.id).ask;
  if (request !== undefined) unlist(state, request);
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
  keepLease(state, lease, at);
  for (const paced of event.paced ?? []) {
    const pool = must(state.pools.get(paced.pool), paced.pool);
    movePace(pool, paced);
    attendPoolLater(state, pool, at);
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
    acknowledged: false,
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
    given: granted.given ?? resource.userData,
    dueAt: never,
    heapIndex: -1,
  };
  if (claim.heldUntil !== never) state.due.set(claim, claim.heldUntil);
  if (granted.fence > state.fence) state.fence = granted.fence;
  put(resource, { claim, state: granted.into ?? busyState }, lease.grantedAt);
  state.due.clear(resource);
  return claim;
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
  if (resource.claim !== claim || resource.name !== back.resource) {
    throw new Error(`Cannot take ${back.resource} back: the lease ${claim.lease.id} has lost it`);
  }
  state.due.clear(claim);
  // One who never came for it has not had it.
  if (how !== "uncollected") {
    if (resource.state !== cleaningState) learnHold(resource.pool, at - claim.lease.grantedAt);
    resource.last = { holder: claim.lease.ask.holder, how, state: back.state, at };
  }
  resource.restsTo = back.state;
  resource.failures = back.failures ?? resource.failures;
  const { restsUntil = never, expiresAt = resource.expiresAt, note = "" } = back;
  const next = restsUntil === never ? back.state : coolingState;
  put(resource, { claim: null, state: next, note, restsUntil, expiresAt: expiresAt ?? never }, at);
  attendLater(state, resource);
}

/** A mean that forgets: the last few dozen holds weigh the most. */
function learnHold(pool: Pool, holdMs: number): void {
  const { holds } = pool;
  holds.count += 1;
  holds.meanMs += (holdMs - holds.meanMs) / Math.min(holds.count, 32);
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
  lease.expiresAt = after(lease.seenAt, silenceMs(lease));
  schedule(state, lease, earliest(lease.expiresAt, lease.endsAt));
}
