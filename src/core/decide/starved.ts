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
import { claimsKey, heldOf, type Space, starvesAfterMs } from "../model/space.ts";
import { StarvingSpaces } from "../model/starving-spaces.ts";
import { type Pool, type Queue, queueAt, type Request } from "../model/state.ts";
import { after, earliest, type Instant, never } from "../model/time.ts";
import { isForOnePool } from "../queue/needs.ts";
import { emit, type Turn } from "./turn.ts";

/** Of each space and pool, so many waiting requests are looked at. Most of them are alike. */
const searchedMax = 50;

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
  const starved: Request[] = [];
  // Those that are left are looked at in the next decision. Those that are starved longer are ahead of them.
  for (; turn.starvedLeft > 0; turn.starvedLeft--) {
    const space = starving.takeDue(now);
    if (space === undefined) break;
    const { due, nextAt } = starvedOf(space, pool, queue, now);
    starved.push(...due);
    if (nextAt !== never) starving.add(space, nextAt);
  }
  for (const { id, priority } of starved.sort((a, b) => a.order - b.order)) {
    const starvedIn = { starved: true, pool: pool.name } as const;
    emit(turn, { type: "priority-changed", id, priority, aged: true, ...starvedIn });
  }
}

function allIn(queue: Queue): StarvingSpaces {
  const all = new StarvingSpaces();
  for (const space of queue.spaces()) if (space !== null) all.add(space, -never as Instant);
  return all;
}

interface Starved {
  readonly due: readonly Request[];
  /** When another one may starve; never: not before something changes. */
  readonly nextAt: Instant;
}

/**
 * The first request for this pool alone that is starved, and the first one over several pools. None
 * while the space holds something of the pool: when that ends, the space is looked at again.
 */
function starvedOf(space: Space, pool: Pool, queue: Queue, now: Instant): Starved {
  const due = new Map<boolean, Request>();
  let nextAt: Instant = never;
  let searched = 0;
  if (heldOf(space, pool, claimsKey) > 0) return { due: [], nextAt };
  for (const { isStarved, waiters } of queue.linesOf(space)) {
    if (isStarved) continue;
    for (const request of waiters) {
      if (searched++ === searchedMax) {
        const later = after(now, starvesAfterMs(pool.policy));
        return { due: [...due.values()], nextAt: earliest(nextAt, later) };
      }
      const isAlone = isForOnePool(request);
      if (due.has(isAlone)) continue;
      const at = starvesAt(request, space, isAlone);
      if (at <= now) due.set(isAlone, request);
      else nextAt = earliest(nextAt, at);
    }
  }
  return { due: [...due.values()], nextAt };
}

/** `never` while its space holds something of one of its pools. */
function starvesAt({ needs, queuedAt }: Request, space: Space, isAlone: boolean): Instant {
  let latest = queuedAt;
  for (const { pool } of needs) {
    if (heldOf(space, pool, claimsKey) > 0) return never;
    const { alone, several } = space.turns.get(pool) ?? {};
    const since = Math.max(queuedAt, (isAlone ? alone : several) ?? queuedAt) as Instant;
    latest = Math.max(latest, after(since, starvesAfterMs(pool.policy))) as Instant;
  }
  return latest;
}
