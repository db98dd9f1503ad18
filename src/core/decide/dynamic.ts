/**
 * Resources that come and go: made when too few are there for those who wait or for the minimum,
 * marked `toBeDeleted` when there are too many or when nobody has wanted one for its lifespan.
 * Whoever watches for that mark cleans up and calls it a `tombstone`; if nobody does, Berth itself
 * does after a while. A tombstone is removed at once.
 *
 * All of it looks at how things are, never at what has just happened: whatever was missed once is
 * made good the next time that the pool is touched.
 */
import type { PoolName, ResourceName } from "../model/ids.ts";
import type { DynamicPolicy } from "../model/policy.ts";
import {
  cleaningState,
  coolingState,
  dirtyState,
  freeState,
  type Pool,
  type Resource,
  type State,
  toBeDeletedState,
  tombstoneState,
} from "../model/state.ts";
import { emit, type Turn } from "./turn.ts";

/** A pool that is not dynamic any more keeps none of what it made. */
const none: DynamicPolicy = { min: 0, max: 0, state: freeState, lifespanMs: null };

/** Brings a pool's dynamic resources to what its policy wants; `touched` collects other pools. */
export function upkeep(turn: Turn, pool: Pool, touched: Set<Pool>): void {
  if (pool.policy.dynamic === undefined && pool.dynamic === 0) return;
  const { min, max } = policyOf(pool);
  for (const grave of idleIn(pool, tombstoneState)) remove(turn, grave, touched);
  const surplus = pool.dynamic - pool.leaving - max;
  if (surplus > 0)
    for (const resource of dispensable(pool, surplus)) markForDeletion(turn, resource);
  while (pool.dynamic < min) make(turn, pool);
  growFor(turn, pool);
}

/** Makes as many as those who wait will need, beyond what is on its way to them already. */
export function growFor(turn: Turn, pool: Pool): void {
  const { dynamic } = pool.policy;
  if (dynamic === undefined || pool.retired || pool.waiting === 0) return;
  if (pool.members.size >= dynamic.max) return;
  let missing = pool.waiting - onTheWay(pool);
  while (missing > 0 && pool.members.size < dynamic.max) {
    make(turn, pool);
    missing -= 1;
  }
}

function policyOf(pool: Pool): DynamicPolicy {
  return pool.retired ? none : (pool.policy.dynamic ?? none);
}

/** Those that sooner or later are lent to who waits, if all goes well. */
function onTheWay(pool: Pool): number {
  let count = 0;
  for (const resource of pool.members) {
    if (resource.leaving || resource.drained) continue;
    if (resource.claim === null ? isExpected(resource) : resource.state === cleaningState)
      count += 1;
  }
  return count;
}

/** States are whatever people make of them: what they have put aside may stay there for ever. */
function isExpected({ pool, state, restsTo }: Resource): boolean {
  const next = state === coolingState ? restsTo : state;
  const awaited = (pool.buckets.get(next)?.queue.size ?? 0) > 0;
  return awaited || [freeState, dirtyState, policyOf(pool).state].includes(next);
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

function idleIn(pool: Pool, state: string): Resource[] {
  const shelf = pool.buckets.get(state);
  return shelf === undefined ? [] : [...shelf.idle].filter(({ dynamic }) => dynamic);
}

/** Those that nobody holds, by descending name. */
function dispensable(pool: Pool, count: number): Resource[] {
  const idle = [...pool.members].filter(
    ({ claim, dynamic, leaving }) => dynamic && !leaving && claim === null,
  );
  idle.sort((a, b) => (a.name < b.name ? 1 : -1));
  return idle.slice(0, count);
}

export function markForDeletion(turn: Turn, { name }: Resource): void {
  emit(turn, { type: "resource-changed", resource: name, state: toBeDeletedState });
}

/** Nobody else has cleaned it up: its end has come. */
export function deleteResource(turn: Turn, resource: Resource, touched: Set<Pool>): void {
  emit(turn, { type: "resource-changed", resource: resource.name, state: tombstoneState });
  remove(turn, resource, touched);
}

/**
 * What belonged to it is in a state of its name, and nobody would ever ask for it there again: it is
 * cleaned and lent on its own.
 */
function remove(turn: Turn, { name, pool }: Resource, touched: Set<Pool>): void {
  emit(turn, { type: "resource-removed", resource: name });
  touched.add(pool);
  for (const other of turn.state.pools.values()) {
    const shelf = other.buckets.get(name);
    if (shelf === undefined) continue;
    for (const orphan of [...shelf.idle]) {
      emit(turn, { type: "resource-changed", resource: orphan.name, state: dirtyState });
      touched.add(other);
    }
  }
}
