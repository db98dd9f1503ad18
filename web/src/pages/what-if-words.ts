/** The answer to a what-if in words, and how far it can be trusted. */
import type { ReplayedPart } from "../../../src/api/history-schemas.ts";
import { startedWithin } from "../../../src/api/started-within.ts";
import { briefDuration, parseDuration, roughDuration } from "../../../src/core/model/time.ts";
import { spanText } from "../parts/clock-time.ts";
import { grouped, percentInUse } from "../parts/numbers.ts";
import { numberOf } from "./what-if-facts.ts";

export interface AnswerRow {
  readonly label: string;
  readonly part: ReplayedPart;
  readonly isToday: boolean;
}

/**
 * The rows with today's value among them, in its place, also if nobody asked for it: what differences are from is printed,
 * and beside its neighbours. Undefined as today's value: none is in force.
 */
export function withToday(
  rows: readonly AnswerRow[],
  unchanged: ReplayedPart,
  today: string | undefined,
): readonly AnswerRow[] {
  if (today === undefined || rows.some(({ isToday }) => isToday)) return rows;
  const row = { label: today, part: unchanged, isToday: true };
  const at = rows.findIndex(({ label }) => numberOf(label) > numberOf(today));
  return at === -1 ? [...rows, row] : rows.toSpliced(at, 0, row);
}

interface Told {
  /** By how much the replay is off. */
  readonly errorSeconds: number;
  /** What the values are. */
  readonly what: string;
}

/** The answer in words: from where on more is of no use, and today's value beside its neighbours. */
export function answerWords(
  rows: readonly AnswerRow[],
  { errorSeconds = 0, what = "value" }: Partial<Told> = {},
): string {
  const today = rows.findIndex(({ isToday }) => isToday);
  const now = rows[today];
  if (now === undefined || rows.every(({ part }) => waitOf(part) === null && !isKnown(part)))
    return "";
  const others = [rows[today - 1], rows[today + 1]].flatMap((row) => {
    return row === undefined ? [] : [`with ${row.label}: ${withinWords(row.part)}`];
  });
  if (others.length === 0) return "";
  const before = waitOf(now.part);
  const started =
    before === null
      ? `fewer than 9 in 10 start before the end of the record${startedOf(now.part)}`
      : `9 in 10 started within ${briefly(before)}`;
  const told = `With ${now.label}, as today, ${started}; ${others.join(", ")}.`;
  return [enoughWords(rows, today, { errorSeconds, what }), told]
    .filter((text) => text !== "")
    .join(" ");
}

function waitOf(part: ReplayedPart): number | null {
  return startedWithin(part, "p90");
}

/** Whether there were claims, so that a missing wait says that too few of them started. */
function isKnown({ starts }: ReplayedPart): boolean {
  return (starts?.claims ?? 0) > 0;
}

function withinWords(part: ReplayedPart): string {
  const wait = waitOf(part);
  return wait === null ? `${notBefore} of the record${startedOf(part)}` : briefly(wait);
}

/** Written in a table where fewer claims started than the percentile needs. */
export const notBefore = "not before the end";

function startedOf({ starts }: ReplayedPart): string {
  return starts === undefined ? "" : ` (${startedWords(starts)})`;
}

/** `106 of 1,438`. */
export function startedWords({
  started,
  claims,
}: Pick<NonNullable<ReplayedPart["starts"]>, "started" | "claims">): string {
  return `${grouped(started)} of ${grouped(claims)}`;
}

/** Waits that differ by less are the same to people. */
const samePart = 0.1;
const sameSeconds = 2;

/** The value from which on no wait is shorter, if waits become shorter at all, and how far it is from today's. */
function enoughWords(
  rows: readonly AnswerRow[],
  today: number,
  { errorSeconds, what }: Told,
): string {
  const waits = rows.map(({ part }) => waitOf(part) ?? Number.POSITIVE_INFINITY);
  const best = Math.min(...waits);
  if (best === Number.POSITIVE_INFINITY) {
    return "With none of these values would 9 in 10 start before the end of the record.";
  }
  const sameToPeople = sameAs(best);
  const same = Math.max(sameToPeople, errorSeconds);
  const isBest = (wait: number) => wait - best <= same;
  if (waits.every(isBest)) {
    const slowest = lastOnes(rows, rows[today], errorSeconds);
    const whose = slowest === "" ? "the waits" : "the wait of 9 in 10";
    const than =
      same > errorSeconds ? "" : ` by more than the replay is off, ${briefly(errorSeconds)}`;
    return `None of these values changes ${whose}${than}${slowest}.`;
  }
  // Of sizes, more is better; of the time between two starts, less.
  const way = isBest(waits.at(-1) ?? best) ? ways.more : ways.less;
  const enough =
    way === ways.more
      ? waits.findLastIndex((wait) => !isBest(wait)) + 1
      : waits.findIndex((wait) => !isBest(wait)) - 1;
  const [row, wait] = [rows[enough], waits[enough]];
  if (row === undefined || wait === undefined) return "";
  const { label } = row;
  const onwards = <One>(of: readonly One[], from: number) =>
    way === ways.more ? of.slice(from) : of.slice(0, from + 1).toReversed();
  const beyond = onwards(rows, enough);
  const slowest = lastOnes(beyond, row, errorSeconds);
  const further = what === "time" ? way.time : way.word;
  const gain =
    wait - Math.min(...onwards(waits, enough)) <= sameToPeople
      ? `${further} would not shorten ${slowest === "" ? "the waits" : "that"}`
      : `${further} gains less than the error of the replay (${briefly(errorSeconds)})`;
  if (enough === today) {
    return beyond.length === 1
      ? `None of the other values is better than today's ${label}.`
      : `Today's ${label} is enough${slowest === "" ? "" : " for 9 in 10"}: ${gain}${slowest}.`;
  }
  const told = `9 in 10 start within ${briefly(wait)}`;
  if (beyond.length > 1) {
    return `${label} would be enough${apart(rows, enough, today)}: ${told}, and ${gain}${slowest}.`;
  }
  const last = `the ${way.last} ${what} tried`;
  const most = mostOfTheGain(onwards(rows, today), best);
  if (most !== undefined && most !== row) {
    const difference = apart(rows, rows.indexOf(most), today);
    const gives = briefly(wait) === "0s" ? "no wait" : briefly(wait);
    return `${most.label} already gives ${withinWords(most.part)} for 9 in 10${difference}; ${label}, ${last}, gives ${gives}.`;
  }
  return `${way.helps} ${label}, ${last}${apart(rows, enough, today)}: ${told}.`;
}

