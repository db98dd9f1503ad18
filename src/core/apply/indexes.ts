/** The indexes of the state: deadlines, trees of pools, members and buckets of a pool. */
import { planDueAt } from "../clusters/snapshot.ts";
import { opensAt } from "../gates/gates.ts";
import { ancestors, cohortOf, descendants, rootOf } from "../gates/limits.ts";
import { isFrozen } from "../model/hub.ts";
import { freeState, ruleOf, toBeDeletedState } from "../model/lifecycle.ts";
import { dropMatches, indexIdle, unindexIdle } from "../model/selection.ts";
import {
  type Bucket,
  type Due,
  type ExclusiveClaim,
  type ExclusiveResource,
  type HoldStatistic,
  isHeld,
  isHeldForUse,
  type Pool,
  type Resource,
  type SharedClaim,
  type State,
  shownState,
} from "../model/state.ts";
import { after, earliest, type Instant, never } from "../model/time.ts";
import { newBucket } from "./create.ts";
import { edit } from "./edit.ts";
import { charge, listIfUsable, removeShared } from "./shared.ts";

/** Deadlines: when a decision is due because time has passed. */

/** How long an external cleaner may take to delete a resource before Berth deletes it. */
const deletedAfterMs = 30_000;

/** Sets or clears the deadline of a resource. */
export function scheduleResource(state: State, resource: Resource): void {
  schedule(state, resource, isHeld(resource) ? never : resourceDueAt(resource));
}

function resourceDueAt(resource: Resource): Instant {
  const { dynamic, leaving, restsUntil, expiresAt } = resource;
  if (resource.sharing === "exclusive" && resource.cluster !== null) {
    const { deadlineAt, hold } = resource.cluster;
    // While its hub cannot be reached, nobody can do the work of the phase.
    const endsAt = isFrozen(resource) ? never : deadlineAt;
    return earliest(earliest(restsUntil, endsAt), hold?.until ?? never);
  }
  if (!dynamic) return restsUntil;
  if (ruleOf(resource.state).deadline === "deletion") {
    return after(resource.changedAt, deletedAfterMs);
  }
  return leaving ? restsUntil : earliest(restsUntil, expiresAt);
}

/**
 * Sets when a pool is checked next because a gate may open. A deadline that is already due stays
 * until the tick handles it, so that a command ahead of the tick does not delay it.
 */
export function schedulePool(state: State, pool: Pool, now: Instant): void {
  if (isDue(pool, now)) return;
  const opens = opensAt(pool, now);
  schedule(state, pool, pool.clusters === null ? opens : earliest(opens, planDueAt(pool, now)));
}

/** The same for a pool and its ancestors, because their paces apply too. */
export function scheduleUpwards(state: State, pool: Pool, now: Instant): void {
  for (const up of ancestors(pool)) schedulePool(state, up, now);
}

export function isDue({ heapIndex, dueAt }: Due, now: Instant): boolean {
  return heapIndex >= 0 && dueAt <= now;
}

export function poolAttended(state: State, pool: Pool, now: Instant): void {
  schedule(state, pool, never);
  schedulePool(state, pool, now);
}

export function postponeFirst(state: State, until: Instant): void {
  const due = state.due.first();
  if (due !== undefined) schedule(state, due, until);
}

export function schedule(state: State, due: Due, at: Instant): void {
  if (Number.isNaN(at)) throw new Error(`Cannot schedule a ${due.kind}: its time is not a number`);
  if (at === never) edit(state.due).clear(due);
  else edit(state.due).set(due, at);
}

/** The trees of pools that share limits and paces, and the use of each. */

/** An exponential mean: the last few dozen values count most. */
export function learn(statistic: HoldStatistic, valueMs: number): void {
  const holds = edit(statistic);
  holds.count += 1;
  holds.meanMs += (valueMs - holds.meanMs) / Math.min(holds.count, 32);
}

/** Adds to the use of a pool and its ancestors. */
export function countUse(pool: Pool, by: number): void {
  for (let up: Pool | null = pool; up !== null; up = up.parent) edit(up).used += by;
}

