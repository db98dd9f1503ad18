/** Applies the events of pools and resources. */

import { admissionAfter } from "../gates/credits.ts";
import { paceAfterReload } from "../gates/pace.ts";
import { adaptiveOf, afterRateChange, afterSignal } from "../gates/rate.ts";
import { parametersKeyOf } from "../model/cluster.ts";
import { merged } from "../model/entries.ts";
import type { EventOf } from "../model/event.ts";
import type { PoolName, ResourceName } from "../model/ids.ts";
import { freeState, tombstoneState } from "../model/lifecycle.ts";
import {
  exclusiveClaim,
  isHeld,
  isShared,
  must,
  noEntries,
  type Pool,
  type Resource,
  type State,
  type Suspension,
  unchecked,
} from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import type { CapacitySpec } from "../shared/placement/shareable.ts";
import { clusterRemoved, keepStock, newCluster } from "./clusters.ts";
import { type Birth, newExclusive, newPool, newShared } from "./create.ts";
import { edit } from "./edit.ts";
import { linkPool } from "./hubs.ts";
import {
  addMember,
  adopt,
  enterCohort,
  forgetGatesBelow,
  leaveCohort,
  linkParent,
  poolAttended,
  removeMember,
  retire,
  schedule,
  schedulePool,
  scheduleResource,
  scheduleUpwards,
  update,
} from "./indexes.ts";
import { refreshChoices, refreshWants, scheduleLease, schedulePatience } from "./leases.ts";
import { listIfUsable, rearrange, setCapacity } from "./shared.ts";

export function poolOf(state: State, name: PoolName): Pool {
  return must(state.pools.get(name), name);
}

function resourceOf(state: State, name: ResourceName): Resource {
  return must(state.resources.get(name), name);
}

type PoolEvent = EventOf<
  | "pool-defined"
  | "pool-retired"
  | "pool-removed"
  | "pool-suspended"
  | "pool-resumed"
  | "demand-unmet"
  | "pool-attended"
>;

export function poolEvent(state: State, event: PoolEvent, at: Instant): void {
  switch (event.type) {
    case "pool-defined":
      return poolDefined(state, event, at);
    case "pool-retired":
      return poolRetired(state, event.pool);
    case "pool-removed":
      return poolRemoved(state, event.pool);
    case "pool-suspended":
      return suspend(poolOf(state, event.pool), { why: event.why, at });
    case "pool-resumed":
      return suspend(poolOf(state, event.pool), null);
    case "demand-unmet":
      return demandUnmet(state, event);
    case "pool-attended":
      return poolAttended(state, poolOf(state, event.pool), at);
  }
}

function poolDefined(state: State, event: EventOf<"pool-defined">, at: Instant): void {
  const known = state.pools.get(event.pool);
  if (known !== undefined) return redefine(state, known, event, at);
  const pool = newPool(event.pool, event.policy);
  keepStock(pool);
  edit(state.pools).set(event.pool, pool);
  linkPool(state, pool);
  enterCohort(state, pool);
  refreshChoices(state, event.pool);
}

function redefine(state: State, pool: Pool, event: EventOf<"pool-defined">, at: Instant): void {
  const wasShared = isShared(pool);
  const wasRetired = pool.retired;
  const stockBefore = stockKey(pool);
  const writable = edit(pool);
  writable.policy = event.policy;
  writable.retired = false;
  linkParent(state, pool);
  forgetGatesBelow(pool);
  if (adaptiveOf(pool) === undefined) writable.adaptive = null;
  writable.pace = paceAfterReload(pool);
  if (event.policy.admission === undefined) writable.admission = unchecked;
  scheduleUpwards(state, pool, at);
  keepStock(pool);
  linkPool(state, pool);
  if (wasShared !== isShared(pool) || stockBefore !== stockKey(pool)) refreshWants(state);
  else if (wasRetired) refreshChoices(state, event.pool);
  if (isShared(pool)) rearrange(pool);
  for (const { queue } of pool.buckets.values()) {
    for (const request of queue) schedulePatience(state, request);
  }
  // The pool sets the ttl of holders without a token. A new ttl counts from the last heartbeat.
  for (const resource of pool.members) {
    const lease = exclusiveClaim(resource)?.lease;
    if (lease?.ask.ttlMs === null) scheduleLease(state, lease);
  }
}

/** What a request without parameters means. */
function stockKey({ policy: { cluster } }: Pool): string | undefined {
  return cluster === undefined ? undefined : parametersKeyOf(cluster.parameters);
}

function poolRetired(state: State, name: PoolName): void {
  const pool = poolOf(state, name);
  edit(pool).retired = true;
  forgetGatesBelow(pool);
  refreshChoices(state, name);
}

function poolRemoved(state: State, name: PoolName): void {
  const pool = poolOf(state, name);
  schedule(state, pool, never);
  edit(state.pools).delete(name);
  for (const { turns } of state.spaces.values()) edit(turns).delete(pool);
  linkPool(state, pool);
  leaveCohort(state, pool);
}

function suspend(pool: Pool, suspended: Suspension | null): void {
  edit(pool).suspended = suspended;
  pool.cache.gates = null;
}

/** Applies a report or a new rate, which changes the pool's pace. */
export function rateEvent(
  state: State,
  event: EventOf<"pool-signalled"> | EventOf<"rate-changed">,
  at: Instant,
): void {
  const pool = poolOf(state, event.pool);
  if (event.type === "pool-signalled") {
    Object.assign(edit(pool), afterSignal(pool, event, at));
  } else {
    Object.assign(edit(pool), afterRateChange(pool, event, at));
    forgetGatesBelow(pool);
  }
  schedulePool(state, pool, at);
}

