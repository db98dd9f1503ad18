/** The conclusion of a what-if: one sentence, and what there is to know beside it. */
import type { ReplayedPart } from "../../../src/api/history-schemas.ts";
import { startedWithin } from "../../../src/api/started-within.ts";
import type { Cause, Topic } from "./what-if-facts.ts";
import { numberOf } from "./what-if-facts.ts";
import { type AnswerRow, briefly, fewerWords, sameSeconds } from "./what-if-words.ts";

export interface Conclusion {
  readonly lead: string;
  readonly rest: readonly string[];
  /** The question that may have a better answer. */
  readonly ask?: Topic | undefined;
}

interface Told {
  /** By how much the replay is off. */
  readonly errorSeconds: number;
  /** What the values are. */
  readonly what: string;
  /** What else makes requests of this pool wait, if no value of this setting helps. */
  readonly cause: Cause | undefined;
}

/** Undefined: nothing can be concluded, because there is nothing to compare with. */
export function conclusionOf(
  rows: readonly AnswerRow[],
  told: Partial<Told> = {},
): Conclusion | undefined {
  const { errorSeconds = 0, what = "value", cause } = told;
  const at = rows.findIndex(({ isToday }) => isToday);
  const today = rows[at];
  const isKnown = rows.some(({ part }) => waitOf(part) !== null || hasClaims(part));
  if (today === undefined || rows.length < 2 || !isKnown) return undefined;
  const waits = rows.map(({ part }) => waitOf(part) ?? Number.POSITIVE_INFINITY);
  const best = Math.min(...waits);
  const same = Math.max(sameAs(best), errorSeconds);
  const isBest = (wait: number) => wait - best <= same;
  const compared = { rows, waits, at, today, best, isBest, errorSeconds, what, cause };
  if (best === Number.POSITIVE_INFINITY) {
    const lead = "With none of these values would 9 in 10 start before the end of the record.";
    return { lead, rest: startedParts(rows) };
  }
  if (waits.every(isBest)) return noDifference(compared);
  // Of sizes, more is better; of the time between two starts, less.
  const last = isBest(waits.at(-1) ?? best) ? rows.length - 1 : 0;
  if (!isBest(waits[last] ?? Number.POSITIVE_INFINITY)) return bestOfAll(compared);
  return withDirection(compared, last === 0 ? -1 : 1);
}

interface Compared extends Told {
  readonly rows: readonly AnswerRow[];
  readonly waits: readonly number[];
  /** Where today's is. */
  readonly at: number;
  readonly today: AnswerRow;
  readonly best: number;
  readonly isBest: (wait: number) => boolean;
}

function waitOf(part: ReplayedPart): number | null {
  return startedWithin(part, "p90");
}

function hasClaims({ starts }: ReplayedPart): boolean {
  return (starts?.claims ?? 0) > 0;
}

/** Waits that differ by less are the same to people. */
const samePart = 0.1;

function sameAs(wait: number): number {
  return Math.max(sameSeconds, samePart * wait);
}

function noDifference({ rows, today, best, errorSeconds, what, cause }: Compared): Conclusion {
  const within = withinWords(waitOf(today.part) ?? best);
  if (holdsBack(cause, best)) {
    const lead = `Not the ${what} but ${cause.words} makes requests wait: with each of these values 9 in 10 start ${within}.`;
    return { lead, rest: [], ask: cause.ask };
  }
  const isError = errorSeconds > sameAs(best);
  const by = isError ? ` by more than the replay is off, ${briefly(errorSeconds)}` : "";
  const lead = `None of these values changes the wait of 9 in 10${by}: they start ${within}.`;
  return { lead, rest: lastOnes(rows, today, errorSeconds) };
}

/** Waits that rise and fall: a strategy, or one value in the middle. */
function bestOfAll({ rows, waits, best, today, isBest }: Compared): Conclusion {
  const found = rows[waits.findIndex(isBest)];
  if (found === undefined || isBest(waitOf(today.part) ?? Number.POSITIVE_INFINITY)) {
    return { lead: `None of the other values is better than today's ${today.label}.`, rest: [] };
  }
  const lead = `${found.label} is the best of these${apart(found, today)}: 9 in 10 start ${withinWords(best)}, ${todayWords(today)}.`;
  return { lead, rest: [] };
}

