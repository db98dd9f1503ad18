/**
 * Resources and what is indexed by them: a pool's members, its size, how many are in which state,
 * and the buckets that grants are served from. Nothing else writes these.
 */
import { freeState, toBeDeletedState } from "../model/lifecycle.ts";
import {
  type Bucket,
  type ExclusiveClaim,
  type ExclusiveResource,
  isHeld,
  type Pool,
  type Resource,
  type SharedClaim,
  type State,
  shownState,
} from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import { countUse } from "./cohort.ts";
import { newBucket } from "./create.ts";
import { edit } from "./edit.ts";
import { charge, listIfUsable, removeShared } from "./shared.ts";

/** Makes a new resource a member of its pool. Shared with `thaw`. */
export function addMember(state: State, resource: Resource): void {
  const { pool } = resource;
  edit(state.resources).set(resource.name, resource);
  edit(pool.members).add(resource);
  count(resource, 1);
  index(resource);
}

/** Takes a resource out of its pool for good. */
export function removeMember(state: State, resource: Resource): void {
  const { pool } = resource;
  edit(state.resources).delete(resource.name);
  if (resource.sharing === "shared") removeShared(resource);
  else takeOut(resource);
  edit(pool.members).delete(resource);
  count(resource, -1);
}

/** Charges a claim to a shared resource, or takes it off. */
export function chargeClaim(claim: SharedClaim, by: 1 | -1, at: Instant): void {
  const { resource } = claim;
  count(resource, -1);
  charge(resource, claim, by);
  countUse(resource.pool, by);
  if (at > resource.changedAt) edit(resource).changedAt = at;
  count(resource, 1);
}

/** Marks a resource as one that goes as soon as nobody holds it, or takes the mark away. */
export function retire(resource: Resource, retired: boolean): void {
  count(resource, -1);
  edit(resource).retired = retired;
  count(resource, 1);
  index(resource);
}

/** Makes a resource dynamic, or one that is listed. */
export function adopt(resource: Resource, dynamic: boolean): void {
  count(resource, -1);
  edit(resource).dynamic = dynamic;
  edit(resource).leaving = dynamic && resource.state === toBeDeletedState;
  count(resource, 1);
}

type Change = Partial<
  Pick<
    Resource,
    "state" | "note" | "drained" | "labels" | "userData" | "restsUntil" | "expiresAt" | "leaving"
  >
> & { readonly claim?: ExclusiveClaim | null };

/** Changes a resource and keeps what is indexed by it: the counts and the buckets. */
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
  if (change.labels !== undefined) writable.labels = change.labels;
  if (change.userData !== undefined) writable.userData = change.userData;
  if (change.restsUntil !== undefined) writable.restsUntil = change.restsUntil;
  if (resource.restsUntil === never) writable.restsTo = freeState;
  if (change.expiresAt !== undefined) writable.expiresAt = change.expiresAt;
  if (change.leaving !== undefined) writable.leaving = change.leaving;
  if (at > resource.changedAt) writable.changedAt = at;
  // A cleaner may hold it in another state meanwhile; it is deleted all the same.
  if (resource.dynamic && resource.state === toBeDeletedState) writable.leaving = true;
  count(resource, 1);
  // A state that is set anew, even to the same, has been touched: it goes behind the others there.
  if (change.state !== undefined && resource.sharing === "exclusive") takeOut(resource);
  index(resource);
}

/** Puts a resource where grants find it, if it can be lent, and takes it from anywhere else. */
function index(resource: Resource): void {
  if (resource.sharing === "shared") return listIfUsable(resource);
  const usable =
    resource.claim === null &&
    !resource.drained &&
    !resource.retired &&
    resource.restsUntil === never;
  const bucket = usable ? bucketFor(resource.pool, resource.state) : null;
  if (resource.bucket === bucket) return;
  takeOut(resource);
  edit(resource).bucket = bucket;
  if (bucket !== null) edit(bucket.idle).push(resource);
}

function takeOut(resource: ExclusiveResource): void {
  const { bucket } = resource;
  if (bucket === null) return;
  edit(bucket.idle).remove(resource);
  edit(resource).bucket = null;
  removeIfEmpty(bucket);
}

/** The bucket, made if there is none. */
export function bucketFor(pool: Pool, state: string): Bucket {
  let bucket = pool.buckets.get(state);
  if (bucket === undefined) {
    bucket = newBucket(pool, state);
    edit(pool.buckets).set(state, bucket);
  }
  return bucket;
}

/** People may use any word as a state: those that are not used any more must not pile up. */
export function removeIfEmpty({ pool, state, idle, queue }: Bucket): void {
  // The free bucket comes and goes with every lease of a small pool; it stays.
  if (idle.size === 0 && queue.size === 0 && state !== freeState) edit(pool.buckets).delete(state);
}

/** Adds a resource to what its pool counts, or takes it out. */
function count(resource: Resource, by: 1 | -1): void {
  const pool = edit(resource.pool);
  if (!resource.retired) pool.size += by;
  if (isHeld(resource)) pool.held += by;
  if (resource.dynamic) pool.dynamic += by;
  if (resource.leaving) pool.leaving += by;
  if (resource.sharing === "exclusive" && resource.claim?.purpose === "use") {
    countUse(resource.pool, by);
  }
  countShown(resource.pool, shownState(resource), by);
}

function countShown({ shown }: Pool, state: string, by: number): void {
  const counted = (shown.get(state) ?? 0) + by;
  if (counted === 0) edit(shown).delete(state);
  else edit(shown).set(state, counted);
}
