/** The numbers of a pool in one line, the same on the page and in `berth status`. */
import type { Pool } from "./schemas.ts";

/** How many there are, are held and are free: resources, claims within a limit, or amounts. */
export interface Counts {
  readonly total: number;
  readonly held: number;
  readonly free: number;
  readonly waiting: number;
  readonly oldestWaitSeconds: number | null;
  /** What is counted, if not resources: the dimension of a shared pool. */
  readonly unit: string;
}

/**
 * A pool that is only a limit has the counts of its limit and of the pools below it; a shared pool
 * those of the dimension that it has least of.
 */
export function countsOf(pool: Pool): Counts {
  const { limit } = pool;
  const fullest = fullestOf(pool);
  if (fullest !== undefined) {
    const { dimension: unit, used: held, capacity: total } = fullest;
    return { ...pool, unit, total, held, free: Math.max(0, total - held) };
  }
  if (limit === undefined) return { ...pool, unit: "" };
  const { used: held, limit: total, waiting, oldestWaitSeconds } = limit;
  return { total, held, free: Math.max(0, total - held), waiting, oldestWaitSeconds, unit: "" };
}

/** The dimension of a shared pool with the largest part in use. */
function fullestOf({ usage = [] }: Pool) {
  const part = ({ used, capacity }: (typeof usage)[number]) => used / Math.max(1e-9, capacity);
  return usage.toSorted((a, b) => part(b) - part(a))[0];
}
