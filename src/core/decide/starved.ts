/**
 * No space starves. Within a priority the space with the lowest share goes first, and a share counts
 * what is held of all pools. So a space that holds much of one pool could wait in another one for as
 * long as others ask there, above all where starts are scarce and not resources. A request of a
 * space that has got nothing of its pools for their patience, and holds nothing of them, goes ahead
 * of the shares (`0044-no-space-starves.md`).
 *
 * That matters only when something can be granted, or when a newcomer asks, so it is decided then
 * and needs no deadline.
 */
import { freeState } from "../model/lifecycle.ts";
import { claimsKey, heldOf, type Space } from "../model/space.ts";
import { StarvingSpaces } from "../model/starving-spaces.ts";
import { type Pool, type Queue, queueAt, type Request } from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { isForOnePool } from "../queue/needs.ts";
import { emit, type Turn } from "./turn.ts";

/** Of each space and pool, so many waiting requests are looked at. Most of them are alike. */
const searchedMax = 10;

/** `newcomer`: the space of a request that is not in the queue, or null if it has none. */
export function helpStarved(turn: Turn, pool: Pool, newcomer?: Space | null): void {
  const { now, state } = turn;
  if (pool.waiting === 0) return;
  const queue = queueAt({ pool, state: freeState });
  const isNew = newcomer === null || (newcomer && !state.spaces.has(newcomer.name));
  // Requests that came before the server knew spaces have none.
  if (state.spaces.size + Number(isNew === true) < 2 && !queue.isShared) return;
  pool.cache.starving ??= allIn(queue);
  const { starving } = pool.cache;
  const helped: Request[] = [];
  for (let space = starving.takeDue(now); space !== undefined; space = starving.takeDue(now)) {
    const next = nextStarved(space, pool, queue, now);
    if (next === undefined) continue;
    if (next.at <= now) helped.push(next.request);
    else starving.add(space, next.at);
  }
  for (const { id, priority } of helped.sort((a, b) => a.order - b.order)) {
    const starved = { starved: true, pool: pool.name } as const;
    emit(turn, { type: "priority-changed", id, priority, aged: true, ...starved });
  }
}

function allIn(queue: Queue): StarvingSpaces {
  const all = new StarvingSpaces();
  for (const space of queue.spaces()) if (space !== null) all.add(space, -never as Instant);
  return all;
}

interface Starved {
  readonly request: Request;
  readonly at: Instant;
}

/**
 * The first request of the space that is starved now, or the one that is next. None while the space
 * holds something of the pool, or while one of its requests goes ahead already: when that ends, the
 * space is looked at again. One over several pools may wait for another pool, so one for this pool
 * alone may go ahead beside it.
 */
function nextStarved(space: Space, pool: Pool, queue: Queue, now: Instant): Starved | undefined {
  if (heldOf(space, pool, claimsKey) > 0) return undefined;
  const lines = queue.linesOf(space);
  const ahead = new Set<boolean>();
  for (const { isStarved, waiters } of lines) {
    if (isStarved) for (const request of waiters) ahead.add(isForOnePool(request));
  }
  if (ahead.size === 2) return undefined;
  let next: Starved | undefined;
  let searched = 0;
  for (const { isStarved, waiters } of lines) {
    if (isStarved) continue;
    for (const request of waiters) {
      if (searched++ === searchedMax) return next;
      if (ahead.has(isForOnePool(request))) continue;
      const at = starvesAt(request, space);
      if (at <= now) return { request, at };
      if (at !== never && (next === undefined || at < next.at)) next = { request, at };
    }
  }
  return next;
}

/** `never` while its space holds something of one of its pools. */
function starvesAt({ needs, queuedAt }: Request, space: Space): Instant {
  let latest = queuedAt;
  for (const { pool } of needs) {
    if (heldOf(space, pool, claimsKey) > 0) return never;
    const since = Math.max(queuedAt, space.fedAt.get(pool) ?? queuedAt) as Instant;
    latest = Math.max(latest, after(since, pool.policy.patienceMs)) as Instant;
  }
  return latest;
}
