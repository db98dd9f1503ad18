/** What is there for a request: at all, and at its rank. Gates are another question (`gates`). */

import { isAhead, type Rank } from "../model/rank.ts";
import { idleCount, isShared, type Need, type Place, type Request } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { canPlace } from "../shared/place.ts";
import { isForOnePool, isSamePlace } from "./alternatives.ts";

/**
 * How many requests that cannot go yet are looked past for one that can. It bounds what a decision
 * costs where thousands wait for several pools at once. A request further back waits its turn.
 */
export const overtakenMax = 100;

/** Whether it is there at all, regardless of the queue. */
export function isPresent(need: Need, rank: Rank): boolean {
  if (need.sharing === "shared") return canPlace(need, rank);
  return need.count <= idleCount(need.pool, need.state);
}

/** The same in words, for the reason why it is not lent all the same. */
export function presentText(need: Need): string {
  const { pool, state } = need;
  if (need.sharing === "shared") return `${pool.name} has room`;
  return `${idleCount(pool, state)} of ${pool.size} ${pool.name} ${state}`;
}

/** Whether a need is there for this rank, whatever the gates say. */
export function isAvailable(need: Need, rank: Rank, now: Instant): boolean {
  if (need.sharing === "shared") return canPlace(need, rank);
  return need.count <= availableTo(need, rank, now);
}

/** How many are idle and not kept for requests ahead of this rank. */
export function availableTo(place: Place, rank: Rank, now: Instant): number {
  const bucket = place.pool.buckets.get(place.state);
  if (bucket === undefined) return 0;
  let available = bucket.idle.size;
  if (available === 0 || bucket.queue.size === 0) return available;
  let looked = 0;
  for (const ahead of bucket.queue) {
    if (!isAhead(ahead, rank)) break;
    if (looked === overtakenMax) return 0;
    looked += 1;
    available -= keptFor(ahead, bucket, now);
    if (available <= 0) return 0;
  }
  return available;
}

/** How many a waiting request keeps from all behind it. */
export function keptFor(request: Request, place: Place, now: Instant): number {
  if (isShared(place.pool)) return 0;
  if (isForOnePool(request)) return Number.POSITIVE_INFINITY;
  if (now - request.queuedAt < place.pool.policy.patienceMs) return 0;
  return countAt(request, place);
}

export function countAt(request: Request, place: Place): number {
  return Math.max(0, ...request.alternatives.map((needs) => countIn(needs, place)));
}

export function countIn(needs: readonly Need[], place: Place): number {
  return needs.find((need) => isSamePlace(need, place))?.count ?? 0;
}
