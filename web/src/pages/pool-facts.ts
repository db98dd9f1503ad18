/** What the overview makes of a pool; the same counts as `berth status`. */
import type { Pool } from "../../../src/api/schemas.ts";
import { grouped } from "../parts/numbers.ts";

/** Neither lent nor to be had: drained, dirty, quarantined, resting. */
export function outOf(pool: Pool): number {
  return Math.max(0, pool.total - pool.free - pool.held);
}

/** Of these, those that come back by themselves once they have rested; nothing where there are none. */
export function restingAside(pools: readonly Pool[]): string {
  const resting = pools.reduce((sum, { states }) => sum + (states["cooling"] ?? 0), 0);
  return resting === 0 ? "" : `${grouped(resting)} resting`;
}

const longWaitSeconds = 300;

/** A wait is worth a second look once it is longer than the pool's usual hold, and not just a moment. */
export function waitsTooLong({ oldestWaitSeconds, meanHoldSeconds }: Pool): boolean {
  if (oldestWaitSeconds === null) return false;
  return oldestWaitSeconds > Math.max(longWaitSeconds, meanHoldSeconds ?? 2 * longWaitSeconds);
}

export function isInTrouble(pool: Pool): boolean {
  return waitsTooLong(pool) || (pool.states["quarantined"] ?? 0) > 0;
}

const orders: Readonly<Record<string, (pool: Pool) => number>> = {
  usage: (pool) => pool.held / Math.max(1, pool.total),
  size: ({ held }) => held,
  free: ({ free }) => free,
  out: outOf,
  waiting: ({ waiting }) => waiting,
  oldest: ({ oldestWaitSeconds }) => oldestWaitSeconds ?? -1,
};

/** The most first; by name unless told otherwise, and between equals. */
export function sortedBy(pools: readonly Pool[], sort: string): readonly Pool[] {
  const measure = orders[sort] ?? (() => 0);
  return pools.toSorted((a, b) => measure(b) - measure(a) || (a.name < b.name ? -1 : 1));
}
