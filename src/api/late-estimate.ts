/** Whether a request waits longer than was estimated, the same on the page and in `berth explain`. */
import type { WaitingRequest } from "./schemas.ts";

/** A request that has just come has no estimate that could have passed. */
const justCameSeconds = 10;

type Estimated = Pick<WaitingRequest, "estimate" | "queuedAt" | "waitedSeconds">;

/** Compared with the first estimate: the one of now moves on as long as the request waits. */
export function isLaterThanEstimated(request: Estimated): boolean {
  const { estimate, queuedAt, waitedSeconds } = request;
  if (estimate?.first === undefined) return isOverdue(request);
  return Date.parse(queuedAt) + waitedSeconds * 1_000 > Date.parse(estimate.first.p90At);
}

/**
 * Whether even the estimate of now is over. One from rules alone is exact: its end is the next moment,
 * and not a missed one.
 */
export function isOverdue({ estimate, waitedSeconds }: Estimated): boolean {
  if (estimate === null || estimate.exact) return false;
  return estimate.p90Seconds < 1 && waitedSeconds > justCameSeconds;
}
