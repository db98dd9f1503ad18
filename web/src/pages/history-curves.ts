/** The curves of a time, and beside the name of each its figure for the whole of that time. */
import type { Stats } from "../../../src/api/history-schemas.ts";
import { roughDuration } from "../../../src/core/model/time.ts";
import { grouped } from "../parts/numbers.ts";
import { percentileLooks } from "../parts/percentile-looks.ts";
import type { Line } from "../parts/time-chart.tsx";
import { isAwayIn } from "./mark-facts.ts";
import { expiredShare } from "./worst-facts.ts";

const looks = {
  ...percentileLooks,
  max: { label: "longest", colour: "late", draw: "dots" },
} as const;

/** Fewer waits than this have no percentiles: each is drawn by itself. */
const fewWaits = 3;

/** Beyond these parts of the steps that have few starts, the waits are drawn the other way. */
const sparsePart = { asLines: 0.6, asDots: 0.4 };

/** Whether the waits are drawn one by one. In between it stays as it was, so that no new start moves it back and forth. */
export function isSparse({ steps }: Pick<Stats, "steps">, before = false): boolean {
  const counted = steps.filter(({ granted }) => granted > 0);
  const sparse = counted.filter(({ granted }) => granted < fewWaits).length;
  return sparse > counted.length * (before ? sparsePart.asDots : sparsePart.asLines);
}

type WaitKey = keyof typeof looks;

/** Which waits are drawn. Of all pools together, nine in ten hardly ever wait. */
function waitKeys({ pool }: Stats, sparse: boolean): readonly WaitKey[] {
  if (pool === null) return ["max", "p99"];
  return sparse ? ["max"] : ["p90", "p50"];
}

function waitLine(stats: Stats, key: WaitKey): Line {
  const isDrawn = drawnIn(stats, key === "max" ? 0 : fewWaits);
  return {
    ...{ ...looks[key], total: stats.total.waitSeconds?.[key] ?? null },
    values: stats.steps.map(({ waitSeconds }, index) => {
      return isDrawn[index] ? (waitSeconds?.[key] ?? null) : null;
    }),
  };
}

export function waitLines(stats: Stats, sparse = isSparse(stats)): Line[] {
  return waitKeys(stats, sparse).map((key) => waitLine(stats, key));
}

const soFarLabels = {
  ...{ p50: "half so far", p90: "9 in 10 so far", p99: "99 in 100 so far", max: "longest so far" },
} as const;

/** What has started in the step that goes on, where that is too little to go on with the line. */
function soFarLine(stats: Stats, key: WaitKey, times: readonly number[]): Line[] {
  const last = times.length - 2;
  const value = stats.steps[last]?.waitSeconds?.[key];
  if (value === undefined || value === null) return [];
  const { colour, ...look } = looks[key];
  return [
    {
      ...{ ...look, colour, label: soFarLabels[key], isPale: true, total: value },
      // One name is enough for them.
      ...(key === "p50" && { isUnnamed: true }),
      values: times.map((_, index) => (index < last ? undefined : value)),
    },
  ];
}

/** Fewer starts than this part of the usual ones would be a spike or a fall. */
const enoughPart = 0.5;

/** For each step, whether its waits are drawn: of one that goes on, once it has enough starts. */
function drawnIn(stats: Stats, fewest: number): boolean[] {
  const over = stepsOver(stats, 0);
  const counts = stats.steps
    .slice(0, over)
    .flatMap(({ granted }) => (granted > 0 ? [granted] : []));
  const usual = counts.reduce((sum, count) => sum + count, 0) / Math.max(1, counts.length);
  const enough = Math.max(fewest, enoughPart * usual);
  return stats.steps.map(({ granted }, index) => index < over || granted >= enough);
}

/** Whether all that started in this time did at once: a line at 0 says less than a sentence. */
export function allAtOnceText({ total: { granted, waitSeconds } }: Stats): string | undefined {
  if (waitSeconds === null || waitSeconds.max >= 1) return undefined;
  return granted === 1 ? "The only one started at once" : `All ${grouped(granted)} started at once`;
}

interface WaitingNow {
  /**
   * When the request came that waits longest; null: nobody waits; undefined: the time is over. All in
   * seconds since 1970.
   */
  readonly since: number | null | undefined;
  /** The end of the chart. */
  readonly end: number;
  readonly now: number;
  readonly sparse?: boolean;
}

