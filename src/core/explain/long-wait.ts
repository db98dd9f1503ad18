/** Nobody has to look at a shorter wait. */
const longWaitMs = 300_000;
/** The same while no hold of the pool is known. */
const longWaitUnknownMs = 600_000;

/**
 * A wait is too long from here on: longer than nearly all recorded waits and than five minutes. While
 * too few waits are recorded, the mean hold stands for what is usual.
 */
export function longWaitFrom(meanHoldMs: number | null, usualWaitMs: number | null = null): number {
  return Math.max(longWaitMs, usualWaitMs ?? meanHoldMs ?? longWaitUnknownMs);
}
