/**
 * The fold: the only code that changes state. It takes every event at its word and keeps the
 * indexes; it decides nothing, so an event from an old journal means what it meant then.
 *
 * An event that contradicts the state throws. That is a damaged journal or a bug, and going on
 * would lend one resource twice.
 */
import type { Ended } from "./ended-memory.ts";
import type { BrokerEvent, GrantedClaim, ResolvedAsk, Return } from "./event.ts";
import type { RequestId, ResourceName } from "./ids.ts";
import { enrol, put, retire, strike } from "./membership.ts";
import {
  busyState,
  type Claim,
  coolingState,
  type Lease,
  needsOf,
  newPool,
  newResource,
  noEntries,
  type Pool,
  type Request,
  type State,
} from "./state.ts";
import { after, earliest, type Instant, never } from "./time.ts";

type EventOf<Type extends BrokerEvent["type"]> = Extract<BrokerEvent, { type: Type }>;

export function apply(state: State, event: BrokerEvent, at: Instant): void {
  switch (event.type) {
    case "lease-granted":
      return leaseGranted(state, event, at);
    case "lease-ended":
      return leaseEnded(state, event, at);
    case "lease-renewed":
      return keepLease(state, must(state.leases.get(event.id), event.id), at);
    case "request-queued":
      return requestQueued(state, event, at);
    case "request-seen":
      return keepRequest(state, must(state.requests.get(event.id), event.id), at, event.waitMs);
    case "request-left":
      return requestLeft(state, event, at);
    case "claim-ended":
      return claimEnded(state, event, at);
    case "resource-rested":
      return resourceRested(state, event, at);
    case "resource-changed":
      return resourceChanged(state, event, at);
    case "resource-relabelled":
      return resourceRelabelled(state, event, at);
    case "resource-added":
      return resourceAdded(state, event, at);
    case "resource-retired":
    case "resource-kept":
      return resourceRetired(state, event);
    case "resource-moved":
      return resourceMoved(state, event, at);
    case "resource-removed":
      return resourceRemoved(state, event.resource);
    case "pool-defined":
      return poolDefined(state, event);
    case "pool-retired":
      must(state.pools.get(event.pool), event.pool).retired = true;
      return;
    case "pool-removed":
      state.pools.delete(event.pool);
      return;
    case "grace-given":
      return graceGiven(state, at);
    default:
      return unreachable(event);
  }
}

// Leases and requests.

function requestQueued(state: State, event: EventOf<"request-queued">, at: Instant): void {
  const request = enlist(state, event.id, event.ask, at);
  keepRequest(state, request, at, 0);
}

/** Puts a request into its queues. Shared with `thaw`, which knows an older `order`. */
export function enlist(
  state: State,
  id: RequestId,
  ask: ResolvedAsk,
  queuedAt: Instant,
  order = ++state.order,
): Request {
  const request: Request = {
    kind: "request",
    id,
    ask,
    needs: needsOf(state, ask),
    priority: ask.priority ?? 0,
    order,
    queuedAt,
    dueAt: never,
    heapIndex: -1,
  };
  state.requests.set(id, request);
  if (ask.key !== undefined) state.keys.set(ask.key, id);
  for (const need of request.needs) need.pool.queue.add(request);
  return request;
}

function unlist(state: State, request: Request): void {
  state.requests.delete(request.id);
  state.due.clear(request);
  for (const need of request.needs) need.pool.queue.remove(request);
}

function keepRequest(state: State, request: Request, at: Instant, waitMs: number): void {
  state.due.set(request, after(at, waitMs + request.ask.ttlMs));
}

function keepLease(state: State, lease: Lease, at: Instant): void {
  lease.expiresAt = after(at, lease.ask.ttlMs);
  state.due.set(lease, earliest(lease.expiresAt, lease.endsAt));
}

/** Gives time, never takes any: who waits on an open connection may have more already. */
function graceGiven(state: State, at: Instant): void {
  for (const lease of state.leases.values()) keepLease(state, lease, at);
  for (const request of state.requests.values()) {
    const waitingUntil = request.heapIndex < 0 ? at : request.dueAt;
    const waitMs = Math.max(0, waitingUntil - at - request.ask.ttlMs);
    keepRequest(state, request, at, waitMs);
  }
}

function requestLeft(state: State, event: EventOf<"request-left">, at: Instant): void {
  const request = must(state.requests.get(event.id), event.id);
  unlist(state, request);
  rememberEnd(state, request.id, request.ask, event.why, at);
}

function leaseGranted(state: State, event: EventOf<"lease-granted">, at: Instant): void {
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
  });
  keepLease(state, lease, at);
}

/** What a lease is made of, in an event or in a snapshot. */
export interface LeaseRecord {
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly queuedAt: Instant;
  readonly grantedAt: Instant;
  readonly endsAt: Instant;
  readonly claims: readonly GrantedClaim[];
}

