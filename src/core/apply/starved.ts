/** Keeps when spaces may starve (`decide/starved.ts`). */
import { freeState } from "../model/lifecycle.ts";
import { type Space, starvesAfterMs, type Turns } from "../model/space.ts";
import { type Bucket, type Pool, queueAt, type Request } from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { isForOnePool } from "../queue/needs.ts";
import { edit } from "./edit.ts";
import { bucketFor } from "./indexes.ts";

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

/** Queues are sorted by rank, so the request leaves them while its rank changes. */
export function rerank(request: Request, change: () => void): void {
  const buckets = request.inLine
    ? request.needs.map((need) => bucketFor(need.pool, need.state))
    : [];
  for (const bucket of buckets) leaveQueue(bucket, request);
  change();
  for (const bucket of buckets) enterQueue(bucket, request);
}

function mayStarve(space: Space, { policy, cache }: Pool, since: Instant): void {
  cache.starving?.add(space, after(since, starvesAfterMs(policy)));
}

/** The space holds nothing of some pool any more, or a request that went ahead has left. */
export function mayStarveAgain(space: Space): void {
  for (const { queue, head } of space.lines) {
    if (queue.pool !== null) mayStarve(space, queue.pool, head.queuedAt ?? never);
  }
}

/** A request of a starved space goes ahead: that is the turn of its space in each of its pools. */
export function wentAhead(request: Request, at: Instant): void {
  const { space, needs } = request;
  if (space === null) return;
  const turn = { [kindOf(request)]: at };
  for (const { pool } of needs) {
    edit(space.turns).set(pool, { ...space.turns.get(pool), ...turn });
  }
}

/**
 * A request that went ahead leaves its queues without a grant, so another of its space may take its
 * place. It gives back its own turns only. A grant is not among them: after one nobody who needs the
 * pool goes ahead (`fed`). That is not so of a request that needs another state than free there, so it
 * gives back nothing of such a pool.
 */
export function leftAhead(request: Request): void {
  const { space, needs } = request;
  if (space === null) return;
  const kind = kindOf(request);
  for (const { pool, state } of needs) {
    if (state !== freeState) continue;
    const { [kind]: _own, ...others } = space.turns.get(pool) ?? {};
    if (Object.keys(others).length === 0) edit(space.turns).delete(pool);
    else edit(space.turns).set(pool, others);
  }
  mayStarveAgain(space);
}

function kindOf(request: Request): keyof Turns {
  return isForOnePool(request) ? "alone" : "several";
}

/** The space has got something of the pool. Its other requests there go ahead no more. */
export function fed(space: Space, pool: Pool, at: Instant): void {
  if (space.waiting === 0) return; // Requests that come later wait since they come.
  edit(space.turns).set(pool, { alone: at, several: at });
  const lines = queueAt({ pool, state: freeState }).linesOf(space);
  const ahead = lines.filter(({ isStarved }) => isStarved).flatMap(({ waiters }) => [...waiters]);
  for (const request of ahead) {
    rerank(request, () => {
      edit(request).isStarved = false;
    });
    request.cache.evaluated = false;
  }
}
