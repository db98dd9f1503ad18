import { Problem } from "../api/problem.ts";
import type { BerthCalls, Held, ReleaseDetails } from "./calls.ts";
import { clientLimits } from "./limits.ts";
import { type RetryOptions, retrying } from "./pause.ts";

export type ReleaseOptions = ReleaseDetails & Partial<RetryOptions>;

/** `gone`: the lease had already ended. */
export type ReleaseOutcome = "released" | "gone";

/** The first try gets at least this time, even if no time for a second try is left. */
const answerMsMin = 2_000;

/** Retries until the lease is released or known to have ended. Throws the last error otherwise. */
export async function releaseWithRetries(
  calls: BerthCalls,
  held: Held,
  { signal, forMs = clientLimits.releaseMs, onRetry, ...how }: ReleaseOptions = {},
): Promise<ReleaseOutcome> {
  const options = {
    signal,
    answerMs: Math.min(clientLimits.answerMs, Math.max(forMs, answerMsMin)),
  };
  const attempt = () => calls.releaseOnce(held, how, options);
  try {
    await retrying(attempt, { forMs, signal, onRetry });
    return "released";
  } catch (error) {
    if (hasEnded(error)) return "gone";
    throw error;
  }
}

const goneCodes: readonly string[] = ["lease_ended", "lease_not_found", "request_ended"];

/**
 * Checks the error code, not the status. A plain 404 may come from a proxy while the server restarts;
 * it must not stop a job whose lease is fine.
 */
export function hasEnded(error: unknown): error is Problem {
  return error instanceof Problem && goneCodes.includes(error.code);
}
