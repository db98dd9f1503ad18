/** Nobody has to look at a shorter wait. */
const longWaitMs = 300_000;
/** The same while no hold of the pool is known. */
const longWaitUnknownMs = 600_000;

/** A wait is too long from here on: longer than the mean hold, and than five minutes. */
export function longWaitFrom(meanHoldMs: number | null): number {
  return Math.max(longWaitMs, meanHoldMs ?? longWaitUnknownMs);
}
