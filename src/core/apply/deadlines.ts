/** When something next needs the broker's attention. */

import { descendants } from "../gates/limits.ts";
import { isPaced, opensAt } from "../gates/pace.ts";
import { windowEndsAt } from "../gates/rate.ts";
import {
  type Due,
  type Pool,
  type Resource,
  type State,
  toBeDeletedState,
} from "../model/state.ts";
import { after, earliest, type Instant, never } from "../model/time.ts";

/** A dynamic resource stays so long to be seen and cleaned up by others before Berth does it. */
export const deletedAfterMs = 30_000;

/** Sets when a resource next needs attention, if ever. */
export function scheduleResource(state: State, resource: Resource): void {
  const { dynamic, restsUntil } = resource;
  let at = restsUntil;
  if (dynamic && resource.state === toBeDeletedState)
    at = after(resource.changedAt, deletedAfterMs);
  else if (dynamic && !resource.leaving) at = earliest(restsUntil, resource.expiresAt);
  schedule(state, resource, resource.claim === null ? at : never);
}

/**
 * Sets when a pool is next to be looked at because somebody's turn may have come by then. What is due
 * already stays so until it is attended to: a command that came before the tick must not put it off.
 */
export function schedulePool(state: State, pool: Pool, now: Instant): void {
  if (isDue(pool, now)) return;
  const opens = isPaced(pool) && isWaitedFor(pool) ? opensAt(pool) : never;
  // What was kept for one that had a word from outside is anybody's when that word is void.
  const lapses = pool.waiting > 0 && pool.admission.credits > 0 ? pool.admission.until : never;
  const times = [opens, lapses, windowEndsAt(pool)].filter((at) => at > now);
  schedule(state, pool, times.reduce(earliest, never));
}

/** Somebody stands in line for it, or for what draws on it and goes by its pace as well. */
function isWaitedFor(pool: Pool): boolean {
  if (pool.waiting > 0) return true;
  for (const { waiting } of descendants(pool)) if (waiting > 0) return true;
  return false;
}

/** The same for a pool that somebody stands in line for, and for all that it draws on. */
export function scheduleUpwards(state: State, pool: Pool, now: Instant): void {
  for (let up: Pool | null = pool; up !== null; up = up.parent) schedulePool(state, up, now);
}

export function isDue({ heapIndex, dueAt }: Due, now: Instant): boolean {
  return heapIndex >= 0 && dueAt <= now;
}

/** It is being looked at. */
export function poolAttended(state: State, pool: Pool, now: Instant): void {
  state.due.clear(pool);
  schedulePool(state, pool, now);
}

export function schedule(state: State, due: Due, at: Instant): void {
  if (at === never) state.due.clear(due);
  else state.due.set(due, at);
}