/**
 * The lines of the waits up to the end of the chart, with a dot there for the request that waits longest now.
 * How long others had waited before is not known, so it has no line.
 */
export function waitsUntilNow(
  stats: Stats,
  { since, end: chartEnd, now, sparse = isSparse(stats) }: WaitingNow,
) {
  const end = Math.min(now, chartEnd);
  const starts = stepTimes(stats).filter((at) => at < end);
  const times = [...starts, end];
  const lines = waitKeys(stats, sparse).flatMap((key): Line[] => {
    const line = waitLine(stats, key);
    const isLine = line.draw === undefined;
    const read = isLine ? heldOn(line.values, starts.length) : line.values;
    const last = isLine ? read[starts.length] : undefined;
    const values = times.map((at, index) => (at === end ? last : read[index]));
    if (!isLine || last !== undefined) return [{ ...line, values }];
    // At the beginning of the step that goes on ends the one before.
    return [{ ...line, values, readUntil: starts.length - 1 }, ...soFarLine(stats, key, times)];
  });
  if (since === undefined) return { times, lines };
  const total = since === null ? null : Math.max(0, now - since);
  const values = times.map((at) => (at === end ? (total ?? undefined) : undefined));
  const longest: Line = {
    ...{ label: "waits longest now", colour: "other", draw: "dots", values, total },
  };
  return { times, lines: [...lines, longest] };
}

/**
 * A value is of all its step, which may be minutes long: the last one goes on to the end of its step, which
 * is the start of the next one or the end of the chart.
 */
function heldOn(values: Line["values"], length: number): Line["values"] {
  const [before = null, last = null] = [values[length - 2], values[length - 1]];
  const shown = values.slice(0, length);
  return last === null ? [...shown.slice(0, -1), before] : [...shown, last];
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
export function startBars(stats: Stats, isPast = false) {
  const { stepSeconds, total } = stats;
  const isAway = awayIn(stats);
  const size = Math.max(1, Math.ceil(minute / stepSeconds));
  const lengthSeconds = size * stepSeconds;
  const { steps } = stats;
  const whole = stepsOver(stats, partialMax * lengthSeconds);
  const [first = 0] = stepTimes(stats);
  // At full minutes, so that a bar has the same count each time it is read; the first may begin before the chart does.
  const start = -Math.floor((first % lengthSeconds) / stepSeconds);
  const bars = Array.from({ length: Math.ceil((steps.length - start) / size) }, (_, index) => {
    const from = start + index * size;
    return { from, to: from + size };
  });
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
      // Of a bar there is one of these two, and the other is not read.
      if (!isShown[which](bar)) return undefined;
      const { from, to } = bar;
      const within = steps.slice(Math.max(0, from), to);
      const count = within.reduce((sum, step) => sum + step[key], 0);
      const isKnown = within.some(({ asked, utilisation }, index) => {
        return asked > 0 || (utilisation !== null && !isAway[Math.max(0, from) + index]);
      });
      return count > 0 || isKnown ? count : null;
    }),
  });
  // Nothing more comes in a bar that the end of a past time cuts.
  const label = isPast ? "part of a bar" : "last bar so far";
  const going = line("granted", "going", { label, colour: "started-soft" });
  const soFar = going.values.findLast((value) => (value ?? null) !== null);
  const times = bars.map(({ from }) => first + from * stepSeconds);
  return {
    ...{ title: "Leases", about: `each bar is ${barText(lengthSeconds)}` },
    ...{ times, barSeconds: lengthSeconds },
    // With all of the first bar: beyond the edge it would be in the sum and not in the picture.
    span: [
      Math.min(...times, Date.parse(stats.from) / 1_000),
      Date.parse(stats.to) / 1_000,
    ] as const,
    lines: [
      line("granted", "over", { label: "started", colour: "started" }),
      ...(soFar ? [{ ...going, total: soFar, aside: "" }] : []),
      {
        ...line("expired", "all", { label: "expired", colour: "bad" }),
        // Beside thousands that started, its bars are as low as bars may be.
        aside: ["in all", expiredShare(total)].filter(Boolean).join(", "),
      },
    ],
  };
}

/** `1 min`, `2h`. */
export function barText(seconds: number): string {
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
