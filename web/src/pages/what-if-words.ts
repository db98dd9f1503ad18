/** The rows of the answer to a what-if, and how far they can be trusted. */
import type { ReplayedPart } from "../../../src/api/history-schemas.ts";
import { startedWithin } from "../../../src/api/started-within.ts";
import { briefDuration, parseDuration, roughDuration } from "../../../src/core/model/time.ts";
import { spanText } from "../parts/clock-time.ts";
import { grouped, percentInUse } from "../parts/numbers.ts";
import type { Percentile } from "../parts/percentile-looks.ts";
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

/** `106 of 1,438`. */
export function startedWords({
  started,
  claims,
}: Pick<NonNullable<ReplayedPart["starts"]>, "started" | "claims">): string {
  return `${grouped(started)} of ${grouped(claims)}`;
}

/** `71 % started`: written where fewer claims started than the percentile needs. */
export function fewerWords({ starts }: ReplayedPart): string {
  if (starts === undefined || starts.claims === 0) return "–";
  // Never up: "99 % started" would be as many as 99 in 100.
  return `${Math.floor((starts.started * 100) / starts.claims)} % started`;
}

/** `Replayed: the 101 claims recorded in the 11m13s from … to ….` */
export function replayedWords({ from, to, claims }: Replayed): string {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const span = `${roughDuration(toMs - fromMs)} from ${spanText(fromMs, toMs)}`;
  return `Replayed: the ${claims} recorded in the ${span}.`;
}

/** `Only 24m of the last day are recorded.` Undefined: all of it. */
export function shortRecordWords({ from, to, last }: Omit<Replayed, "claims"> & { last: string }) {
  const recordedMs = Date.parse(to) - Date.parse(from);
  if (recordedMs >= (parseDuration(last) ?? 0) * almostAll) return undefined;
  return `Only ${roughDuration(recordedMs)} of the ${lastWords(last)} are recorded.`;
}

interface Replayed {
  readonly from: string;
  readonly to: string;
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

/** Waits that differ by less are the same to people. */
export const sameSeconds = 2;

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
  /** The waits of which the replay says nothing. The others may be right. */
  readonly useless: readonly Percentile[];
}

const leftOut = "Limits of this simulation, below, lists what a replay leaves out.";

/** How well the replay of the pool as it is gives what was recorded. */
export function replayCheck(recorded: ReplayedPart, replayed: ReplayedPart): ReplayCheck {
  const compared = shares.flatMap((share) => {
    const [was, is] = [startedWithin(recorded, share), startedWithin(replayed, share)];
    return was === null || is === null ? [] : [{ share, was, is, ...errorOf(was, is) }];
  });
  const useless = shares.filter((share) => {
    const found = compared.find((one) => one.share === share);
    if (found !== undefined) return found.quality === "useless";
    return startedWithin(recorded, share) !== null || startedWithin(replayed, share) !== null;
  });
  const best = compared.find(({ share }) => share !== "p99");
  if (best === undefined) return { ...uncomparable(recorded, replayed), useless };
  const { was, is, quality, errorSeconds, offBy } = best;
  const who = shareWords[best.share];
  const told = `as it is, ${who} start within ${briefly(is)}; recorded were ${briefly(was)}`;
  const part = was === 0 ? "" : ` (${Math.round((errorSeconds / was) * 100)} %)`;
  const off = `off by ${offBy}${part}: ${told}.`;
  const text = {
    good: `The replay agrees with the record: ${told}.`,
    off: `The replay is ${off}`,
    useless: `The replay is ${off} ${leftOut}`,
  }[quality];
  return { errorSeconds, quality, text, useless };
}

const shares = ["p90", "p50", "p99"] as const;
const shareWords = { p90: "9 in 10", p50: "half", p99: "99 in 100" } as const;

function errorOf(was: number, is: number) {
  // As its reader would subtract it.
  const { size: errorSeconds, text: offBy } = changeBetween(was, is, waits);
  const isGood = errorSeconds <= Math.max(sameSeconds, goodPart * was);
  const isUseless = errorSeconds > Math.max(fewSeconds, uselessPart * was);
  const quality = isGood ? "good" : isUseless ? "useless" : "off";
  return { errorSeconds, offBy, quality } as const;
}

/** Too few started, in the record or in the replay. */
function uncomparable(recorded: ReplayedPart, replayed: ReplayedPart) {
  const [was, is] = [recorded, replayed].map((part) => startedWithin(part, "p50") !== null);
  if (was === is) {
    const text = "No wait was recorded that could check the replay.";
    return { errorSeconds: 0, quality: "good", text } as const;
  }
  const text = `In the replay, ${startedOf(replayed)} start; recorded were ${startedOf(recorded)}. ${leftOut}`;
  return { errorSeconds: 0, quality: "useless", text } as const;
}

function startedOf({ starts }: ReplayedPart): string {
  return starts === undefined ? "fewer" : startedWords(starts);
}

export function briefly(seconds: number): string {
  return briefDuration(seconds * 1_000);
}
