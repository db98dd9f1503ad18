/** When something next has to be decided because time has passed. */
import { opensAt } from "../gates/gates.ts";
import { ancestors } from "../gates/limits.ts";
import { ruleOf } from "../model/lifecycle.ts";
import { type Due, isHeld, type Pool, type Resource, type State } from "../model/state.ts";
import { after, earliest, type Instant, never } from "../model/time.ts";
import { edit } from "./edit.ts";

/** How long a resource that is to be deleted is left for others to clean up, before Berth does it. */
const deletedAfterMs = 30_000;

/** Sets a resource's deadline, if it has any. */
export function scheduleResource(state: State, resource: Resource): void {
  schedule(state, resource, isHeld(resource) ? never : resourceDueAt(resource));
}

function resourceDueAt(resource: Resource): Instant {
  const { dynamic, leaving, restsUntil, expiresAt } = resource;
  if (!dynamic) return restsUntil;
  if (ruleOf(resource.state).deadline === "deletion") {
    return after(resource.changedAt, deletedAfterMs);
  }
  return leaving ? restsUntil : earliest(restsUntil, expiresAt);
}

/**
 * Sets when a pool is next looked at because a gate may have opened by then. What is due already
 * stays due until it is attended to: a command that came before the tick must not delay it.
 */
export function schedulePool(state: State, pool: Pool, now: Instant): void {
  if (!isDue(pool, now)) schedule(state, pool, opensAt(pool, now));
}

/** The same for a pool and for all above it, whose paces it keeps as well. */
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

export function schedule(state: State, due: Due, at: Instant): void {
  if (Number.isNaN(at)) throw new Error(`Cannot schedule a ${due.kind}: its time is not a number`);
  if (at === never) edit(state.due).clear(due);
  else edit(state.due).set(due, at);
}
