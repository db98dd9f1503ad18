/** The labels of a chart's axes: distinct, with units, and the same everywhere. */
import { briefDuration } from "../../../src/core/model/time.ts";
import { clockMinute, clockTime, dayOf } from "./clock-time.ts";
import { grouped, percent } from "./numbers.ts";

/** What the values of a chart are. */
export interface Scale {
  readonly format: (value: number, step?: number) => string;
  /** Distances between labels that people count in; absent: powers of ten. */
  readonly steps?: number[];
  /** The top of the scale, if it is known. */
  readonly top?: number;
  /** The lowest top: a chart of small values does not blow them up. */
  readonly topMin?: number;
}

const minute = 60;
const hour = 3_600;
const day = 86_400;

/** In seconds. */
export const durations: Scale = {
  format: (seconds) => briefDuration(seconds * 1_000),
  topMin: 1,
  steps: [
    ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
    ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minute),
    ...[1, 2, 4, 8, 12].map((hours) => hours * hour),
    ...[1, 2, 5, 10, 20, 50].map((days) => days * day),
  ],
};

/** From 0 to 1. */
export const parts: Scale = { format: percent, steps: [0.1, 0.25, 0.5, 1, 2, 5, 10], top: 1 };

/** The same for what is rarely more than a small part, such as the use of all pools together. */
export const smallParts: Scale = {
  ...{ format: percent, topMin: 0.1 },
  steps: [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
};

/** Anything that is counted, also per minute. */
export const counts: Scale = {
  topMin: 1,
  // No 2.5: rounded to whole numbers, labels would not be where they say.
  steps: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]
    .flatMap((one) => (one < 1 ? [one] : [one, one * 100, one * 10_000]))
    .sort((a, b) => a - b),
  format: (value, step) => {
    if (value === 0) return "0";
    if (value >= 1_000) return grouped(Math.round(value));
    // As many digits as two labels need to differ; a value between labels gets one more.
    const digits = step === undefined ? (value >= 10 ? 0 : 2) : step >= 1 ? 0 : step >= 0.1 ? 1 : 2;
    return step === undefined ? String(Number(value.toFixed(digits))) : value.toFixed(digits);
  },
};

/** What comes one by one. */
export const wholeCounts: Scale = {
  ...counts,
  topMin: 4,
  steps: (counts.steps ?? []).filter((step) => step >= 1),
};

/** A time on the axis: the day at midnight, seconds only where the labels are that close. */
export function axisTime(seconds: number, step: number): string {
  const at = new Date(seconds * 1_000);
  if (step >= day || (at.getHours() === 0 && at.getMinutes() === 0 && step >= minute)) {
    return dayOf(at).split(" ").slice(0, 2).join(" ");
  }
  return step < minute ? clockTime(at) : clockMinute(at);
}

/** Undefined: there is none. */
export function nearestOf(places: readonly number[], to: number): number | undefined {
  const [nearest] = places.toSorted((a, b) => Math.abs(a - to) - Math.abs(b - to));
  return nearest;
}
