import { Problem } from "../api/problem.ts";
import type { BerthCalls, GiveBack, Held } from "./calls.ts";
import { clientLimits } from "./limits.ts";
import { type RetryOptions, retrying } from "./pause.ts";

export type ReleaseOptions = GiveBack & Partial<RetryOptions>;

/** `gone`: it had ended before, so there was nothing left to give back. */
export type ReleaseOutcome = "released" | "gone";

/** Even where no time is left for a second try, the first one is given a chance. */
const answerMsMin = 2_000;

/** Tries until it is done or known to be gone; throws what stood in the way otherwise. */
export async function giveBackSurely(
  calls: BerthCalls,
  held: Held,
  { signal, forMs = clientLimits.releaseMs, onTrouble, ...how }: ReleaseOptions = {},
): Promise<ReleaseOutcome> {
  const options = {
    signal,
    answerMs: Math.min(clientLimits.answerMs, Math.max(forMs, answerMsMin)),
  };
  const attempt = () => calls.giveBack(held, how, options);
  try {
    await retrying(attempt, { forMs, signal, onTrouble });
    return "released";
  } catch (error) {
    if (isGone(error)) return "gone";
    throw error;
  }
}

const goneCodes: readonly string[] = ["lease_ended", "lease_not_found", "request_ended"];

/**
 * Only a server that knows its leases can say this: a bare 404 comes from a proxy whose backend
 * restarts, and would stop a job that has lost nothing.
 */
export function isGone(error: unknown): error is Problem {
  return error instanceof Problem && goneCodes.includes(error.code);
}
