/**
 * Dynamic resources. Made when there are too few for the waiting requests or the minimum. Marked
 * `toBeDeleted` when there are too many, or when one was not lent for its lifespan. An external
 * cleaner may watch for that state, clean up and set `tombstone`; otherwise Berth does so after
 * some time. A tombstone is removed at once.
 *
 * Upkeep depends only on the state, never on the last event. Work that was missed once is done the
 * next time that the pool is touched.
 */
import type { PoolName, ResourceName } from "../model/ids.ts";
import {
  coolingState,
  dirtyState,
  freeState,
  ruleOf,
  toBeDeletedState,
  tombstoneState,
} from "../model/lifecycle.ts";
import type { DynamicPolicy } from "../model/policy.ts";
import { isHeldBackByQuota } from "../model/quota.ts";
import { isAny, isMatch, type Selection } from "../model/selection.ts";
import { isHeld, type Pool, type Resource, type State } from "../model/state.ts";
import { needAt } from "../queue/needs.ts";
import { planClusters } from "./clusters.ts";
import { emit, type Turn } from "./turn.ts";

/** A pool that is no longer dynamic keeps none of its dynamic resources. */
const none: DynamicPolicy = { min: 0, max: 0, state: freeState, lifespanMs: null };

/** Makes and deletes dynamic resources as the pool's policy requires. */
export function upkeep(turn: Turn, pool: Pool): void {
  if (pool.clusters !== null) planClusters(turn, pool);
  if (pool.policy.dynamic === undefined && pool.dynamic === 0) return;
  const { min, max } = policyOf(pool);
  for (const { name } of tombstonesIn(pool)) removeResource(turn, name);
  const surplus = pool.dynamic - pool.leaving - max;
  if (surplus > 0) {
    for (const { name } of dispensable(pool, surplus)) markForDeletion(turn, name);
  }
  while (pool.dynamic < min) make(turn, pool);
  grow(turn, pool);
}

/**
 * Makes as many resources as the waiting requests need in addition to those that will be free
 * anyway.
 */
function grow(turn: Turn, pool: Pool): void {
  const { dynamic } = pool.policy;
  if (dynamic === undefined || pool.retired || pool.waiting === 0) return;
  const possible = dynamic.max - pool.members.size;
  if (possible <= 0) return;
  const expected = onTheWay(pool);
  const needed = neededIn(pool, expected.length + possible);
  // Resources with labels never match a request whose labels no resource has yet.
  const blank = needed.unmatched === 0 ? 0 : expected.filter(isBlank).length;
  const missing = Math.max(needed.count - expected.length, needed.unmatched - blank);
  for (let made = 0; made < Math.min(missing, possible); made++) make(turn, pool);
}

/** The number of resources that the waiting requests need in this pool. */
interface Needed {
  /** At most the given maximum. */
  readonly count: number;
  /** Of these, the resources that must have labels which no resource has yet. */
  readonly unmatched: number;
}

function neededIn(pool: Pool, most: number): Needed {
  let [count, unmatched] = [0, 0];
  for (const bucket of pool.buckets.values()) {
    for (const request of bucket.queue) {
      const need = needAt(request, bucket);
      if (need?.sharing !== "exclusive" || isHeldBackByQuota(request, pool)) continue;
      const missing = need.selections === null ? 0 : unmatchedOf(pool, need.selections);
      unmatched += missing;
      count += need.selections === null ? need.count : missing + anyOf(need.selections);
      if (count >= most) return { count: most, unmatched };
    }
  }
  return { count, unmatched };
}

/**
 * A new resource has no labels yet and a name that nobody knows. So a request that selects an
 * existing resource waits for that one, and needs no new one.
 */
function unmatchedOf(pool: Pool, selections: readonly Selection[]): number {
  return sumOf(selections.filter((one) => !isAny(one) && !isSelectedIn(pool, one)));
}

function anyOf(selections: readonly Selection[]): number {
  return sumOf(selections.filter(isAny));
}

function sumOf(selections: readonly Selection[]): number {
  return selections.reduce((sum, { count }) => sum + count, 0);
}

function isSelectedIn({ members }: Pool, selection: Selection): boolean {
  if (selection.resource !== undefined) return true;
  for (const resource of members) {
    if (!resource.leaving && isMatch(resource, selection)) return true;
  }
  return false;
}

function isBlank({ labels }: Resource): boolean {
  return Object.keys(labels).length === 0;
}

function policyOf(pool: Pool): DynamicPolicy {
  return pool.retired ? none : (pool.policy.dynamic ?? none);
}

/** The resources that will be lent to a waiting request without help from a person. */
function onTheWay(pool: Pool): Resource[] {
  const found: Resource[] = [];
  for (const resource of pool.members) {
    if (resource.leaving || resource.drained || resource.sharing === "shared") continue;
    const { claim } = resource;
    if (claim === null ? isExpected(resource) : claim.purpose !== "use") found.push(resource);
  }
  return found;
}

/** A resource in a state of its own may stay there forever, so it is not expected back. */
function isExpected({ pool, state, restsTo }: Resource): boolean {
  const next = state === coolingState ? restsTo : state;
  const isAwaited = (pool.buckets.get(next)?.queue.size ?? 0) > 0;
  return isAwaited || ruleOf(next).returns || next === policyOf(pool).state;
}

function make(turn: Turn, pool: Pool): void {
  const { state } = policyOf(pool);
  emit(turn, {
    type: "resource-added",
    pool: pool.name,
    resource: newName(turn.state, pool.name),
    ...(state === freeState ? undefined : { state }),
    dynamic: true,
  });
}

/** Numbers are never used twice, so that a name in an old log means one resource. */
function newName(state: State, pool: PoolName): ResourceName {
  let number = state.made + 1;
  while (state.resources.has(`${pool}-${number}` as ResourceName)) number += 1;
  return `${pool}-${number}` as ResourceName;
}

function tombstonesIn(pool: Pool): Resource[] {
  const bucket = pool.buckets.get(tombstoneState);
  return bucket === undefined ? [] : [...bucket.idle].filter(({ dynamic }) => dynamic);
}

/** Dynamic resources that are not held, by descending name. */
function dispensable(pool: Pool, count: number): Resource[] {
  const idle = [...pool.members].filter((resource) => {
    return resource.dynamic && !resource.leaving && !isHeld(resource);
  });
  idle.sort((a, b) => (a.name < b.name ? 1 : -1));
  return idle.slice(0, count);
}

export function markForDeletion(turn: Turn, resource: ResourceName): void {
  emit(turn, { type: "resource-changed", resource, state: toBeDeletedState });
}

/** Deletes a resource that no external cleaner has deleted in time. */
export function deleteResource(turn: Turn, resource: ResourceName): void {
  emit(turn, { type: "resource-changed", resource, state: tombstoneState });
  removeResource(turn, resource);
}

/**
 * Removes a resource. In Boskos, resources that a dynamic resource owns are in a state of its name.
 * No request names that state again, so they become dirty and are lent again.
 */
function removeResource(turn: Turn, name: ResourceName): void {
  emit(turn, { type: "resource-removed", resource: name });
  for (const { buckets } of turn.state.pools.values()) {
    const bucket = buckets.get(name);
    if (bucket === undefined) continue;
    for (const orphan of [...bucket.idle]) {
      emit(turn, { type: "resource-changed", resource: orphan.name, state: dirtyState });
    }
  }
}
