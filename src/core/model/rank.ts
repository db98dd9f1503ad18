/**
 * The order of requests. Queues, grants, reservations and explanations all use it. Higher priority
 * first, then starved requests, then the space with the lowest share, then first come, first served.
 */
import type { Space } from "./space.ts";
import type { Instant } from "./time.ts";

/** The position of a request among all others, the same in every queue. */
export interface Rank {
  readonly priority: number;
  /** The arrival number: unique and growing. */
  readonly order: number;
  /** Null: the server knows no spaces. */
  readonly space: Space | null;
  /**
   * Its space has got nothing of a pool for the patience of that pool, so shares do not count for it.
   */
  readonly isStarved?: boolean;
  /** When it came. Only requests have it. */
  readonly queuedAt?: Instant;
}

/** The share that counts for a rank. */
export function shareOf({ space, isStarved }: Pick<Rank, "space" | "isStarved">): number {
  if (isStarved === true) return aheadOfShares;
  return space === null ? 0 : space.share;
}

const aheadOfShares = -1;

/** Negative when `a` is ahead of `b`, as the shares are now. */
export function compareRank(a: Rank, b: Rank): number {
  if (a.space === b.space) return compareArrival(a, b);
  return b.priority - a.priority || shareOf(a) - shareOf(b) || a.order - b.order;
}

/** The order within a space. It changes only when a request gets another priority or is starved. */
export function compareArrival(a: Rank, b: Rank): number {
  const byStarved = Number(b.isStarved === true) - Number(a.isStarved === true);
  return b.priority - a.priority || byStarved || a.order - b.order;
}

export function isAhead(a: Rank, b: Rank): boolean {
  return compareRank(a, b) < 0;
}

/** The rank of a new request: behind all others of its space with the same priority. */
export function newcomerRank(
  state: { readonly order: number },
  space: Space | null,
  priority = 0,
): Rank {
  return { priority, order: state.order + 1, space };
}

/** A rank that ignores the queue. */
export const aheadOfAll: Rank = { priority: Number.POSITIVE_INFINITY, order: 0, space: null };

export const behindAll: Rank = {
  priority: Number.NEGATIVE_INFINITY,
  order: Number.POSITIVE_INFINITY,
  space: null,
};

/** The rank of the first request in a queue; for an empty queue, a rank behind all others. */
export function firstRank(queue: { at(place: number): Rank | undefined }): Rank {
  return queue.at(0) ?? behindAll;
}
