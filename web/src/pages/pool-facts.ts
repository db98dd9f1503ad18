/** The overview's numbers of a pool; the same as in `berth status`. */
import type { Pool } from "../../../src/api/schemas.ts";
import { grouped } from "../parts/numbers.ts";

/** How many there are, are held and are free: resources, or claims within a limit. */
export interface Counts {
  readonly total: number;
  readonly held: number;
  readonly free: number;
  readonly waiting: number;
  readonly oldestWaitSeconds: number | null;
}

/** A pool that is only a limit has the counts of its limit and of the pools below it. */
export function countsOf(pool: Pool): Counts {
  const { limit } = pool;
  if (limit === undefined) return pool;
  const { used: held, limit: total, waiting, oldestWaitSeconds } = limit;
  return { total, held, free: Math.max(0, total - held), waiting, oldestWaitSeconds };
}

/** The states for the bar: a limit has only used and free claims. */
export function statesOf(pool: Pool): Pool["states"] {
  const { held, free } = countsOf(pool);
  return pool.limit === undefined ? pool.states : { busy: held, free };
}

/** Neither in use nor free: drained, dirty, being cleaned, quarantined, cooling. */
export function outOf(pool: Pool): number {
  return Math.max(0, pool.total - pool.free - pool.held);
}

/** How many of these are cooling, and so become free by themselves. Empty if there are none. */
export function coolingAside(pools: readonly Pool[]): string {
  const cooling = pools.reduce((sum, { states }) => sum + (states["cooling"] ?? 0), 0);
  return cooling === 0 ? "" : `${grouped(cooling)} cooling`;
}

const longWaitSeconds = 300;

/** A wait is too long if it exceeds the pool's mean hold time and five minutes. */
export function waitsTooLong({ oldestWaitSeconds, meanHoldSeconds }: Pool): boolean {
  if (oldestWaitSeconds === null) return false;
  return oldestWaitSeconds > Math.max(longWaitSeconds, meanHoldSeconds ?? 2 * longWaitSeconds);
}

export function hasProblem(pool: Pool): boolean {
  const { states, suspended } = pool;
  return suspended !== null || waitsTooLong(pool) || (states["quarantined"] ?? 0) > 0;
}

const orders: Readonly<Record<string, (pool: Pool) => number>> = {
  usage: (pool) => countsOf(pool).held / Math.max(1, countsOf(pool).total),
  size: (pool) => countsOf(pool).held,
  free: (pool) => countsOf(pool).free,
  out: outOf,
  waiting: (pool) => countsOf(pool).waiting,
  oldest: (pool) => countsOf(pool).oldestWaitSeconds ?? -1,
};

/** Largest number first; equal pools, and pools without an order, by name. */
export function sortedBy(pools: readonly Pool[], sort: string): readonly Pool[] {
  const measure = orders[sort] ?? (() => 0);
  return pools.toSorted((a, b) => measure(b) - measure(a) || (a.name < b.name ? -1 : 1));
}
