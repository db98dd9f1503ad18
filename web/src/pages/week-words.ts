/** Why two weeks cannot be compared yet, and from when on they can. */
import { clockMinute, dayOf } from "../parts/clock-time.ts";

const weekMs = 7 * 24 * 3_600_000;

/** `since`: where the data begins, in seconds since 1970; undefined: more than a day ago. */
export function notYetWords(since: number | undefined): string {
  if (since === undefined) return "There is no data of the week before yet.";
  const at = since * 1_000;
  const from = `From ${dayOf(at + weekMs)} on, the last 7 days are compared here with the 7 days before.`;
  return `There is data since ${dayOf(at)} ${clockMinute(at)}. ${from}`;
}
