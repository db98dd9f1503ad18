/** Applies the events of requests and leases. */
import { charged } from "../gates/gates.ts";
import type { Ended } from "../model/ended-memory.ts";
import type { EventOf, GrantedClaim, LeaseEnd, ResolvedAsk, Return } from "../model/event.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { busyState, coolingState, purposeOf } from "../model/lifecycle.ts";
import {
  type Claim,
  type Gang,
  type Lease,
  must,
  type Pool,
  type Request,
  type Resource,
  type Revoked,
  type State,
} from "../model/state.ts";
import { after, earliest, type Instant, never } from "../model/time.ts";
import {
  combinedWants,
  gangOf,
  isSelective,
  leaderOf,
  poolsOf,
  type Wants,
  wantsOf,
} from "../queue/needs.ts";
import type { Part } from "../shared/placement/shareable.ts";
import { clusterArrived, clusterGranted, clusterReturned } from "./clusters.ts";
import { countWanted } from "./cohorts.ts";
import { edit } from "./edit.ts";
import {
  bucketFor,
  chargeClaim,
  learn,
  recount,
  removeIfEmpty,
  schedule,
  schedulePool,
  scheduleResource,
  scheduleUpwards,
  update,
} from "./indexes.ts";
import { cancelRise, type Ranked, scheduleRise } from "./priorities.ts";
import { clearReservations, partFor, setReservations } from "./shared.ts";
import { countHeld, enterSpace, leaveSpace } from "./spaces.ts";
import { enterQueue, fed, leaveQueue, leftAhead } from "./starved.ts";

export function requestQueued(state: State, event: EventOf<"request-queued">, at: Instant): void {
  const request = addRequest(state, event.id, event.ask, at);
  renewRequest(state, request, at, 0);
  for (const { pool } of request.needs) scheduleUpwards(state, pool, at);
}

/** Adds a request to its queues. Also used by `thaw`, which passes an older `order`. */
export function addRequest(
  state: State,
  id: RequestId,
  ask: ResolvedAsk,
  queuedAt: Instant,
  order: number = ++edit(state).order,
  ranked: Ranked = { priority: ask.priority ?? 0 },
): Request {
  const own = wantsOf(state, ask);
  const request: Request = {
    kind: "request",
    id,
    ask,
    own,
    ...own,
    priority: ranked.priority,
    order,
    space: enterSpace(state, ask.space),
    queuedAt,
    ownPriority: ranked.own ?? ranked.priority,
    isStarved: ranked.starved ?? false,
    rankedAt: ranked.at ?? queuedAt,
    rise: null,
    gang: null,
    inLine: false,
    patience: { kind: "patience", request: id, dueAt: never, heapIndex: -1 },
    reservations: null,
    cache: { evaluated: false },
    dueAt: never,
    heapIndex: -1,
  };
  edit(state.requests).set(id, request);
  if (request.space !== null) edit(request.space).waiting += 1;
  if (ask.key !== undefined) edit(state.keys).set(ask.key, id);
  if (ask.replaces !== undefined) keepReplacement(state, ask.replaces.lease, id, true);
  if (joinGang(state, request)) enterQueues(state, request);
  // Snapshots of older versions have members of incomplete gangs that went ahead.
  else edit(request).isStarved = false;
  scheduleRise(state, request);
  return request;
}

function keepReplacement(state: State, lease: RequestId, id: RequestId, isAdded: boolean): void {
  const known = state.leases.get(lease);
  if (known === undefined) return;
  const others = known.replacements.filter((other) => other !== id);
  edit(known).replacements = isAdded ? [...others, id] : others;
}

/** Adds a request to its gang. Returns true if the gang is complete, or if it has none. */
function joinGang(state: State, request: Request): boolean {
  const { group } = request.ask;
  if (group === undefined || group.size === 1) return true;
  const known = gangOf(state, request.ask);
  // Older journals have more requests than their gang's size. Each of the extra ones is alone.
  if (known !== undefined && known.members.length >= known.size) return true;
  const gang: Gang = known ?? { ...group, members: [] };
  if (known === undefined) edit(state.gangs).set(group.name, gang);
  edit(gang).members = [...gang.members, request];
  edit(request).gang = gang;
  if (gang.members.length < gang.size) return false;
  setWants(request, combinedWants(gang.members));
  return true;
}

function leaveGang(state: State, request: Request): void {
  const { gang } = request;
  if (gang === null) return;
  edit(gang).members = gang.members.filter((member) => member !== request);
  if (gang.members.length === 0) edit(state.gangs).delete(gang.name);
}