const ways = {
  more: { word: "more", time: "a longer time", helps: "More helps, up to", last: "largest" },
  less: { word: "less", time: "a shorter time", helps: "Less helps, down to", last: "smallest" },
} as const;

function withDirection(compared: Compared, step: 1 | -1): Conclusion {
  const { waits, today, errorSeconds, what, cause, isBest } = compared;
  const way = step === 1 ? ways.more : ways.less;
  // In the order in which waits become shorter.
  const ordered = step === 1 ? compared.rows : compared.rows.toReversed();
  const waitsInOrder = step === 1 ? waits : waits.toReversed();
  const enough = waitsInOrder.findLastIndex((wait) => !isBest(wait)) + 1;
  const [row, wait] = [ordered[enough], waitsInOrder[enough]];
  if (row === undefined || wait === undefined) return bestOfAll(compared);
  const beyond = ordered.slice(enough + 1);
  const plain = what === "pace" ? way.time : way.word;
  const further = `${plain} than ${row.label}`;
  const within = withinWords(wait);
  const isError = wait - Math.min(...waitsInOrder.slice(enough)) > sameAs(compared.best);
  const gain = isError ? [errorWords(further, errorSeconds)] : [];
  const place = ordered.indexOf(today);
  if (place > enough && holdsBack(cause, wait)) {
    const lead = `Not the ${what} but ${cause.words} makes requests wait: 9 in 10 start ${within} with ${row.label} as with ${today.label}.`;
    return { lead, rest: [], ask: cause.ask };
  }
  if (row === today) {
    if (beyond.length === 0) {
      return { lead: `None of the other values is better than today's ${today.label}.`, rest: [] };
    }
    const isCause = holdsBack(cause, wait);
    const lead = isCause
      ? `Not the ${what} but ${cause.words} makes requests wait: ${plain} than today's ${today.label} would not shorten it, 9 in 10 start ${within}.`
      : `Today's ${today.label} is enough: 9 in 10 start ${within}${wait < 0.5 ? "" : `, and ${plain} would not shorten that`}.`;
    const rest = isCause ? [] : [...gain, ...lastOnes([row, ...beyond], row, errorSeconds)];
    return { lead, rest, ask: isCause ? cause.ask : undefined };
  }
  const between = place < enough ? ordered.slice(place + 1, enough) : [];
  if (beyond.length > 0) {
    const lead =
      waitOf(today.part) === null
        ? takesWords(row, today, `${within}, ${todayWords(today)}`)
        : `${row.label} would be enough${apart(row, today)}: 9 in 10 start ${within}, ${todayWords(today)}.`;
    const above = causeBeyond(cause, wait, { row, last: beyond.at(-1) ?? row });
    return { lead, rest: [...(above.length > 0 ? above : gain), ...firstStep(between, today)] };
  }
  const last = `the ${way.last} ${what} tried`;
  const most = between.find(({ part }) => isMost(part, today, wait));
  if (most !== undefined) {
    const told = `${withinWords(waitOf(most.part) ?? wait)}, ${todayWords(today)}`;
    const lead =
      waitOf(today.part) === null
        ? takesWords(most, today, told)
        : `${most.label} already gives most of it${apart(most, today)}: 9 in 10 start ${told}.`;
    // Those before it are none of the best.
    const others = what === "pace" ? "longer" : way === ways.more ? "smaller" : "larger";
    const by =
      errorSeconds > sameAs(wait)
        ? ` by more than the replay is off (${briefly(errorSeconds)})`
        : "";
    return {
      lead,
      rest: [`With ${row.label}, ${last}: ${within}; all ${others} ones are slower${by}.`],
    };
  }
  const told = `9 in 10 start ${within}, ${todayWords(today)}`;
  const lead =
    what === "pace"
      ? `${row.label} between two starts is the best of these: ${told}.`
      : `${way.helps} ${row.label}, ${last}${apart(row, today)}: ${told}.`;
  return { lead, rest: firstStep(between, today) };
}

function errorWords(further: string, errorSeconds: number): string {
  const words = `${further.charAt(0).toUpperCase()}${further.slice(1)}`;
  return `${words} gains less than the replay is off (${briefly(errorSeconds)}).`;
}

