/**
 * The order of requests. Queues, grants, reservations and explanations all use it. Higher priority
 * first, then the space with the lowest share, then first come, first served.
 */
import type { Space } from "./space.ts";

/** The position of a request among all others, the same in every queue. */
export interface Rank {
  readonly priority: number;
  /** The arrival number: unique and growing. */
  readonly order: number;
  /** Null: the server knows no spaces. */
  readonly space: Space | null;
}

/** Negative when `a` is ahead of `b`, as the shares are now. */
export function compareRank(a: Rank, b: Rank): number {
  if (a.space === b.space) return compareArrival(a, b);
  const [mine, other] = [a.space?.share ?? 0, b.space?.share ?? 0];
  return b.priority - a.priority || mine - other || a.order - b.order;
}

/** The order within a space. It changes only with the priority of a request. */
export function compareArrival(a: Rank, b: Rank): number {
  return b.priority - a.priority || a.order - b.order;
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
