/** Whether a request waits longer than was estimated, the same on the page and in `berth explain`. */
import type { WaitingRequest } from "./schemas.ts";

/** A request that has just come has no estimate that could have passed. */
const justCameSeconds = 10;

/** An estimate from rules alone is exact: its end is the next moment, and not a missed one. */
export function isLaterThanEstimated({
  estimate,
  waitedSeconds,
}: Pick<WaitingRequest, "estimate" | "waitedSeconds">): boolean {
  if (estimate === null || estimate.exact) return false;
  return estimate.p90Seconds < 1 && waitedSeconds > justCameSeconds;
}
