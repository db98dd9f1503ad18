/** Why two weeks cannot be compared yet, and from when on they can. */
import { roughDuration } from "../../../src/core/model/time.ts";
import { clockMinute, dayOf } from "../parts/clock-time.ts";

const weekMs = 7 * 24 * 3_600_000;

/** `in 6d, on Tue 24 Nov`: when two weeks can be compared. */
function whenWords(since: number, nowMs: number): string {
  const at = since * 1_000 + weekMs;
  const leftMs = at - nowMs;
  return leftMs <= 0 ? "within a few hours" : `in ${roughDuration(leftMs)}, on ${dayOf(at)}`;
}

/** The same before anybody asks. */
export function possibleWords(since: number, nowMs: number): string {
  return `Compare this week with the week before: possible ${whenWords(since, nowMs)}`;
}

/** `since`: where the data begins, in seconds since 1970. */
export function notYetWords(since: number, nowMs: number): string {
  const at = since * 1_000;
  const appears = `The comparison needs more than 7 days: it appears here ${whenWords(since, nowMs)}.`;
  return `There is data since ${dayOf(at)} ${clockMinute(at)}. ${appears}`;
}