/** Links a pool to the parent that its policy names, and adds its use there. */
export function linkParent(state: State, pool: Pool): void {
  const name = pool.policy.parent;
  const named = name === undefined ? null : (state.pools.get(name) ?? null);
  if (name !== undefined && named === null) edit(state.orphans).add(pool);
  else edit(state.orphans).delete(pool);
  // The configuration refuses a circle of parents. If one came here, loops over ancestors would not
  // end.
  const parent = named !== null && rootOf(named) === pool ? null : named;
  if (pool.parent === parent) return;
  unlink(pool);
  edit(pool).parent = parent;
  if (parent === null) return;
  edit(parent.children).add(pool);
  countUse(parent, pool.used);
  forgetGates(cohortOf(parent));
}

function unlink(pool: Pool): void {
  const { parent } = pool;
  if (parent === null) return;
  forgetGates(cohortOf(parent));
  edit(parent.children).delete(pool);
  countUse(parent, -pool.used);
  edit(pool).parent = null;
}

/** Adds a new pool. Pools that wait for a parent of this name become its children. */
export function enterCohort(state: State, pool: Pool): void {
  linkParent(state, pool);
  for (const orphan of state.orphans) linkParent(state, orphan);
}

/** Removes a pool. Its children have no parent until a pool of that name is added. */
export function leaveCohort(state: State, pool: Pool): void {
  unlink(pool);
  edit(state.orphans).delete(pool);
  for (const child of [...pool.children]) linkParent(state, child);
}

/** Clears cached gates. They depend on the policy and rate of the pool and of its ancestors. */
export function forgetGatesBelow(pool: Pool): void {
  forgetGates(descendants(pool));
}

function forgetGates(pools: Iterable<Pool>): void {
  for (const { cache } of pools) cache.gates = null;
}

/**
 * Resources and their indexes: members, size and state counts of a pool, and the buckets that
 * grants use. Nothing else writes these.
 */

/** Adds a new resource to its pool. Also used by `thaw`. */
export function addMember(state: State, resource: Resource): void {
  const { pool } = resource;
  edit(state.resources).set(resource.name, resource);
  edit(pool.members).add(resource);
  pool.cache.capacities = null;
  linkHub(state, resource);
  count(resource, 1);
  index(resource);
}

/** Adds a cluster to its hub. Also when the hub becomes known after the cluster. */
export function linkHub({ hubs }: State, resource: Resource): void {
  if (resource.sharing === "shared" || resource.cluster?.hub == null) return;
  const hub = hubs.get(resource.cluster.hub) ?? null;
  edit(resource).hub = hub;
  if (hub !== null) edit(hub.clusters).add(resource);
}

/** A hub that was removed from the configuration is forgotten with its last cluster. */
function unlinkHub({ hubs }: State, resource: ExclusiveResource): void {
  const { hub } = resource;
  if (hub === null) return;
  edit(hub.clusters).delete(resource);
  if (hub.retired && hub.clusters.size === 0) edit(hubs).delete(hub.name);
}

/** Puts resources into their buckets again, after something that they depend on has changed. */
export function reindex(resources: Iterable<Resource>): void {
  for (const resource of resources) index(resource);
}

/** Removes a resource from its pool and the state. */
export function removeMember(state: State, resource: Resource): void {
  const { pool } = resource;
  edit(state.resources).delete(resource.name);
  if (resource.sharing === "shared") removeShared(resource);
  else takeOut(resource);
  if (resource.sharing === "exclusive") unlinkHub(state, resource);
  edit(pool.members).delete(resource);
  pool.cache.capacities = null;
  count(resource, -1);
}

/** Adds a claim to a shared resource, or removes it. */
export function chargeClaim(claim: SharedClaim, by: 1 | -1, at: Instant): void {
  const { resource } = claim;
  count(resource, -1);
  charge(resource, claim, by);
  countUse(resource.pool, by);
  if (at > resource.changedAt) edit(resource).changedAt = at;
  count(resource, 1);
}

/** Sets or clears the mark that a resource is removed as soon as it is not held. */
export function retire(resource: Resource, retired: boolean): void {
  count(resource, -1);
  edit(resource).retired = retired;
  resource.pool.cache.capacities = null;
  count(resource, 1);
  index(resource);
}

/** Makes a resource dynamic or listed. */
export function adopt(resource: Resource, dynamic: boolean): void {
  count(resource, -1);
  edit(resource).dynamic = dynamic;
  edit(resource).leaving = dynamic && resource.state === toBeDeletedState;
  count(resource, 1);
}

type Change = Partial<
  Pick<
    Resource,
    | "state"
    | "note"
    | "drained"
    | "drainReason"
    | "labels"
    | "userData"
    | "restsUntil"
    | "expiresAt"
    | "leaving"
  >
> & { readonly claim?: ExclusiveClaim | null };

