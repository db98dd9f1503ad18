/** The curves of a time, and beside the name of each its figure for the whole of that time. */
import type { Stats } from "../../../src/api/history-schemas.ts";
import { roughDuration } from "../../../src/core/model/time.ts";
import { percentileLooks } from "../parts/percentile-looks.ts";
import type { Line } from "../parts/time-chart.tsx";
import { isAwayIn } from "./mark-facts.ts";

const looks = {
  ...percentileLooks,
  max: { label: "longest", colour: "late", draw: "dots" },
} as const;

/** Fewer waits than this have no percentiles: each is drawn by itself. */
const fewWaits = 3;

export function waitLines(stats: Stats): Line[] {
  const { pool, steps, total } = stats;
  // The few starts of a step that goes on would be a spike or a fall.
  const over = stepsOver(stats, 0);
  const line = (key: keyof typeof looks): Line => ({
    ...{ ...looks[key], total: total.waitSeconds?.[key] ?? null },
    values: steps.map(({ waitSeconds }, index) => {
      return key === "max" || index < over ? (waitSeconds?.[key] ?? null) : null;
    }),
  });
  // Of all pools together, nine in ten hardly ever wait.
  if (pool === null) return [line("max"), line("p99")];
  const counted = steps.filter(({ granted }) => granted > 0);
  const sparse = counted.filter(({ granted }) => granted < fewWaits).length;
  if (sparse > counted.length / 2) return [line("max")];
  return [line("p90"), line("p50")];
}

/**
 * The other lines have only requests that have started. This one has the wait of the request that waits
 * longest now, from the moment it came until the end of the chart: it says nothing about those that
 * waited before. Undefined if the chart ends before that.
 */
export function longestNow(
  stats: Stats,
  since: number | null,
  now: number,
): { readonly times: readonly number[]; readonly line: Line } | undefined {
  const end = Math.min(now, Date.parse(stats.to) / 1_000);
  if (since !== null && since > end) return undefined;
  const starts = stepTimes(stats).filter((at) => at < end);
  // The last step goes on, and so does this wait: its end is a point too.
  const times = [...starts, end];
  const values = times.map((at) => (since === null || at < since ? undefined : at - since));
  const total = since === null ? null : now - since;
  return { times, line: { label: "waits longest now", colour: "other", values, total } };
}

/**
 * Beyond these, dimensions are in the tables. The first has the colour of what is held; the others have
 * none of a state, which would mean that.
 */
const dimensionColours = ["held", "second", "third", "fourth"];

/** A line for each dimension of a shared pool, one for anything else. */
export function heldLines(stats: Stats): Line[] {
  const { pool, steps, total } = stats;
  const isAway = awayIn(stats);
  const line = (of: (step: Stats["steps"][number]) => number | null) =>
    steps.map((step, index) => (isAway[index] ? null : of(step)));
  const aside = "on average";
  if (pool === null || total.dimensions.length === 0) {
    const values = line(({ utilisation }) => utilisation);
    const whole = total.utilisation;
    return [{ label: "held", colour: "held", fill: true, values, total: whole, aside }];
  }
  return total.dimensions.slice(0, dimensionColours.length).map(({ name, utilisation }, index) => ({
    ...{ label: name, colour: dimensionColours[index] ?? "other", total: utilisation, aside },
    values: line(
      ({ dimensions }) => dimensions.find((one) => one.name === name)?.utilisation ?? null,
    ),
  }));
}

const minute = 60;
/** So much of the last bar may be missing. */
const partialMax = 0.05;

/** What is counted in bars: each is a minute or longer, and has as many as there were, never more. */
export function startBars(stats: Stats) {
  const { stepSeconds, total } = stats;
  const isAway = awayIn(stats);
  const size = Math.max(1, Math.ceil(minute / stepSeconds));
  const lengthSeconds = size * stepSeconds;
  const { steps } = stats;
  const whole = stepsOver(stats, partialMax * lengthSeconds);
  // The last bar that is over is whole; the first may begin before the chart does.
  const start = whole % size === 0 ? 0 : (whole % size) - size;
  const bars = Array.from({ length: Math.ceil((steps.length - start) / size) }, (_, index) => {
    const from = start + index * size;
    return { from, to: from + size };
  });
  const [first = 0] = stepTimes(stats);
  const isShown = {
    all: () => true,
    over: ({ to }: { to: number }) => to <= whole,
    going: ({ to }: { to: number }) => to > whole,
  };
  const line = (
    key: "granted" | "expired",
    which: keyof typeof isShown,
    look: Pick<Line, "label" | "colour">,
  ): Line => ({
    ...{ ...look, draw: "bars", total: total[key], aside: "in all" },
    values: bars.map((bar) => {
      if (!isShown[which](bar)) return null;
      const { from, to } = bar;
      const within = steps.slice(Math.max(0, from), to);
      const count = within.reduce((sum, step) => sum + step[key], 0);
      const isKnown = within.some(({ asked, utilisation }, index) => {
        return asked > 0 || (utilisation !== null && !isAway[Math.max(0, from) + index]);
      });
      return count > 0 || isKnown ? count : null;
    }),
  });
  const going = line("granted", "going", { label: "last bar so far", colour: "started-soft" });
  const soFar = going.values.findLast((value) => value !== null);
  const times = bars.map(({ from }) => first + from * stepSeconds);
  return {
    ...{ title: "Leases", about: `each bar is ${barText(lengthSeconds)}` },
    times,
    // With all of the first bar: beyond the edge it would be in the sum and not in the picture.
    span: [
      Math.min(...times, Date.parse(stats.from) / 1_000),
      Date.parse(stats.to) / 1_000,
    ] as const,
    lines: [
      line("granted", "over", { label: "started", colour: "started" }),
      ...(soFar ? [{ ...going, total: soFar, aside: "" }] : []),
      line("expired", "all", { label: "expired", colour: "bad" }),
    ],
  };
}

/** `1 min`, `2h`. */
function barText(seconds: number): string {
  const minutes = seconds / minute;
  return minutes < 60 && Number.isInteger(minutes)
    ? `${minutes} min`
    : roughDuration(seconds * 1_000);
}

/**
 * How many steps are in bars that are over. One that is not over would read as a fall, so it has
 * another colour. The only one is all there is.
 */
function stepsOver(stats: Stats, missingMax: number): number {
  const { steps, stepSeconds, to } = stats;
  const endsAt = Date.parse(to) / 1_000;
  const over = stepTimes(stats).filter((at) => at + stepSeconds - endsAt <= missingMax);
  return over.length === 0 ? steps.length : over.length;
}

export function stepTimes({ steps }: Stats): number[] {
  return steps.map(({ at }) => Date.parse(at) / 1_000);
}

/** For each step, whether the server did not run in it. */
function awayIn(stats: Stats): boolean[] {
  const endMs = Date.parse(stats.to);
  return stepTimes(stats).map((at) => {
    const startMs = at * 1_000;
    return isAwayIn(stats.outages, startMs, Math.min(endMs, startMs + stats.stepSeconds * 1_000));
  });
}