export function newLease(state: State, record: LeaseRecord): Lease {
  const { id, ask, queuedAt, grantedAt, endsAt } = record;
  const lease: Lease = {
    kind: "lease",
    id,
    ask,
    queuedAt,
    grantedAt,
    endsAt,
    expiresAt: grantedAt,
    claims: [],
    dueAt: never,
    heapIndex: -1,
  };
  lease.claims = record.claims.map((granted) => newClaim(state, lease, granted));
  state.leases.set(id, lease);
  return lease;
}

function newClaim(state: State, lease: Lease, granted: GrantedClaim): Claim {
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
    dueAt: never,
    heapIndex: -1,
  };
  if (claim.heldUntil !== never) state.due.set(claim, claim.heldUntil);
  if (granted.fence > state.fence) state.fence = granted.fence;
  put(resource, { claim, state: busyState }, lease.grantedAt);
  return claim;
}

function claimEnded(state: State, event: EventOf<"claim-ended">, at: Instant): void {
  const lease = must(state.leases.get(event.id), event.id);
  const claim = must(
    lease.claims.find(({ id }) => id === event.claim),
    event.claim,
  );
  lease.claims = lease.claims.filter((other) => other !== claim);
  giveBack(state, claim, event.back, at);
}

function leaseEnded(state: State, event: EventOf<"lease-ended">, at: Instant): void {
  const lease = must(state.leases.get(event.id), event.id);
  const { claims } = lease;
  lease.claims = [];
  state.leases.delete(lease.id);
  state.due.clear(lease);
  let index = 0;
  for (const claim of claims) {
    giveBack(state, claim, must(event.back[index++], claim.resource.name), at);
  }
  rememberEnd(state, lease.id, lease.ask, event.why, at);
}

function giveBack(state: State, claim: Claim, back: Return, at: Instant): void {
  const { resource } = claim;
  if (resource.claim !== claim || resource.name !== back.resource) {
    throw new Error(`Cannot take ${back.resource} back: the lease ${claim.lease.id} has lost it`);
  }
  state.due.clear(claim);
  learnHold(resource.pool, at - claim.lease.grantedAt);
  if (back.restsUntil === undefined) {
    put(resource, { claim: null, state: back.state }, at);
  } else {
    resource.restsTo = back.state;
    put(resource, { claim: null, state: coolingState }, at);
    state.due.set(resource, back.restsUntil);
  }
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

// Pools and resources.

function poolDefined(state: State, event: EventOf<"pool-defined">): void {
  const pool = state.pools.get(event.pool);
  if (pool === undefined) {
    state.pools.set(event.pool, newPool(event.pool, event.policy));
  } else {
    pool.policy = event.policy;
    pool.retired = false;
  }
}

function resourceAdded(state: State, event: EventOf<"resource-added">, at: Instant): void {
  const pool = must(state.pools.get(event.pool), event.pool);
  if (state.resources.has(event.resource)) {
    throw new Error(`Cannot add ${event.resource}: there is one already`);
  }
  enrol(state, newResource(pool, event.resource, event.labels ?? noEntries, at));
}

function resourceRetired(
  state: State,
  event: EventOf<"resource-retired"> | EventOf<"resource-kept">,
): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  retire(resource, event.type === "resource-retired");
  resource.movesTo = event.type === "resource-retired" ? (event.movesTo ?? null) : null;
}

function resourceMoved(state: State, event: EventOf<"resource-moved">, at: Instant): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  if (resource.claim !== null) throw new Error(`Cannot move ${resource.name}: somebody holds it`);
  strike(state, resource);
  resource.pool = must(state.pools.get(event.pool), event.pool);
  resource.retired = false;
  resource.movesTo = null;
  resource.specLabels = event.labels ?? noEntries;
  enrol(state, resource);
  put(resource, { labels: resource.specLabels }, at);
}

function resourceRemoved(state: State, name: ResourceName): void {
  const resource = must(state.resources.get(name), name);
  if (resource.claim !== null) throw new Error(`Cannot remove ${name}: somebody holds it`);
  state.due.clear(resource);
  strike(state, resource);
}

function resourceRested(state: State, event: EventOf<"resource-rested">, at: Instant): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  state.due.clear(resource);
  put(resource, { state: event.state }, at);
}

function resourceRelabelled(
  state: State,
  event: EventOf<"resource-relabelled">,
  at: Instant,
): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  resource.specLabels = event.labels;
  put(resource, { labels: event.labels }, at);
}

function resourceChanged(state: State, event: EventOf<"resource-changed">, at: Instant): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  if (event.state !== undefined) state.due.clear(resource);
  put(resource, event, at);
}

function must<Value>(value: Value | null | undefined, name: string): Value {
  if (value === undefined || value === null) {
    throw new Error(`Cannot apply an event: there is no "${name}"`);
  }
  return value;
}

function unreachable(event: never): never {
  throw new Error(`Cannot apply an event of an unknown type: ${JSON.stringify(event)}`);
}
