/** Why two weeks cannot be compared yet, and from when on they can. */
import { roughDuration } from "../../../src/core/model/time.ts";
import { clockMinute, dayOf } from "../parts/clock-time.ts";

const weekMs = 7 * 24 * 3_600_000;

/** `since`: where the data begins, in seconds since 1970. */
export function notYetWords(since: number, nowMs: number): string {
  const at = since * 1_000;
  const leftMs = at + weekMs - nowMs;
  const when =
    leftMs <= 0 ? "within a few hours" : `in ${roughDuration(leftMs)}, on ${dayOf(at + weekMs)}`;
  const appears = `The comparison needs more than 7 days: it appears here ${when}.`;
  return `There is data since ${dayOf(at)} ${clockMinute(at)}. ${appears}`;
}
