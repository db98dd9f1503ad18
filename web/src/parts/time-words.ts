/** Times in words, where the words need a rule of their own. */
import { briefDuration, roughDuration } from "../../../src/core/model/time.ts";

/** `now` also for what would round to no second. */
export function leftText(leftMs: number): string {
  return Math.round(leftMs / 1_000) <= 0 ? "now" : roughDuration(leftMs);
}

const wholeFromSeconds = 5;

/** The usual time beside one that still runs: in whole seconds like that, unless it is short. */
export function usualTime(seconds: number): string {
  return (seconds < wholeFromSeconds ? briefDuration : roughDuration)(seconds * 1_000);
}