function enterQueues(state: State, request: Request): void {
  edit(request).inLine = true;
  for (const need of request.needs) {
    const bucket = bucketFor(need.pool, need.state);
    enterQueue(bucket, request);
    if (isSelective(need)) edit(bucket).selecting += 1;
    edit(need.pool).waiting += 1;
  }
  schedulePatience(state, request);
  countWanted(state, request, 1);
}

/** Sets when a waiting request for shared resources counts as impatient, unless it already does. */
export function schedulePatience(state: State, request: Request): void {
  if (request.reservations !== null) return;
  let patienceMs = -1;
  for (const { pool, sharing } of request.needs) {
    if (sharing === "shared") patienceMs = Math.max(patienceMs, pool.policy.patienceMs);
  }
  if (patienceMs >= 0) schedule(state, request.patience, after(request.queuedAt, patienceMs));
}

function removeRequest(state: State, request: Request): void {
  edit(state.requests).delete(request.id);
  schedule(state, request, never);
  const { replaces } = request.ask;
  if (replaces !== undefined) keepReplacement(state, replaces.lease, request.id, false);
  cancelRise(state, request);
  const leader = leaderOf(request);
  if (leader.inLine) {
    leaveQueues(state, leader);
    // If it stays, without a part of its gang, it goes ahead of nobody.
    edit(leader).isStarved = false;
  }
  leaveGang(state, request);
  if (request.space === null) return;
  edit(request.space).waiting -= 1;
  if (request.space.waiting === 0) edit(request.space.turns).clear();
  leaveSpace(state, request.ask.space);
}

/**
 * Removes a request from its queues and drops its reservations. The other members of its gang wait
 * for a new member.
 */
function leaveQueues(state: State, request: Request): void {
  edit(request).inLine = false;
  countWanted(state, request, -1);
  request.cache.evaluated = false;
  schedule(state, request.patience, never);
  clearReservations(request);
  for (const need of request.needs) {
    const bucket = bucketFor(need.pool, need.state);
    leaveQueue(bucket, request);
    if (isSelective(need)) edit(bucket).selecting -= 1;
    edit(need.pool).waiting -= 1;
    removeIfEmpty(bucket);
  }
  setWants(request, request.own);
}

function setWants(request: Request, { needs, alternatives }: Wants): void {
  edit(request).needs = needs;
  edit(request).alternatives = alternatives;
}

/** Computes the needs of all requests again, after a pool became shared or exclusive. */
export function refreshWants(state: State): void {
  setWantsAgain(state, [...state.requests.values()]);
}

/** Computes the alternatives of requests that name this pool, after it was added or removed. */
export function refreshChoices(state: State, pool: PoolName): void {
  const affected = new Set<Request>();
  for (const request of state.requests.values()) {
    const isNamed = request.ask.items.some((item) => item.anyOf && poolsOf(item).includes(pool));
    if (isNamed) for (const member of request.gang?.members ?? [request]) affected.add(member);
  }
  setWantsAgain(state, [...affected]);
}

function setWantsAgain(state: State, requests: readonly Request[]): void {
  const standing = requests.filter(({ inLine }) => inLine);
  for (const request of standing) leaveQueues(state, request);
  for (const request of requests) {
    edit(request).own = wantsOf(state, request.ask);
    setWants(request, request.own);
  }
  for (const request of standing) {
    if (request.gang !== null) setWants(request, combinedWants(request.gang.members));
    enterQueues(state, request);
  }
}

export function roomKept(state: State, event: EventOf<"room-kept">): void {
  const request = must(state.requests.get(event.id), event.id);
  schedule(state, request.patience, never);
  setReservations(request, event.rooms, (name) => must(state.resources.get(name), name));
}

export function renewRequest(state: State, request: Request, at: Instant, waitMs: number): void {
  // The heartbeats of its lease keep a replacement in the queue.
  const isReplacement = request.ask.replaces !== undefined;
  schedule(state, request, isReplacement ? never : after(at, waitMs + pollTtlOf(request)));
}

/** How long a waiting client counts as present after its last call. */
export function pollTtlOf({ ask }: Request): number {
  return ask.presenceMs ?? ask.ttlMs ?? 0;
}

/** In the future while the client keeps its connection open. */
function lastPollAt(request: Request): Instant {
  return after(request.dueAt, -pollTtlOf(request));
}