/** A wait that people notice, and something else that is known to cause it. */
function holdsBack(cause: Cause | undefined, wait: number): cause is Cause {
  return cause !== undefined && cause.from === undefined && wait > sameSeconds;
}

/** From some value on something else is full. */
function causeBeyond(
  cause: Cause | undefined,
  wait: number,
  { row, last }: { readonly row: AnswerRow; readonly last: AnswerRow },
): string[] {
  if (cause === undefined || wait <= sameSeconds) return [];
  const from = cause.from ?? numberOf(row.label);
  return numberOf(last.label) < from
    ? []
    : [`From ${from} on, ${cause.words} makes requests wait.`];
}

/** What is left of the gain is not worth as much as this part. */
const mostPart = 0.8;

/** Whether it brings most of what the best one does; where today too few start, whether enough do. */
function isMost(part: ReplayedPart, { part: now }: AnswerRow, best: number): boolean {
  const [from, wait] = [waitOf(now), waitOf(part)];
  if (wait === null) return false;
  return from === null || wait <= best + (1 - mostPart) * (from - best);
}

/** The cheapest change, if it already helps. */
function firstStep([step]: readonly AnswerRow[], today: AnswerRow): string[] {
  if (step === undefined) return [];
  const [is, was] = [waitOf(step.part), waitOf(today.part)];
  if (is === null) return [`With ${step.label}: ${fewerWords(step.part)}.`];
  if (was !== null && was - is <= sameAs(is)) return [];
  return [`With ${step.label}${apart(step, today, "")}: ${withinWords(is)}.`];
}

/** `Started: 57 % with 3, 71 % with 4.` */
function startedParts(rows: readonly AnswerRow[]): string[] {
  const parts = rows.flatMap(({ label, part }) => {
    return hasClaims(part) ? [`${fewerWords(part).replace(" started", "")} with ${label}`] : [];
  });
  return parts.length === 0 ? [] : [`Started: ${parts.join(", ")}.`];
}

/** `99 in 100 start within 45s with 5, at once with 8.`, if 9 in 10 gain nothing and these do. */
function lastOnes(rows: readonly AnswerRow[], from: AnswerRow, errorSeconds: number): string[] {
  const waitIn = ({ part }: AnswerRow) => startedWithin(part, "p99") ?? Number.POSITIVE_INFINITY;
  const best = Math.min(...rows.map(waitIn));
  const isBest = (row: AnswerRow) => waitIn(row) - best <= Math.max(sameAs(best), errorSeconds);
  const found = rows.find(isBest);
  if (best === Number.POSITIVE_INFINITY || isBest(from) || found === undefined) return [];
  const is = waitIn(from);
  return is === Number.POSITIVE_INFINITY
    ? [
        `99 in 100 start ${withinWords(waitIn(found))} with ${found.label}, fewer with ${from.label}.`,
      ]
    : [
        `99 in 100 start ${withinWords(is)} with ${from.label}, ${withinWords(waitIn(found))} with ${found.label}.`,
      ];
}

/** Today is too little: that is no word on whether this is enough. */
function takesWords(row: AnswerRow, today: AnswerRow, told: string): string {
  return `It takes ${row.label}${apart(row, today)} for 9 in 10 to start: ${told}.`;
}

function todayWords({ part }: AnswerRow): string {
  const wait = waitOf(part);
  if (wait !== null) return `today ${withinWords(wait)}`;
  const share = fewerWords(part).replace(" started", "");
  return `today fewer than 9 in 10 start at all${hasClaims(part) ? ` (${share})` : ""}`;
}

export function withinWords(seconds: number): string {
  const words = briefly(seconds);
  return words === "0s" ? "at once" : `within ${words}`;
}

/** ` (2 more than today)`. Only whole numbers are counted: nobody counts a strategy or a duration. */
export function apart(row: AnswerRow, today: AnswerRow, than = " than today"): string {
  const difference = Number(row.label) - Number(today.label);
  if (!Number.isInteger(difference) || difference === 0) return "";
  return ` (${Math.abs(difference)} ${difference > 0 ? "more" : "fewer"}${than})`;
}
