/** Windows of time for charts, and the one that fits the data. */
import type { Stats } from "../../../src/api/history-schemas.ts";

export interface ChartRange {
  readonly lengthSeconds: number;
  readonly stepSeconds: number;
  /** The end, in seconds since 1970; null: now. */
  readonly until: number | null;
}

const minute = 60;
const hour = 3_600;
const day = 86_400;

/** In seconds. */
export const windows: Readonly<Record<string, number>> = {
  "1h": hour,
  "6h": 6 * hour,
  "24h": day,
  "7d": 7 * day,
};
export const windowNames = Object.keys(windows);
/** About as many as a chart has room for. */
const pointsPerWindow = 60;

export function rangeOf(window: string): ChartRange {
  return rangeOver(windows[window] ?? day, null);
}

export function rangeOver(lengthSeconds: number, until: number | null): ChartRange {
  const stepSeconds = Math.max(1, Math.round(lengthSeconds / pointsPerWindow));
  return { lengthSeconds, stepSeconds, until };
}

/** The lengths that a fitting window may have. */
const lengths = [
  ...[5, 10, 15, 30].map((minutes) => minutes * minute),
  ...[1, 2, 3, 6, 12, 24].map((hours) => hours * hour),
];

/** What is asked to see how much data there is. */
export const wholeDay: ChartRange = { lengthSeconds: day, stepSeconds: 5 * minute, until: null };

/** The smallest window that has all the data, so that no chart is an empty day with two dots. */
export function fittingRange({ steps, to }: Pick<Stats, "steps" | "to">): ChartRange {
  const first = steps.find(({ asked, ended, utilisation }) => {
    return asked + ended > 0 || (utilisation ?? 0) > 0;
  });
  if (first === undefined) return rangeOver(hour, null);
  const seconds = (Date.parse(to) - Date.parse(first.at)) / 1_000;
  return rangeOver(lengths.find((length) => length >= seconds) ?? day, null);
}
