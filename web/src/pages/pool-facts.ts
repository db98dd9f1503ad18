/** The overview's numbers of a pool; the same as in `berth status`. */
import type { Pool } from "../../../src/api/schemas.ts";
import { grouped } from "../parts/numbers.ts";

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
  usage: (pool) => pool.held / Math.max(1, pool.total),
  size: ({ held }) => held,
  free: ({ free }) => free,
  out: outOf,
  waiting: ({ waiting }) => waiting,
  oldest: ({ oldestWaitSeconds }) => oldestWaitSeconds ?? -1,
};

/** Largest number first; equal pools, and pools without an order, by name. */
export function sortedBy(pools: readonly Pool[], sort: string): readonly Pool[] {
  const measure = orders[sort] ?? (() => 0);
  return pools.toSorted((a, b) => measure(b) - measure(a) || (a.name < b.name ? -1 : 1));
}