function renewLease(state: State, lease: Lease, at: Instant): void {
  if (lease.revoked !== null) return; // A revoked lease is never extended.
  edit(lease).seenAt = at;
  scheduleLease(state, lease);
}

/** Sets the expiry of a lease, from the last sign of life of its holder. */
export function scheduleLease(state: State, lease: Lease): void {
  edit(lease).expiresAt = after(lease.seenAt, holderTtlOf(lease));
  // In this order a time that is no number stays one, and the schedule refuses it.
  const endsAt = earliest(lease.notice?.until ?? never, lease.endsAt);
  schedule(state, lease, earliest(lease.expiresAt, endsAt));
}

/** Also used by `thaw`. */
export function giveNotice(state: State, lease: Lease, notice: Revoked): void {
  edit(lease).notice = notice;
  if (lease.revoked === null) scheduleLease(state, lease);
}

export function noticeGiven(state: State, event: EventOf<"notice-given">, at: Instant): void {
  const { id, endsBy: until, reason } = event;
  giveNotice(state, must(state.leases.get(id), id), { at, until, reason });
}

/** How long a holder counts as present after its last heartbeat. */
export function holderTtlOf(lease: Lease): number {
  const { ask, delivered } = lease;
  if (!delivered && ask.presenceMs !== undefined) return ask.presenceMs;
  return ask.ttlMs ?? Math.min(...lease.claims.map(tokenlessTtlOf));
}

function tokenlessTtlOf({ resource }: Claim): number {
  return resource.pool.policy.silence?.[resource.state]?.afterMs ?? Number.POSITIVE_INFINITY;
}

export function leaseRenewed(state: State, lease: Lease, at: Instant): void {
  edit(lease).confirmed = true;
  edit(lease).heartbeatAt = at;
  renewLease(state, lease, at);
}

export function leaseDelivered(state: State, event: EventOf<"lease-delivered">, at: Instant): void {
  const lease = must(state.leases.get(event.id), event.id);
  edit(lease).delivered = event.delivered;
  if (event.delivered) edit(lease).sent += 1;
  renewLease(state, lease, at);
}

export function leaseRevoked(state: State, event: EventOf<"lease-revoked">, at: Instant): void {
  const { id, heldUntil: until, reason } = event;
  revokeLease(state, must(state.leases.get(id), id), { at, until, reason });
}

/** Also used by `thaw`. */
export function revokeLease(state: State, lease: Lease, revoked: Revoked): void {
  const resources = lease.claims.map(({ resource }) => resource);
  recount(resources, () => {
    edit(lease).revoked = revoked;
  });
  scheduleRevoked(state, lease, revoked.until);
}

/** The clock may have jumped: the holder may believe for as long as when the lease was revoked. */
function giveRevokedGrace(state: State, lease: Lease, revoked: Revoked, at: Instant): void {
  edit(lease).seenAt = at;
  scheduleRevoked(state, lease, after(at, revoked.until - revoked.at));
}

function scheduleRevoked(state: State, lease: Lease, until: Instant): void {
  edit(lease).expiresAt = until;
  schedule(state, lease, earliest(until, lease.endsAt));
}

/**
 * A pause of the broker is long for a holder if it is longer than this part of its ttl. Clients send
 * heartbeats at a third of the ttl, so after a shorter pause one third is still left.
 */
export const pausePerTtlMax = 1 / 3;

/** Only extends deadlines: a client with an open connection may already have more time. */
export function graceGiven(state: State, at: Instant, pausedMs?: number): void {
  const isLongFor = (ttlMs: number) => pausedMs === undefined || pausedMs > ttlMs * pausePerTtlMax;
  for (const lease of state.leases.values()) {
    if (!isLongFor(holderTtlOf(lease))) continue;
    if (lease.revoked === null) renewLease(state, lease, at);
    else giveRevokedGrace(state, lease, lease.revoked, at);
  }
  for (const request of state.requests.values()) {
    if (!isLongFor(pollTtlOf(request))) continue;
    const waitingUntil = request.heapIndex < 0 ? at : request.dueAt;
    const waitMs = Math.max(0, waitingUntil - at - pollTtlOf(request));
    renewRequest(state, request, at, waitMs);
  }
}

export function requestLeft(state: State, event: EventOf<"request-left">, at: Instant): void {
  const request = must(state.requests.get(event.id), event.id);
  // Its whole gang leaves the queues, and the leader has the needs of all members until then.
  const leader = leaderOf(request);
  if (leader.isStarved) leftAhead(leader);
  removeRequest(state, request);
  rememberEnd(state, request.id, request.ask, event.why, at);
}

