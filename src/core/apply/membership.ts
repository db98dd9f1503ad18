/**
 * Resources and what is indexed by them: a pool's members, its size, how many are in which state,
 * and the idle lists that grants are served from. Nothing else writes these.
 */
import { countUse } from "../gates/limits.ts";
import {
  type Bucket,
  bucketFor,
  busyState,
  type Claim,
  cleaningState,
  coolingState,
  dirtyState,
  freeState,
  isHeld,
  type Pool,
  quarantinedState,
  type Resource,
  removeIfEmpty,
  type State,
  shownState,
  toBeDeletedState,
} from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import { charge, clear, listIfUsable } from "../shared/capacity.ts";

/** Makes a new resource a member of its pool. Shared with `thaw`. */
export function addMember(state: State, resource: Resource): void {
  const { pool } = resource;
  state.resources.set(resource.name, resource);
  pool.members.add(resource);
  countIn(resource, 1);
  place(resource);
}

/** Takes a resource out of its pool for good. */
export function removeMember(state: State, resource: Resource): void {
  const { pool } = resource;
  state.resources.delete(resource.name);
  takeFrom(resource.bucket, resource);
  pool.members.delete(resource);
  countIn(resource, -1);
  clear(resource);
}

/** Gives somebody a share of a resource, or takes it back. */
export function chargeClaim(resource: Resource, claim: Claim, by: 1 | -1, at: Instant): void {
  const { room } = resource;
  if (room === null) throw new Error(`Cannot share ${resource.name}: it is lent whole`);
  countIn(resource, -1);
  charge(room, claim, by);
  countUse(resource.pool, by);
  if (at > resource.changedAt) resource.changedAt = at;
  countIn(resource, 1);
}

/** Marks a resource as one that goes as soon as nobody holds it, or takes the mark away. */
export function retire(resource: Resource, retired: boolean): void {
  countIn(resource, -1);
  resource.retired = retired;
  countIn(resource, 1);
  place(resource);
}

/** Makes a resource one of those that come and go, or one that is listed. */
export function adopt(resource: Resource, dynamic: boolean): void {
  countIn(resource, -1);
  resource.dynamic = dynamic;
  resource.leaving = dynamic && resource.state === toBeDeletedState;
  countIn(resource, 1);
}

type Change = Partial<
  Pick<
    Resource,
    | "claim"
    | "state"
    | "note"
    | "drained"
    | "labels"
    | "userData"
    | "restsUntil"
    | "expiresAt"
    | "leaving"
  >
>;

/** Changes a resource and keeps what is indexed by it: the counts and the shelves. */
export function put(resource: Resource, change: Change, at: Instant): void {
  countIn(resource, -1);
  if (change.claim !== undefined) resource.claim = change.claim;
  if (change.state !== undefined && change.state !== resource.state) {
    resource.state = change.state;
    resource.note = "";
  }
  if (change.note !== undefined) resource.note = change.note;
  if (change.drained !== undefined) resource.drained = change.drained;
  if (change.labels !== undefined) resource.labels = change.labels;
  if (change.userData !== undefined) resource.userData = change.userData;
  if (change.restsUntil !== undefined) resource.restsUntil = change.restsUntil;
  if (change.expiresAt !== undefined) resource.expiresAt = change.expiresAt;
  if (change.leaving !== undefined) resource.leaving = change.leaving;
  if (at > resource.changedAt) resource.changedAt = at;
  // Whoever cleans it up calls it otherwise meanwhile; it goes all the same.
  if (resource.dynamic && resource.state === toBeDeletedState) resource.leaving = true;
  countIn(resource, 1);
  // What is told its state, be it the same, has been touched: it goes behind the others there.
  if (change.state !== undefined) takeFrom(resource.bucket, resource);
  place(resource);
}

/** Puts a resource on the shelf that it belongs to, if any, and takes it from any other. */
function place(resource: Resource): void {
  if (resource.room !== null) return listIfUsable(resource.room);
  const usable =
    resource.claim === null &&
    !resource.drained &&
    !resource.retired &&
    resource.restsUntil === never;
  const shelf = usable ? bucketFor(resource.pool, resource.state) : null;
  if (resource.bucket === shelf) return;
  takeFrom(resource.bucket, resource);
  resource.bucket = shelf;
  shelf?.idle.push(resource);
}

function takeFrom(shelf: Bucket | null, resource: Resource): void {
  if (shelf === null) return;
  shelf.idle.remove(resource);
  resource.bucket = null;
  removeIfEmpty(shelf);
}

/** Adds a resource to what its pool counts, or takes it out. */
function countIn(resource: Resource, by: 1 | -1): void {
  const { pool } = resource;
  if (!resource.retired) pool.size += by;
  if (isHeld(resource)) pool.held += by;
  if (resource.claim !== null && resource.state !== cleaningState) countUse(pool, by);
  if (resource.dynamic) pool.dynamic += by;
  if (resource.leaving) pool.leaving += by;
  count(pool, shownState(resource), by);
}

function count(pool: Pool, state: string, by: number): void {
  const counted = (pool.shown.get(state) ?? 0) + by;
  if (counted === 0 && !lastingStates.has(state)) pool.shown.delete(state);
  else pool.shown.set(state, counted);
}

/** Shown with a zero once there were some, so that what watches them sees the zero. */
const lastingStates = new Set([freeState, busyState, dirtyState, quarantinedState, coolingState]);
