/** Figures about the starts of a herd, in units that people compare. */
import type { Start } from "./herd.ts";

export interface HerdFigures {
  readonly atOnceMax: number;
  readonly perMinuteMax: number;
  /** The largest number of jobs that were in their first five minutes at the same time. */
  readonly earlyMax: number;
  readonly heldMax: number;
  readonly lastStartMs: number;
  readonly doneMs: number;
  readonly meanWaitMs: number;
  readonly maxWaitMs: number;
}

export const minuteMs = 60_000;
/** The phase of an installation with the most calls to the provider. */
export const earlyMs = 5 * minuteMs;

export function figuresOf(starts: readonly Start[]): HerdFigures {
  const times = starts.map(({ startedAt }) => startedAt);
  const waits = starts.map((start) => start.startedAt - start.wantedAt);
  return {
    atOnceMax: mostWithin(times, 1),
    perMinuteMax: mostWithin(times, minuteMs),
    earlyMax: mostWithin(times, earlyMs),
    heldMax: heldMax(starts),
    lastStartMs: Math.max(...times),
    doneMs: Math.max(...starts.map(({ endedAt }) => endedAt)),
    meanWaitMs: waits.reduce((sum, wait) => sum + wait, 0) / waits.length,
    maxWaitMs: Math.max(...waits),
  };
}

/** The largest number in any interval of this length, without its end. Times are in order. */
export function mostWithin(times: readonly number[], lengthMs: number): number {
  let [most, first] = [0, 0];
  for (const [index, at] of times.entries()) {
    while ((times[first] ?? at) <= at - lengthMs) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

function heldMax(starts: readonly Start[]): number {
  const steps = starts.flatMap(({ startedAt, endedAt }) => [
    { at: startedAt, by: 1 },
    { at: endedAt, by: -1 },
  ]);
  // A resource that is released at an instant is free for a start at the same instant.
  steps.sort((a, b) => a.at - b.at || a.by - b.by);
  let [held, most] = [0, 0];
  for (const { by } of steps) {
    held += by;
    most = Math.max(most, held);
  }
  return most;
}

/** The number of starts in each minute, up to the last one with a start. */
export function perMinute(starts: readonly Start[]): number[] {
  const counts: number[] = [];
  for (const { startedAt } of starts) {
    const minute = Math.floor(startedAt / minuteMs);
    while (counts.length <= minute) counts.push(0);
    counts[minute] = (counts[minute] ?? 0) + 1;
  }
  return counts;
}
