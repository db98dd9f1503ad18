/**
 * What a replay still tells that is far from the record: a value under which requests would wait less even if
 * its own error were as large.
 */
import type { ReplayedPart } from "../../../src/api/history-schemas.ts";
import { startedWithin } from "../../../src/api/started-within.ts";
import { apart, type Conclusion, withinWords } from "./what-if-conclusion.ts";
import { type AnswerRow, fewerWords } from "./what-if-words.ts";

/** The value nearest to today's that is clearly better, and what it would give. */
export function roughConclusion(rows: readonly AnswerRow[], recorded: ReplayedPart): Conclusion {
  const at = rows.findIndex(({ isToday }) => isToday);
  const today = rows[at];
  const clear = rows
    .map((row, index) => ({ row, distance: Math.abs(index - at) }))
    .filter(({ row }) => today !== undefined && isClear(row.part, { recorded, today: today.part }))
    .toSorted((a, b) => a.distance - b.distance)[0]?.row;
  if (today === undefined || clear === undefined) return none;
  const within = withinWords(startedWithin(clear.part, "p90") ?? 0);
  const was = startedWithin(recorded, "p90");
  const now = was === null ? fewerWords(recorded) : withinWords(was);
  return {
    lead: `Only roughly: ${clear.label} is clearly better${apart(clear, today)}: 9 in 10 start ${within}, recorded: ${now}.`,
    rest: ["The replay is too far from the record to compare the others."],
  };
}

const none: Conclusion = {
  lead: "No answer: this replay does not match the record.",
  rest: [],
};

interface Now {
  readonly recorded: ReplayedPart;
  readonly today: ReplayedPart;
}

/** Below this part of the claims, 9 in 10 have not started. */
const enough = 0.9;

/** Where only one of the two has a wait, nobody knows how far they are apart: twice, at least. */
const unknownFactor = 2;

/** Whether 9 in 10 start sooner than in the record and in its replay, by more than these two differ. */
function isClear(part: ReplayedPart, { recorded, today }: Now): boolean {
  const wait = startedWithin(part, "p90");
  if (wait === null) return false;
  const known = [recorded, today].flatMap((one) => startedWithin(one, "p90") ?? []);
  if (known.length === 0) return startsEnough(part, { recorded, today });
  const least = Math.min(...known);
  const factor = known.length === 1 ? unknownFactor : Math.max(...known) / Math.max(1, least);
  return wait * factor * factor < least;
}

/** Whether 9 in 10 would start even if this replay were as many claims off as today's. */
function startsEnough({ starts }: ReplayedPart, { recorded, today }: Now): boolean {
  if (starts === undefined || recorded.starts === undefined || today.starts === undefined) {
    return false;
  }
  const off = Math.abs(recorded.starts.started - today.starts.started);
  return starts.started - off >= enough * starts.claims;
}
