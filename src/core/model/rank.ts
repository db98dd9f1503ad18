/**
 * The order of requests. Queues, grants, reservations and explanations all use it. Higher priority
 * first, then first come, first served.
 */
import { OrderedTree } from "./collections.ts";

/** The position of a request among all others, the same in every queue. */
export interface Rank {
  readonly priority: number;
  /** The arrival number: unique and growing. */
  readonly order: number;
}

/** Negative when `a` is ahead of `b`. */
export function compareRank(a: Rank, b: Rank): number {
  return b.priority - a.priority || a.order - b.order;
}

export function isAhead(a: Rank, b: Rank): boolean {
  return compareRank(a, b) < 0;
}

/** The rank of a new request: behind all others of the same priority. */
export function newcomerRank(state: { readonly order: number }, priority = 0): Rank {
  return { priority, order: state.order + 1 };
}

/** A rank that ignores the queue. */
export const aheadOfAll: Rank = { priority: Number.POSITIVE_INFINITY, order: 0 };

const behindAll: Rank = { priority: Number.NEGATIVE_INFINITY, order: Number.POSITIVE_INFINITY };

export function newQueue<Waiter extends Rank>(): OrderedTree<Waiter, Rank> {
  return new OrderedTree<Waiter, Rank>(compareRank);
}

/** The rank of the first request in a queue; for an empty queue, a rank behind all others. */
export function firstRank(queue: { at(place: number): Rank | undefined }): Rank {
  return queue.at(0) ?? behindAll;
}
