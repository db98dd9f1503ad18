/** What becomes of pools and resources by their events. */

import { enterTree, leaveTree, linkParent } from "../gates/limits.ts";
import { repace } from "../gates/pace.ts";
import { adaptiveOf } from "../gates/rate.ts";
import type { EventOf } from "../model/event.ts";
import type { PoolName, ResourceName } from "../model/ids.ts";
import { must } from "../model/must.ts";
import {
  freeState,
  isHeld,
  newPool,
  newResource,
  noEntries,
  type Resource,
  type State,
  tombstoneState,
  unchecked,
} from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import { rearrange, setCapacity } from "../shared/capacity.ts";
import type { RoomSpec } from "../shared/placement/room.ts";
import { scheduleResource, scheduleUpwards } from "./deadlines.ts";
import { followPolicy, rereadNeeds } from "./leases.ts";
import { addMember, adopt, put, removeMember, retire } from "./membership.ts";

export function poolDefined(state: State, event: EventOf<"pool-defined">, at: Instant): void {
  const pool = state.pools.get(event.pool);
  if (pool === undefined) {
    const made = newPool(event.pool, event.policy);
    state.pools.set(event.pool, made);
    enterTree(state, made);
  } else {
    const lentOtherwise =
      (pool.policy.placement === undefined) !== (event.policy.placement === undefined);
    pool.policy = event.policy;
    pool.retired = false;
    linkParent(state, pool);
    if (adaptiveOf(pool) === undefined) pool.adaptive = null;
    repace(pool);
    if (event.policy.admission === undefined) pool.admission = unchecked;
    scheduleUpwards(state, pool, at);
    if (lentOtherwise) rereadNeeds(state);
    if (event.policy.placement !== undefined) rearrange(pool);
    for (const { claim } of pool.members) {
      if (claim !== null && claim.lease.ask.ttlMs === null) followPolicy(state, claim.lease);
    }
  }
}

export function poolRemoved(state: State, name: PoolName): void {
  const pool = must(state.pools.get(name), name);
  state.due.clear(pool);
  state.pools.delete(name);
  leaveTree(state, pool);
}

export function resourceAdded(state: State, event: EventOf<"resource-added">, at: Instant): void {
  const pool = must(state.pools.get(event.pool), event.pool);
  if (state.resources.has(event.resource)) {
    throw new Error(`Cannot add ${event.resource}: there is one already`);
  }
  const resource = newResource(pool, event.resource, event.labels ?? noEntries, at);
  resource.state = event.state ?? freeState;
  resource.dynamic = event.dynamic === true;
  if (resource.dynamic) state.made += 1;
  if (event.room !== undefined) setCapacity(resource, event.room);
  addMember(state, resource);
}

export function resourceResized(state: State, event: EventOf<"resource-resized">): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  if (resource.room === null) throw new Error(`Cannot resize ${resource.name}: it is lent whole`);
  setCapacity(resource, event.room);
}

export function resourceAdopted(state: State, event: EventOf<"resource-adopted">): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  adopt(resource, event.dynamic);
  scheduleResource(state, resource);
}

export function resourceRetired(
  state: State,
  event: EventOf<"resource-retired"> | EventOf<"resource-kept">,
): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  retire(resource, event.type === "resource-retired");
  resource.movesTo = event.type === "resource-retired" ? (event.movesTo ?? null) : null;
}

export function resourceMoved(state: State, event: EventOf<"resource-moved">, at: Instant): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  if (isHeld(resource)) throw new Error(`Cannot move ${resource.name}: somebody holds it`);
  removeMember(state, resource);
  resource.pool = must(state.pools.get(event.pool), event.pool);
  resource.retired = false;
  resource.movesTo = null;
  resource.specLabels = event.labels ?? noEntries;
  resource.dynamic = false;
  resource.leaving = false;
  refit(resource, event.room);
  addMember(state, resource);
  put(resource, { labels: resource.specLabels }, at);
}

/** What is lent by amount has no state of its own but `free`, unless somebody took it out of use. */
function refit(resource: Resource, spec: RoomSpec | undefined): void {
  if (spec !== undefined) setCapacity(resource, spec);
}

export function resourceRemoved(state: State, name: ResourceName): void {
  const resource = must(state.resources.get(name), name);
  if (isHeld(resource)) throw new Error(`Cannot remove ${name}: somebody holds it`);
  state.due.clear(resource);
  removeMember(state, resource);
}

export function resourceRested(state: State, event: EventOf<"resource-rested">, at: Instant): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  put(resource, { state: event.state, restsUntil: never }, at);
  scheduleResource(state, resource);
}

export function resourceRelabelled(
  state: State,
  event: EventOf<"resource-relabelled">,
  at: Instant,
): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  resource.specLabels = event.labels;
  put(resource, { labels: event.labels }, at);
}

export function resourceChanged(
  state: State,
  event: EventOf<"resource-changed">,
  at: Instant,
): void {
  const resource = must(state.resources.get(event.resource), event.resource);
  // Told its state by hand, it rests no longer, and it is not to go any more unless that says so.
  const leaving = resource.leaving && event.state === tombstoneState;
  const told = { ...event, restsUntil: never, leaving };
  put(resource, event.state === undefined ? event : told, at);
  scheduleResource(state, resource);
}