export function admissionEvent(
  state: State,
  event: EventOf<"pool-admitted"> | EventOf<"pool-withheld">,
  at: Instant,
): void {
  const pool = poolOf(state, event.pool);
  edit(pool).admission = admissionAfter(event);
  if (event.type === "pool-admitted") edit(pool).unmetDemand = null;
  schedulePool(state, pool, at);
}

function demandUnmet(state: State, event: EventOf<"demand-unmet">): void {
  const { count, until } = event;
  edit(poolOf(state, event.pool)).unmetDemand = { count, until };
}

export function resourceAdded(state: State, event: EventOf<"resource-added">, at: Instant): void {
  if (state.resources.has(event.resource)) {
    throw new Error(`Cannot add ${event.resource}: it exists already`);
  }
  const { resource: name, labels = noEntries, dynamic = false } = event;
  const resource = newResource({ pool: poolOf(state, event.pool), name, labels, at }, event.room);
  edit(resource).state = event.state ?? freeState;
  edit(resource).dynamic = dynamic;
  if (event.cluster !== undefined && resource.sharing === "exclusive") {
    edit(resource).cluster = newCluster(event.cluster, at);
    edit(resource).note = event.why ?? "";
  }
  if (dynamic || event.cluster !== undefined) edit(state).made += 1;
  addMember(state, resource);
  if (event.cluster === undefined) return;
  keepStock(resource.pool);
  edit(state.orphanClusters).delete(event.cluster.instance);
}

/**
 * Creates an exclusive resource, or a shared one if it has a capacity. Does not add it to its pool.
 */
export function newResource(birth: Birth, spec: CapacitySpec | undefined): Resource {
  if (spec === undefined) return newExclusive(birth);
  const resource = newShared(birth, spec);
  setCapacity(resource, spec);
  return resource;
}

export function resourceResized(state: State, event: EventOf<"resource-resized">): void {
  const resource = resourceOf(state, event.resource);
  if (resource.sharing === "exclusive") {
    throw new Error(`Cannot resize ${resource.name}: it is exclusive`);
  }
  setCapacity(resource, event.room);
  listIfUsable(resource);
}

export function resourceAdopted(state: State, event: EventOf<"resource-adopted">): void {
  const resource = resourceOf(state, event.resource);
  adopt(resource, event.dynamic);
  scheduleResource(state, resource);
}

export function resourceRetired(
  state: State,
  event: EventOf<"resource-retired"> | EventOf<"resource-kept">,
): void {
  const resource = resourceOf(state, event.resource);
  const retired = event.type === "resource-retired";
  retire(resource, retired);
  edit(resource).movesTo = retired ? (event.movesTo ?? null) : null;
}

/** Creates the resource again with its data, because a move may make it shared or exclusive. */
export function resourceMoved(state: State, event: EventOf<"resource-moved">, at: Instant): void {
  const old = resourceOf(state, event.resource);
  if (isHeld(old)) throw new Error(`Cannot move ${old.name}: it is held`);
  schedule(state, old, never);
  removeMember(state, old);
  const { name, changedAt, state: was, userData, note, drained, drainReason } = old;
  const { restsTo, restsUntil, expiresAt, failures, last } = old;
  const labels = event.labels ?? noEntries;
  const birth = { pool: poolOf(state, event.pool), name, labels, at: changedAt };
  const resource = newResource(birth, event.room);
  Object.assign(edit(resource), {
    ...{ state: was, userData, note, drained, drainReason },
    ...{ restsTo, restsUntil, expiresAt, failures, last },
  });
  addMember(state, resource);
  update(resource, { labels }, at);
  scheduleResource(state, resource);
}

export function resourceRemoved(state: State, name: ResourceName): void {
  const resource = resourceOf(state, name);
  if (isHeld(resource)) throw new Error(`Cannot remove ${name}: it is held`);
  schedule(state, resource, never);
  const isCluster = resource.sharing === "exclusive" && resource.cluster !== null;
  if (isCluster) clusterRemoved(state, resource);
  removeMember(state, resource);
  if (isCluster) keepStock(resource.pool);
}

export function resourceRested(state: State, event: EventOf<"resource-rested">, at: Instant): void {
  const resource = resourceOf(state, event.resource);
  update(resource, { state: event.state, restsUntil: never }, at);
  scheduleResource(state, resource);
}

export function resourceRelabelled(
  state: State,
  event: EventOf<"resource-relabelled">,
  at: Instant,
): void {
  const resource = resourceOf(state, event.resource);
  edit(resource).specLabels = event.labels;
  update(resource, { labels: event.labels }, at);
}

export function resourceChanged(
  state: State,
  event: EventOf<"resource-changed">,
  at: Instant,
): void {
  const resource = resourceOf(state, event.resource);
  // A state that a person sets ends the cooldown. It also ends the deletion, except `tombstone`.
  const leaving = resource.leaving && event.state === tombstoneState;
  const { drained, reason = null, userDataChanges, userData = resource.userData } = event;
  const drain = drained === undefined ? undefined : { drainReason: drained ? reason : null };
  const ends = event.state === undefined ? undefined : { restsUntil: never, leaving };
  const entries = { userData: merged(userData, userDataChanges) };
  update(resource, { ...event, ...entries, ...drain, ...ends }, at);
  scheduleResource(state, resource);
}
