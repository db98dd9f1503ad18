/** Keeps when spaces may starve (`decide/starved.ts`). */
import { freeState } from "../model/lifecycle.ts";
import type { Space } from "../model/space.ts";
import type { Bucket, Pool, Request } from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { edit } from "./edit.ts";

/** Adds a request to the queue of a bucket. */
export function enterQueue({ pool, state, queue }: Bucket, request: Request): void {
  edit(queue).add(request);
  const { space, queuedAt } = request;
  if (state === freeState && space !== null) mayStarve(space, pool, queuedAt);
}

/** Removes a request from the queue of a bucket. */
export function leaveQueue({ pool, state, queue }: Bucket, request: Request): void {
  edit(queue).remove(request);
  const { starving } = pool.cache;
  if (starving === null || state !== freeState || request.space === null) return;
  if (queue.linesOf(request.space).length === 0) starving.delete(request.space);
}

function mayStarve(space: Space, { policy, cache }: Pool, since: Instant): void {
  cache.starving?.add(space, after(since, policy.patienceMs));
}

/** The space holds nothing of some pool any more, or none of its requests goes ahead somewhere. */
export function mayStarveAgain(space: Space): void {
  for (const { queue, head } of space.lines) {
    if (queue.pool !== null) mayStarve(space, queue.pool, head.queuedAt ?? never);
  }
}

/** The space has got something of the pool. */
export function fed(space: Space, pool: Pool, at: Instant): void {
  // Requests that come later wait since they come.
  if (space.waiting > 0) edit(space.fedAt).set(pool, at);
}
