/**
 * Resources and what is indexed by them: a pool's members, its size, how many are in which state,
 * and the idle lists that grants are served from. Nothing else writes these.
 */
import { IdleList } from "./idle-list.ts";
import { type Pool, type Resource, type State, shownState } from "./state.ts";
import type { Instant } from "./time.ts";

/** Makes a new resource a member of its pool. Shared with `thaw`. */
export function enrol(state: State, resource: Resource): void {
  const { pool } = resource;
  state.resources.set(resource.name, resource);
  pool.members.add(resource);
  if (!resource.retired) pool.size += 1;
  count(pool, shownState(resource), 1);
  place(resource);
}

/** Takes a resource out of its pool for good. */
export function strike(state: State, resource: Resource): void {
  const { pool } = resource;
  state.resources.delete(resource.name);
  resource.list?.remove(resource);
  pool.members.delete(resource);
  if (!resource.retired) pool.size -= 1;
  count(pool, shownState(resource), -1);
}

/** Marks a resource as one that goes as soon as nobody holds it, or takes the mark away. */
export function retire(resource: Resource, retired: boolean): void {
  if (resource.retired === retired) return;
  resource.pool.size += retired ? -1 : 1;
  resource.retired = retired;
  place(resource);
}

type Change = Partial<
  Pick<Resource, "claim" | "state" | "note" | "drained" | "labels" | "userData">
>;

/** Changes a resource and keeps what is indexed by it: the counts and the idle lists. */
export function put(resource: Resource, change: Change, at: Instant): void {
  const before = shownState(resource);
  if (change.claim !== undefined) resource.claim = change.claim;
  if (change.state !== undefined && change.state !== resource.state) {
    resource.state = change.state;
    resource.note = "";
  }
  if (change.note !== undefined) resource.note = change.note;
  if (change.drained !== undefined) resource.drained = change.drained;
  if (change.labels !== undefined) resource.labels = change.labels;
  if (change.userData !== undefined) resource.userData = change.userData;
  if (at > resource.changedAt) resource.changedAt = at;
  const now = shownState(resource);
  if (now !== before) {
    count(resource.pool, before, -1);
    count(resource.pool, now, 1);
  }
  place(resource);
}

/** Puts a resource into the idle list that it belongs to, if any, and out of any other. */
function place(resource: Resource): void {
  const usable = resource.claim === null && !resource.drained && !resource.retired;
  const list = usable ? idleList(resource.pool, resource.state) : null;
  if (resource.list === list) return;
  resource.list?.remove(resource);
  list?.push(resource);
}

function idleList(pool: Pool, state: string): IdleList<Resource> {
  let list = pool.idle.get(state);
  if (list === undefined) {
    list = new IdleList();
    pool.idle.set(state, list);
  }
  return list;
}

function count(pool: Pool, state: string, by: number): void {
  pool.shown.set(state, (pool.shown.get(state) ?? 0) + by);
}