export function leaseGranted(state: State, event: EventOf<"lease-granted">, at: Instant): void {
  const request = state.requests.get(event.id);
  const ask = event.ask ?? must(request, event.id).ask;
  // A polling client that has gone away must not block the next one for longer because of the
  // grant: its time to collect the lease counts from its last poll.
  const polledAt = request === undefined ? at : lastPollAt(request);
  if (request !== undefined) removeRequest(state, request);
  else if (ask.key !== undefined) edit(state.keys).set(ask.key, event.id);
  const lease = addLease(state, {
    id: event.id,
    ask,
    queuedAt: request?.queuedAt ?? at,
    grantedAt: at,
    priority: request?.ownPriority ?? ask.priority ?? 0,
    endsAt: event.endsAt ?? never,
    claims: event.claims,
    delivered: event.undelivered !== true,
  });
  const space = ask.space === undefined ? undefined : state.spaces.get(ask.space);
  for (const { resource, purpose } of lease.claims) {
    if (space !== undefined && purpose === "use") fed(space, resource.pool, at);
    if (resource.sharing === "shared" || resource.cluster === null) continue;
    if (purpose === "use") clusterArrived(resource, at);
    schedulePool(state, resource.pool, at);
  }
  renewLease(state, lease, event.undelivered ? earliest(at, polledAt) : at);
  if (event.paced === undefined && event.admitted === undefined) return;
  for (const [pool, change] of charged(state, event, at)) {
    Object.assign(edit(pool), change);
    schedulePool(state, pool, at);
  }
}

/** The data of a lease, in an event or in a snapshot. */
export interface LeaseRecord {
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly queuedAt: Instant;
  readonly grantedAt: Instant;
  readonly priority: number;
  readonly endsAt: Instant;
  readonly claims: readonly ClaimRecord[];
  readonly delivered: boolean;
}

/** Only in snapshots: the user data at the grant, if it has changed since. */
export interface ClaimRecord extends GrantedClaim {
  readonly given?: Readonly<Record<string, string>>;
}

const noReplacements: readonly RequestId[] = [];

export function addLease(state: State, record: LeaseRecord): Lease {
  const { id, ask, queuedAt, grantedAt, priority, endsAt, delivered } = record;
  const lease: Lease = {
    kind: "lease",
    id,
    ask,
    queuedAt,
    grantedAt,
    priority,
    endsAt,
    expiresAt: grantedAt,
    seenAt: grantedAt,
    heartbeatAt: null,
    delivered,
    sent: delivered ? 1 : 0,
    confirmed: false,
    revoked: null,
    notice: null,
    claims: [],
    replacements: noReplacements,
    dueAt: never,
    heapIndex: -1,
  };
  const space = enterSpace(state, ask.space);
  if (space !== null) edit(space.leases).add(lease);
  edit(lease).claims = record.claims.map((granted) => addClaim(state, lease, granted));
  edit(state.leases).set(id, lease);
  return lease;
}

function addClaim(
  state: State,
  lease: Lease,
  granted: ClaimRecord,
  at: Instant = lease.grantedAt,
): Claim {
  const resource = must(state.resources.get(granted.resource), granted.resource);
  if ((granted.amount !== undefined) !== (resource.sharing === "shared")) {
    throw new Error(`Cannot grant ${resource.name} to ${lease.id}: it is ${resource.sharing}`);
  }
  const claim = newClaim(resource, lease, granted);
  if (claim.heldUntil !== never) schedule(state, claim, claim.heldUntil);
  if (granted.fence > state.fence) edit(state).fence = granted.fence;
  if (claim.amount !== null) {
    chargeClaim(claim, 1, at);
  } else {
    update(claim.resource, { claim, state: granted.into ?? busyState }, at);
    schedule(state, claim.resource, never);
    if (claim.resource.cluster !== null) clusterGranted(state, claim, granted);
  }
  countHeld(state, claim, 1);
  return claim;
}

function newClaim(resource: Resource, lease: Lease, granted: ClaimRecord): Claim {
  const { id, fence, heldUntil = never, given = resource.userData } = granted;
  const isShare = resource.sharing === "shared";
  if (!isShare && resource.claim !== null) {
    const { id: other } = resource.claim.lease;
    throw new Error(`Cannot grant ${resource.name} to ${lease.id}: ${other} has it`);
  }
  // One literal for both kinds, because a spread costs a tenth of a grant.
  return {
    kind: "claim",
    id,
    lease,
    resource,
    fence,
    heldUntil,
    purpose: purposeOf(granted),
    amount: isShare ? (granted.amount ?? {}) : null,
    parts: isShare ? partsOf(resource.pool, granted) : noParts,
    given,
    dueAt: never,
    heapIndex: -1,
  } as Claim;
}

