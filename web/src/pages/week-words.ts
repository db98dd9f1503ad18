/** Why two weeks cannot be compared yet, and from when on they can. */
import { roughDuration } from "../../../src/core/model/time.ts";
import { clockMinute, dayOf } from "../parts/clock-time.ts";

const weekMs = 7 * 24 * 3_600_000;

/** `since`: where the data begins, in seconds since 1970; undefined: more than a day ago. */
export function notYetWords(since: number | undefined, nowMs: number): string {
  const at = (since ?? 0) * 1_000;
  const leftMs = at + weekMs - nowMs;
  if (leftMs <= 0) return "There is no data of the week before yet.";
  const appears = `The comparison needs more than 7 days: it appears here in ${roughDuration(leftMs)}, on ${dayOf(at + weekMs)}.`;
  return `There is data since ${dayOf(at)} ${clockMinute(at)}. ${appears}`;
}
