/** When something next needs the broker's attention. */

import { isPaced, opensAt } from "./pace.ts";
import { windowEndsAt } from "./rate.ts";
import { type Due, type Pool, type Resource, type State, toBeDeletedState } from "./state.ts";
import { after, earliest, type Instant, never } from "./time.ts";

/** A dynamic resource stays so long to be seen and cleaned up by others before Berth does it. */
export const deletedAfterMs = 30_000;

/** Sets when a resource next needs attention, if ever. */
export function attendLater(state: State, resource: Resource): void {
  const { dynamic, restsUntil } = resource;
  let at = restsUntil;
  if (dynamic && resource.state === toBeDeletedState)
    at = after(resource.changedAt, deletedAfterMs);
  else if (dynamic && !resource.leaving) at = earliest(restsUntil, resource.expiresAt);
  schedule(state, resource, resource.claim === null ? at : never);
}

/** Sets when a pool is next to be looked at because somebody's turn may have come by then. */
export function attendPoolLater(state: State, pool: Pool, now: Instant): void {
  const opens = pool.waiting > 0 && isPaced(pool) ? opensAt(pool) : never;
  const ends = windowEndsAt(pool);
  schedule(state, pool, earliest(opens > now ? opens : never, ends > now ? ends : never));
}

export function schedule(state: State, due: Due, at: Instant): void {
  if (at === never) state.due.clear(due);
  else state.due.set(due, at);
}