const noParts: readonly Part[] = [];

function partsOf(pool: Pool, { parts = {} }: GrantedClaim): Part[] {
  return Object.entries(parts).flatMap(([kind, names]) =>
    names.map((name) => partFor(pool, kind, name)),
  );
}

/** Adds the new cluster to the lease that has waited for it. */
export function claimReplaced(state: State, event: EventOf<"claim-replaced">, at: Instant): void {
  const lease = must(state.leases.get(event.id), event.id);
  removeRequest(state, must(state.requests.get(event.request), event.request));
  const claim = addClaim(state, lease, event.granted, at);
  edit(lease).claims = [...lease.claims, claim];
  if (claim.amount === null) clusterArrived(claim.resource, at);
}

export function claimEnded(state: State, event: EventOf<"claim-ended">, at: Instant): void {
  const lease = must(state.leases.get(event.id), event.id);
  const claim = must(
    lease.claims.find(({ id }) => id === event.claim),
    event.claim,
  );
  edit(lease).claims = lease.claims.filter((other) => other !== claim);
  returnResource(state, claim, event.back, "released", at);
}

export function leaseEnded(state: State, event: EventOf<"lease-ended">, at: Instant): void {
  const lease = must(state.leases.get(event.id), event.id);
  const { claims } = lease;
  edit(lease).claims = [];
  edit(state.leases).delete(lease.id);
  schedule(state, lease, never);
  let index = 0;
  for (const claim of claims) {
    returnResource(state, claim, must(event.back[index++], claim.resource.name), event.why, at);
  }
  const space = lease.ask.space === undefined ? undefined : state.spaces.get(lease.ask.space);
  if (space !== undefined) edit(space.leases).delete(lease);
  leaveSpace(state, lease.ask.space);
  rememberEnd(state, lease.id, lease.ask, event.why, at);
}

function returnResource(
  state: State,
  claim: Claim,
  back: Return,
  how: LeaseEnd,
  at: Instant,
): void {
  countHeld(state, claim, -1);
  const { resource } = claim;
  const isHeld =
    claim.amount === null ? claim.resource.claim === claim : claim.resource.claims.has(claim);
  if (!isHeld || resource.name !== back.resource) {
    throw new Error(
      `Cannot release ${back.resource}: the lease ${claim.lease.id} does not hold it`,
    );
  }
  schedule(state, claim, never);
  // A client that never received its lease has not used the resource.
  const had = how !== "uncollected";
  if (had && claim.purpose === "use") learnHold(resource.pool, at - claim.lease.grantedAt);
  if (claim.amount !== null) return chargeClaim(claim, -1, at);
  const writable = edit(resource);
  if (had) {
    const { holder, space } = claim.lease.ask;
    const whose = space === undefined ? { holder } : { holder, space };
    writable.last = { ...whose, how, state: back.state, at };
  }
  writable.restsTo = back.state;
  writable.failures = back.failures ?? resource.failures;
  const { restsUntil = never, expiresAt = resource.expiresAt, note = "" } = back;
  const { cluster, state: was } = claim.resource;
  // A cluster stays in its phase while it waits for the next attempt.
  const next = restsUntil === never || cluster !== null ? back.state : coolingState;
  const change = { claim: null, state: next, note, restsUntil, expiresAt: expiresAt ?? never };
  update(resource, change, at);
  if (cluster !== null) clusterReturned(state, claim.resource, was, back, at);
  scheduleResource(state, resource);
}

/** Also updates the ancestors. */
function learnHold(pool: Pool, holdMs: number): void {
  for (let up: Pool | null = pool; up !== null; up = up.parent) learn(up.holds, holdMs);
}

function rememberEnd(
  state: State,
  id: RequestId,
  { key, holder, space }: ResolvedAsk,
  how: Ended["how"],
  at: Instant,
): void {
  const end = { id, key, holder, ...(space === undefined ? undefined : { space }), how, at };
  for (const forgotten of edit(state.ended).add(end)) {
    const { key: old } = forgotten;
    if (old !== undefined && state.keys.get(old) === forgotten.id) edit(state.keys).delete(old);
  }
}
