/** Windows of time for charts, and the one that fits the data. */
import type { Stats } from "../../../src/api/history-schemas.ts";
import { timesOfDay } from "./clock-time.ts";

export interface ChartRange {
  readonly lengthSeconds: number;
  readonly stepSeconds: number;
  /** The end, in seconds since 1970; null: now. */
  readonly until: number | null;
  /** Where the data begins, in seconds since 1970: the window grows with it. Absent: it moves on. */
  readonly since?: number;
}

const minute = 60;
const hour = 3_600;
const day = 86_400;

/** In seconds. */
const windows: Readonly<Record<string, number>> = {
  "1h": hour,
  "6h": 6 * hour,
  "24h": day,
  "7d": 7 * day,
};
export const windowNames = Object.keys(windows);
/** At most as many as a chart has room for. */
const pointsMax = 75;
/** In seconds. Those below a minute are parts of one, so that minutes can be counted. */
const niceSteps = [
  ...[1, 2, 5, 10, 15, 20, 30],
  ...[1, 2, 5, 10, 15, 20, 30].map((minutes) => minutes * minute),
  ...[1, 2, 3, 6, 12, 24].map((hours) => hours * hour),
];

export function rangeOf(window: string): ChartRange {
  return rangeOver(windows[window] ?? day, null);
}

export function rangeOver(lengthSeconds: number, until: number | null): ChartRange {
  const least = lengthSeconds / pointsMax;
  const stepSeconds = niceSteps.find((step) => step >= least) ?? Math.ceil(least);
  return { lengthSeconds, stepSeconds, until };
}

/** Percentiles of fewer waits jump from one step to the next. */
const startsPerStep = 8;
/** A line of fewer steps shows nothing; the longest wait of each step does. */
const pointsMin = 6;

/** With steps so long that most have enough starts for percentiles, if there are enough for that. */
export function widerSteps(
  range: ChartRange,
  { total, steps }: Pick<Stats, "total" | "steps">,
): ChartRange {
  const points = Math.floor(total.granted / startsPerStep);
  if (points >= steps.length || points < pointsMin) return range;
  const least = (steps.length * range.stepSeconds) / points;
  return { ...range, stepSeconds: niceSteps.find((step) => step >= least) ?? range.stepSeconds };
}

/** What is asked to see how much data there is. */
export const wholeDay: ChartRange = { lengthSeconds: day, stepSeconds: 5 * minute, until: null };

/** The shortest window that fits: a minute has room for a few labels. */
const shortestSeconds = minute;

type Read = Pick<Stats, "steps" | "to">;

/**
 * The window that begins where the data does, so that no chart is an empty day with two dots. Data of a
 * pool that nobody has used yet begins with the pool, at most an hour ago.
 */
export function fittingRange({ steps, to }: Read): ChartRange {
  const end = Date.parse(to) / 1_000;
  const used = firstUse(steps);
  if (used === 0 && isWholeDay(steps[0]?.at, end)) return rangeOver(day, null);
  const exists = steps.find(({ utilisation }) => utilisation !== null);
  const first = steps[used]?.at ?? exists?.at;
  if (first === undefined) return rangeOver(hour, null);
  const start = Date.parse(first) / 1_000;
  const since = used === -1 ? Math.max(start, end - hour) : start;
  return { ...rangeOver(Math.max(shortestSeconds, end - since), null), since };
}

/** The first step with any use; -1: none. */
function firstUse(steps: Stats["steps"]): number {
  return steps.findIndex(({ asked, ended, utilisation }) => {
    return asked + ended > 0 || (utilisation ?? 0) > 0;
  });
}

/** Where the data begins, in seconds since 1970, as exactly as the steps are long. Undefined: there is none. */
export function dataSince({ steps }: Pick<Stats, "steps">): number | undefined {
  const first = steps[firstUse(steps)];
  return first === undefined ? undefined : Date.parse(first.at) / 1_000;
}

/**
 * A window that is longer than there is data would be empty with some dots: it begins with the data.
 * Undefined: it is not known yet where the data begins.
 */
export function shownRange(
  chosen: ChartRange | null,
  fitting: ChartRange | undefined,
): ChartRange | undefined {
  if (chosen !== null && chosen.until !== null) return chosen;
  if (chosen === null || fitting === undefined) return fitting;
  const isLonger = fitting.since !== undefined && fitting.lengthSeconds < chosen.lengthSeconds;
  return isLonger ? fitting : chosen;
}

function isWholeDay(first: string | undefined, end: number): boolean {
  return first !== undefined && end - Date.parse(first) / 1_000 >= day;
}

/** A coarse look finds the start only roughly. Undefined: the first look was fine enough. */
export function closerLook({ since, lengthSeconds, stepSeconds }: ChartRange) {
  return since === undefined || stepSeconds >= wholeDay.stepSeconds
    ? undefined
    : rangeOver(lengthSeconds + minute, null);
}

/**
 * From when to when a range is now, in seconds since 1970. It begins with a full step, and at a full minute:
 * otherwise the steps of the past would have other counts each time they are read, and for each who reads them.
 */
export function timesNow(range: ChartRange, nowSeconds: number): Times {
  const { since, lengthSeconds, stepSeconds, until } = range;
  const to = until ?? Math.floor(nowSeconds);
  const from = since === undefined ? to - lengthSeconds : Math.min(since, to - shortestSeconds);
  // One step over all of the time has no neighbours to agree with.
  return { from: stepSeconds < lengthSeconds ? lastFull(from, stepSeconds) : from, to };
}

interface Times {
  readonly from: number;
  readonly to: number;
}

function lastFull(at: number, stepSeconds: number): number {
  const length = Math.max(minute, stepSeconds);
  return Math.floor(at / length) * length;
}

/** What somebody has selected, made wider to full steps and minutes, but no further than the present one. */
export function zoomTimes({ from, to }: Times, nowSeconds: number): Times {
  const { stepSeconds } = rangeOver(to - from, null);
  const next = (at: number, length: number) => lastFull(at + length - 1, length);
  const end = next(to, Math.max(minute, stepSeconds));
  return { from: lastFull(from, stepSeconds), to: Math.min(end, next(nowSeconds, minute)) };
}

/** The range of a zoom in the address, which somebody may have written. */
export function zoomedRange({ from, to }: Times): ChartRange {
  const range = rangeOver(to - from, to);
  return { ...range, lengthSeconds: to - lastFull(from, range.stepSeconds) };
}

/** From when to when somebody has zoomed, in milliseconds since 1970. */
export function zoomedTimes({ until, lengthSeconds }: ChartRange): readonly [number, number] {
  const to = (until ?? 0) * 1_000;
  return [to - lengthSeconds * 1_000, to];
}

export function zoomText(range: ChartRange): string {
  return timesOfDay(...zoomedTimes(range));
}