/** Changes a resource and updates its indexes: the counts and the buckets. */
export function update(resource: Resource, change: Change, at: Instant): void {
  count(resource, -1);
  const writable = edit(resource);
  if (change.claim !== undefined && writable.sharing === "exclusive") writable.claim = change.claim;
  if (change.state !== undefined && change.state !== resource.state) {
    writable.state = change.state;
    writable.note = "";
  }
  if (change.note !== undefined) writable.note = change.note;
  if (change.drained !== undefined) writable.drained = change.drained;
  if (change.drainReason !== undefined) writable.drainReason = change.drainReason;
  if (change.labels !== undefined) relabel(resource, change.labels);
  if (change.userData !== undefined) writable.userData = change.userData;
  if (change.restsUntil !== undefined) writable.restsUntil = change.restsUntil;
  if (resource.restsUntil === never) writable.restsTo = freeState;
  if (change.expiresAt !== undefined) writable.expiresAt = change.expiresAt;
  if (change.leaving !== undefined) writable.leaving = change.leaving;
  if (at > resource.changedAt) writable.changedAt = at;
  // The mark stays although a cleaner may hold the resource in another state later.
  if (resource.dynamic && resource.state === toBeDeletedState) writable.leaving = true;
  count(resource, 1);
  // Setting a state, even the same one, counts as use: the resource goes to the end of its idle
  // list.
  if (change.state !== undefined && resource.sharing === "exclusive") takeOut(resource);
  index(resource);
}

function relabel(resource: Resource, labels: Resource["labels"]): void {
  edit(resource).labels = labels;
  if (resource.sharing === "exclusive" && resource.bucket !== null) dropMatches(resource.bucket);
}

/** Puts a usable resource into its bucket, and removes any other from its bucket. */
function index(resource: Resource): void {
  if (resource.sharing === "shared") return listIfUsable(resource);
  const usable =
    resource.claim === null &&
    !resource.drained &&
    !resource.retired &&
    !isFrozen(resource) &&
    resource.restsUntil === never;
  const bucket = usable ? bucketFor(resource.pool, resource.state) : null;
  if (resource.bucket === bucket) return;
  takeOut(resource);
  edit(resource).bucket = bucket;
  if (bucket === null) return;
  edit(bucket.idle).push(resource);
  indexIdle(bucket, resource);
}

function takeOut(resource: ExclusiveResource): void {
  const { bucket } = resource;
  if (bucket === null) return;
  edit(bucket.idle).remove(resource);
  unindexIdle(bucket, resource);
  edit(resource).bucket = null;
  removeIfEmpty(bucket);
}

/** Returns the bucket, and creates it if needed. */
export function bucketFor(pool: Pool, state: string): Bucket {
  let bucket = pool.buckets.get(state);
  if (bucket === undefined) {
    bucket = newBucket(pool, state);
    edit(pool.buckets).set(state, bucket);
  }
  return bucket;
}

/**
 * Removes an empty bucket. People may use any word as a state, so unused ones must not accumulate.
 */
export function removeIfEmpty({ pool, state, idle, queue }: Bucket): void {
  // The free bucket of a small pool empties with every lease, so it stays.
  if (idle.size === 0 && queue.size === 0 && state !== freeState) edit(pool.buckets).delete(state);
}

/** Makes a change that affects the shown states of these resources. */
export function recount(resources: Iterable<Resource>, change: () => void): void {
  const changed = new Set(resources);
  for (const resource of changed) count(resource, -1);
  change();
  for (const resource of changed) count(resource, 1);
}

/** Adds a resource to the counts of its pool, or removes it. */
function count(resource: Resource, by: 1 | -1): void {
  const pool = edit(resource.pool);
  if (!resource.retired) pool.size += by;
  if (isHeldForUse(resource)) pool.held += by;
  if (resource.dynamic) pool.dynamic += by;
  if (resource.leaving) pool.leaving += by;
  // A cluster uses up the limits above it from its planning until its destruction.
  const isUsed =
    resource.sharing === "exclusive" &&
    (resource.cluster !== null || resource.claim?.purpose === "use");
  if (isUsed) countUse(resource.pool, by);
  countShown(resource.pool, shownState(resource), by);
}

function countShown({ shown }: Pool, state: string, by: number): void {
  const counted = (shown.get(state) ?? 0) + by;
  if (counted === 0) edit(shown).delete(state);
  else edit(shown).set(state, counted);
}
