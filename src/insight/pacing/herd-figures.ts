/** What there is to say about a herd's starts, in the units that people compare. */
import type { Start } from "./herd.ts";

export interface HerdFigures {
  readonly atOnceMax: number;
  readonly perMinuteMax: number;
  /** The most that were in their first five minutes at one time. */
  readonly earlyMax: number;
  readonly heldMax: number;
  readonly lastStartMs: number;
  readonly doneMs: number;
  readonly meanWaitMs: number;
  readonly maxWaitMs: number;
}

export const minuteMs = 60_000;
/** The part of an installation that calls the provider the most. */
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

/** The most in any stretch of this length, its end not counted. Times are in order. */
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
  // What is given back at an instant is there for who starts then.
  steps.sort((a, b) => a.at - b.at || a.by - b.by);
  let [held, most] = [0, 0];
  for (const { by } of steps) {
    held += by;
    most = Math.max(most, held);
  }
  return most;
}

/** How many start in each minute, up to the last that has one. */
export function perMinute(starts: readonly Start[]): number[] {
  const counts: number[] = [];
  for (const { startedAt } of starts) {
    const minute = Math.floor(startedAt / minuteMs);
    while (counts.length <= minute) counts.push(0);
    counts[minute] = (counts[minute] ?? 0) + 1;
  }
  return counts;
}