/** Up to so much longer is the same to people. */
function sameAs(wait: number): number {
  return Math.max(sameSeconds, samePart * wait);
}

/** What is left of the gain is not worth as much as this part. */
const mostPart = 0.8;

/** The first value after today's, the first of `rows`, that brings most of what the best one does. */
function mostOfTheGain(rows: readonly AnswerRow[], best: number): AnswerRow | undefined {
  const [now, ...others] = rows.map(({ part }) => waitOf(part));
  // Today too few may start: then the longest wait of the others is what can be shortened.
  const from = now ?? Math.max(...others.map((wait) => wait ?? 0));
  const enough = best + (1 - mostPart) * (from - best);
  return rows.slice(1).find(({ part }) => (waitOf(part) ?? Number.POSITIVE_INFINITY) <= enough);
}

/** `; 99 in 100 start within 45s with 5, 0s with 8`, if 9 in 10 gain nothing and these do. */
function lastOnes(
  rows: readonly AnswerRow[],
  from: AnswerRow | undefined,
  errorSeconds: number,
): string {
  if (from === undefined) return "";
  const waitIn = ({ part }: AnswerRow) => startedWithin(part, "p99") ?? Number.POSITIVE_INFINITY;
  const best = Math.min(...rows.map(waitIn));
  const isBest = (row: AnswerRow) => waitIn(row) - best <= Math.max(sameAs(best), errorSeconds);
  const found = rows.find(isBest);
  if (best === Number.POSITIVE_INFINITY || isBest(from) || found === undefined) return "";
  const is = waitIn(from);
  const now =
    is === Number.POSITIVE_INFINITY
      ? `fewer than 99 in 100 start before the end of the record with ${from.label}`
      : `99 in 100 start within ${briefly(is)} with ${from.label}`;
  return `; ${now}, ${is === Number.POSITIVE_INFINITY ? "within " : ""}${briefly(waitIn(found))} with ${found.label}`;
}

const ways = {
  more: { word: "more", time: "a longer time", helps: "More helps, up to", last: "largest" },
  less: { word: "less", time: "a shorter time", helps: "Less helps, down to", last: "smallest" },
} as const;

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
  return { isLess: change < 0, text, size: Math.abs(change) };
}

/** Below this part of the record, the replay is as good as it. */
const goodPart = 0.1;
/** Above this part, and more than a few seconds, it says nothing. */
const uselessPart = 0.5;
const fewSeconds = 10;

export interface ReplayCheck {
  /** By how much the waits of the replay are off; 0: it cannot be said. */
  readonly errorSeconds: number;
  readonly quality: "good" | "off" | "useless";
  readonly text: string;
}

const useless = "This replay does not match the record: do not rely on it.";
const leftOut = "Drains, quarantines and other configurations of that time are not replayed.";

/** How well the replay of the pool as it is gives what was recorded. */
export function replayCheck(recorded: ReplayedPart, replayed: ReplayedPart): ReplayCheck {
  const compared = (["p90", "p50"] as const).flatMap((share) => {
    const [was, is] = [startedWithin(recorded, share), startedWithin(replayed, share)];
    return was === null || is === null ? [] : [{ who: shareWords[share], was, is }];
  });
  const [best] = compared;
  if (best === undefined) return uncomparable(recorded, replayed);
  const { was, is, who } = best;
  // As its reader would subtract it.
  const { size: errorSeconds, text: offBy } = changeBetween(was, is, waits);
  const told = `as it is, ${who} start within ${briefly(is)}; recorded were ${briefly(was)}`;
  if (errorSeconds <= Math.max(sameSeconds, goodPart * was)) {
    return { errorSeconds, quality: "good", text: `The replay agrees with the record: ${told}.` };
  }
  const part = was === 0 ? "" : ` (${Math.round((errorSeconds / was) * 100)} %)`;
  const off = `off by ${offBy}${part}: ${told}.`;
  if (errorSeconds > Math.max(fewSeconds, uselessPart * was)) {
    return { errorSeconds, quality: "useless", text: `${useless} It is ${off} ${leftOut}` };
  }
  const text =
    `The replay is ${off} ≈ marks a difference that is no larger than ` +
    `the replay is off in that column: do not trust it. ${leftOut}`;
  return { errorSeconds, quality: "off", text };
}

const shareWords = { p90: "9 in 10", p50: "half" } as const;

/** Too few started, in the record or in the replay. */
function uncomparable(recorded: ReplayedPart, replayed: ReplayedPart): ReplayCheck {
  const [was, is] = [recorded, replayed].map((part) => startedWithin(part, "p50") !== null);
  const text =
    was === is
      ? "No wait was recorded that could check the replay."
      : `${useless} As it is,${startedOf(replayed)} start; recorded were${startedOf(recorded)}. ${leftOut}`;
  return { errorSeconds: 0, quality: was === is ? "good" : "useless", text };
}

function briefly(seconds: number): string {
  return briefDuration(seconds * 1_000);
}
