/** The answer to a what-if in words, and how far it can be trusted. */
import type { StatsPart } from "../../../src/api/history-schemas.ts";
import { briefDuration, parseDuration, roughDuration } from "../../../src/core/model/time.ts";
import { spanText } from "../parts/clock-time.ts";
import { percentInUse } from "../parts/numbers.ts";
import { numberOf } from "./what-if-facts.ts";

export interface AnswerRow {
  readonly label: string;
  readonly part: StatsPart;
  readonly isToday: boolean;
}

/** The answer in words: from where on more is of no use, and today's value beside its neighbours. */
export function answerWords(
  rows: readonly AnswerRow[],
  { errorSeconds = 0, what = "value" }: { errorSeconds?: number; what?: string } = {},
): string {
  const today = rows.findIndex(({ isToday }) => isToday);
  const now = rows[today];
  const before = now?.part.waitSeconds?.p90;
  if (now === undefined || before === undefined) return "";
  const others = [rows[today - 1], rows[today + 1]].flatMap((row) => {
    const p90 = row?.part.waitSeconds?.p90;
    return row === undefined || p90 === undefined ? [] : [`with ${row.label}: ${briefly(p90)}`];
  });
  if (others.length === 0) return "";
  const told = `With ${now.label}, as today, 9 in 10 started within ${briefly(before)}; ${others.join(", ")}.`;
  return [enoughWords(rows, today, { errorSeconds, what }), told]
    .filter((text) => text !== "")
    .join(" ");
}

/** Waits that differ by less are the same to people. */
const samePart = 0.1;
const sameSeconds = 2;

/** The value from which on no wait is shorter, if waits become shorter at all, and how far it is from today's. */
function enoughWords(
  rows: readonly AnswerRow[],
  today: number,
  { errorSeconds, what }: { errorSeconds: number; what: string },
): string {
  const waits = rows.map(({ part }) => part.waitSeconds?.p90 ?? 0);
  const best = Math.min(...waits);
  const same = Math.max(sameSeconds, samePart * best, errorSeconds);
  const isBest = (wait: number) => wait - best <= same;
  const enough = waits.findLastIndex((wait) => !isBest(wait)) + 1;
  const label = rows[enough]?.label;
  if (enough === 0) {
    return same > errorSeconds
      ? "None of these values changes the waits."
      : `None of these values changes the waits by more than the replay is off, ${briefly(errorSeconds)}.`;
  }
  if (label === undefined) return "";
  if (enough === today) return `Today's ${label} is enough: more would not shorten the waits.`;
  const more = apart(rows, enough, today);
  const told = `9 in 10 start within ${briefly(waits[enough] ?? 0)}`;
  return enough === rows.length - 1
    ? `More helps, up to ${label}, the largest ${what} tried${more}: ${told}.`
    : `${label} would be enough${more}: ${told}, and more would not shorten the waits.`;
}

/** ` (2 more than today)`. Only whole numbers are counted: nobody counts a strategy or a duration. */
function apart(rows: readonly AnswerRow[], at: number, today: number): string {
  const difference = Number(rows[at]?.label) - Number(rows[today]?.label);
  if (!Number.isInteger(difference)) return "";
  return ` (${Math.abs(difference)} ${difference > 0 ? "more" : "fewer"} than today)`;
}

/** `Replayed: the 101 claims recorded in the 11m13s from … to …; nothing else of the last day is recorded.` */
export function replayedWords({ from, to, last, claims }: Replayed): string {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const wantedMs = parseDuration(last) ?? 0;
  const less =
    toMs - fromMs < wantedMs * almostAll
      ? `; nothing else of the ${lastWords(last)} is recorded`
      : "";
  const span = `${roughDuration(toMs - fromMs)} from ${spanText(fromMs, toMs)}`;
  return `Replayed: the ${claims} recorded in the ${span}${less}.`;
}

interface Replayed {
  readonly from: string;
  readonly to: string;
  readonly last: string;
  /** `101 claims`. */
  readonly claims: string;
}

/** The first event comes a moment after the beginning. */
const almostAll = 0.98;

/** The spans of the past that can be replayed. */
export const spans = [
  ["1h", "last hour"],
  ["24h", "last day"],
  ["7d", "last week"],
] as const;

function lastWords(last: string): string {
  return spans.find(([span]) => span === last)?.[1] ?? `last ${last}`;
}

/** How a column of the answer is written. */
export interface Measure {
  readonly show: (value: number) => string;
  /** As exact as it is shown, so that differences agree with what people read. */
  readonly round: (value: number) => number;
  readonly showChange: (change: number) => string;
  /** Whether more is worse. */
  readonly lessIsBetter?: boolean;
}

export const waits: Measure = {
  ...{ show: briefly, showChange: briefly, lessIsBetter: true },
  round: (seconds) => numberOf(briefly(seconds)),
};

export const inUse: Measure = {
  show: percentInUse,
  round: (part) => Math.round(part * 100) / 100,
  /** From 60 % to 80 % are 20 points, and not 20 %. */
  showChange: (part) => {
    const points = Math.round(part * 100);
    return points === 1 ? "1 point" : `${points} points`;
  },
};

/** Empty: what is shown is the same. */
export function changeBetween(before: number, now: number, { round, showChange }: Measure) {
  const change = round(now) - round(before);
  const text = change === 0 ? "" : showChange(Math.abs(change));
  return { isLess: change < 0, text };
}

/** Below this part of the record, the replay is as good as it. */
const goodPart = 0.1;

export interface ReplayCheck {
  /** By how much 9 in 10 waits of the replay are off; 0: it cannot be said. */
  readonly errorSeconds: number;
  readonly isGood: boolean;
  readonly text: string;
}

/** How well the replay of the pool as it is gives what was recorded. */
export function replayCheck(recorded: StatsPart, replayed: StatsPart): ReplayCheck {
  const [was, is] = [recorded.waitSeconds?.p90, replayed.waitSeconds?.p90];
  if (was === undefined || is === undefined) {
    return {
      errorSeconds: 0,
      isGood: true,
      text: "No wait was recorded that could check the replay.",
    };
  }
  const errorSeconds = Math.abs(is - was);
  const told = `as it is, 9 in 10 start within ${briefly(is)}; recorded were ${briefly(was)}`;
  if (errorSeconds <= Math.max(sameSeconds, goodPart * was)) {
    return { errorSeconds, isGood: true, text: `The replay agrees with the record: ${told}.` };
  }
  const part = was === 0 ? "" : ` (${Math.round((errorSeconds / was) * 100)} %)`;
  // As its reader would subtract it.
  const off = changeBetween(was, is, waits).text;
  const text =
    `The replay is off by ${off}${part}: ${told}. ≈ marks a difference that is no larger than ` +
    "the replay is off in that column: do not trust it. Drains, quarantines and other configurations of that time are not replayed.";
  return { errorSeconds, isGood: false, text };
}

function briefly(seconds: number): string {
  return briefDuration(seconds * 1_000);
}
