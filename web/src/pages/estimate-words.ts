/** When a request starts, in a word or two. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { roughDuration } from "../../../src/core/model/time.ts";
import { grouped } from "../parts/numbers.ts";

type Estimate = Pick<NonNullable<WaitingRequest["estimate"]>, "p50Seconds" | "exact">;

/** `soon`, `after #4`: the place that it has, where no time is known. */
export function afterWords(place: number): string {
  return place <= 1 ? "soon" : `after #${grouped(place - 1)}`;
}

/**
 * `in about 40s`. If the expected time is over, only the first of a queue can start now: a pace does not
 * open for all of them at once.
 */
export function startWords({ p50Seconds, exact }: Estimate, place = 1): string {
  if (p50Seconds >= 1) return `in about ${roughDuration(p50Seconds * 1_000)}`;
  // Something is still in its way, or it would have started.
  if (place <= 1) return "any moment";
  return exact ? afterWords(place) : "soon";
}

/** What stands before the words on a phone: nothing where no time follows. */
export function startLabel(
  { estimate, noEstimate }: Pick<WaitingRequest, "estimate" | "noEstimate">,
  isNew: boolean,
): string | undefined {
  if (estimate !== null || isNew) return "Starts";
  return noEstimate === "not_computed" ? undefined : "Start";
}

/** A server computes a time within this, unless it has too much to do. */
const computedWithinSeconds = 30;

type Unestimated = Pick<WaitingRequest, "noEstimate" | "waitedSeconds">;

/** What stands where a time would be, and why there is none. */
export function noEstimateWords({ noEstimate, waitedSeconds }: Unestimated): {
  words: string;
  why: string;
} {
  switch (noEstimate) {
    case "not_computed":
      if (waitedSeconds > computedWithinSeconds) {
        return { words: "no estimate yet", why: "The server has not come to compute one" };
      }
      return { words: "being computed", why: "The server has not computed a time for it yet" };
    case "too_few_holds":
      return {
        words: "unknown: too few holds recorded",
        why: "Fewer than 10 holds of its pool are recorded",
      };
    case "admission":
      return {
        words: "unknown: the capacity check decides",
        why: "Nobody knows when the admission check of its pool finds capacity",
      };
    case "no_end_known":
      return {
        words: "unknown: what it waits for has no known end",
        why: "No end is known of what it waits for, such as a repair",
      };
    default:
      return { words: "unknown so far", why: "The server does not say why" };
  }
}
