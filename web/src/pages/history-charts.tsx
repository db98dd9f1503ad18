import { useMemo } from "react";
import type { Stats } from "../../../src/api/history-schemas.ts";
import { useAnswer } from "../data/query.ts";
import { fitOf, statsOf } from "../data/questions.ts";
import { counts, durations, parts } from "../parts/chart-axes.ts";
import { type ChartRange, windowNames } from "../parts/chart-fit.ts";
import { type Mark, marksWithin, markWords } from "../parts/chart-marks.ts";
import { useChartRange } from "../parts/chart-range.ts";
import { Choice } from "../parts/choice.tsx";
import { clockMinute, dayOf, zoneText } from "../parts/clock-time.ts";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { type Line, TimeChart } from "../parts/time-chart.tsx";
import { useMarks } from "./chart-marks.ts";
import { isAwayIn } from "./mark-facts.ts";

const options = [["", "Fit"], ...windowNames.map((name) => [name, name] as const)] as const;

interface Props {
  readonly pool?: string;
  /** How long the oldest request waits now; absent: the chart of the waits does not show it. */
  readonly oldestWaitSeconds?: number | null;
}

/** Waits, use and starts over time, of one pool or of all together. */
export function HistoryCharts({ pool, oldestWaitSeconds }: Props) {
  const { chosen, isZoomed, zoom, reset } = useChartRange();
  const { data: fitting, error } = useAnswer(fitOf(pool));
  const range = chosen ?? fitting;
  return (
    <section aria-labelledby="history-title">
      <div className="tools">
        <h2 id="history-title">Over time</h2>
        {isZoomed ? (
          <button type="button" onClick={reset}>
            Reset zoom
          </button>
        ) : (
          <Choice name="window" label="Period" options={options} />
        )}
        <small className="faint">
          {range?.since === undefined ? "" : `since ${sinceText(range.since)}; `}
          times in {zoneText()}
          <span className="with-mouse">; drag to zoom</span>
          <span className="with-touch">; tap a chart to read it</span>
        </small>
      </div>
      <ProblemNote error={error} />
      {range === undefined ? (
        error === undefined && <ChartsToCome />
      ) : (
        <Curves {...{ pool, range, oldestWaitSeconds }} onZoom={zoom} />
      )}
    </section>
  );
}

function sinceText(since: number): string {
  const at = new Date(since * 1_000);
  const isToday = at.toDateString() === new Date().toDateString();
  return isToday ? clockMinute(at) : `${dayOf(at)} ${clockMinute(at)}`;
}

/** As high as the charts, so that nothing below them moves when they come. */
function ChartsToCome() {
  return (
    <div className="charts to-come">
      <Loading />
    </div>
  );
}

interface CurvesProps {
  readonly pool: string | undefined;
  readonly oldestWaitSeconds: number | null | undefined;
  readonly range: ChartRange;
  readonly onZoom: (from: number, to: number) => void;
}

function Curves({ pool, range, oldestWaitSeconds, onZoom }: CurvesProps) {
  const { data, error } = useAnswer(statsOf(pool, range));
  const marks = useMarks(pool, data?.outages);
  return (
    <>
      <ProblemNote error={error} />
      {data === undefined ? (
        error === undefined && <ChartsToCome />
      ) : (
        <Charts stats={data} {...{ marks, oldestWaitSeconds, onZoom }} />
      )}
    </>
  );
}

interface ChartsProps extends Pick<CurvesProps, "oldestWaitSeconds"> {
  readonly stats: Stats;
  readonly marks: readonly Mark[];
  readonly onZoom: (from: number, to: number) => void;
}

function Charts({ stats, marks, oldestWaitSeconds, onZoom }: ChartsProps) {
  const { times, waits: started, use, starts } = useMemo(() => curvesOf(stats), [stats]);
  const waits = useMemo(() => {
    return oldestWaitSeconds === undefined
      ? started
      : [...started, oldestLine(times, Date.parse(stats.to) / 1_000, oldestWaitSeconds)];
  }, [started, times, stats.to, oldestWaitSeconds]);
  const span = useMemo(
    () => [Date.parse(stats.from) / 1_000, Date.parse(stats.to) / 1_000] as const,
    [stats.from, stats.to],
  );
  const shared = { times, marks, span, onZoom };
  const isOvercommitted = stats.steps.some(({ utilisation }) => (utilisation ?? 0) > 1);
  return (
    <div className="charts">
      <TimeChart
        title="Wait until the start"
        lines={waits}
        scale={durations}
        emptyText="No request has started in this time"
        {...shared}
      />
      <TimeChart
        title="In use"
        lines={use}
        scale={parts}
        emptyText="There was nothing to lend in this time"
        {...shared}
      />
      <TimeChart
        title="Leases per minute"
        lines={starts}
        scale={counts}
        emptyText="There was nothing to lend in this time"
        {...shared}
      />
      <MarkKey marks={marksWithin(marks, ...span)} />
      {isOvercommitted ? (
        <p className="calm">
          Use above 100 % is overcommitted: resources were made smaller or removed while they were
          held.
        </p>
      ) : null}
    </div>
  );
}

/** More marks are named under the pointer. */
const namedMarks = 3;

/** What the dashed lines and grey fields are, the latest first. */
function MarkKey({ marks }: { marks: readonly Mark[] }) {
  if (marks.length === 0) return null;
  const latest = marks.toSorted((a, b) => b.at - a.at);
  const more = marks.length - namedMarks;
  return (
    <p className="legend mark-key">
      {latest.slice(0, namedMarks).map((mark) => (
        <span key={`${mark.at} ${mark.text}`}>
          <i
            className={mark.until === undefined ? "key-moment" : "key-outage"}
            aria-hidden="true"
          />{" "}
          {markWords(mark)}
        </span>
      ))}
      {more > 0 ? <span>and {grouped(more)} more: point at a line to read it</span> : null}
    </p>
  );
}

const waitLabels = {
  p50: "half within",
  p90: "9 in 10 within",
  p99: "99 in 100 within",
} as const;

function curvesOf(stats: Stats) {
  const { steps, stepSeconds, to, outages } = stats;
  const end = Date.parse(to) / 1_000;
  const times = steps.map(({ at }) => Date.parse(at) / 1_000);
  const isAway = times.map((at) => {
    return isAwayIn(outages, at * 1_000, Math.min(end, at + stepSeconds) * 1_000);
  });
  // The last step is not over yet. Before the first resource there is nothing to count.
  const perMinute = (count: number, index: number) => {
    const { asked = 0, utilisation = null } = steps[index] ?? {};
    const isEmpty = asked === 0 && count === 0;
    if (isEmpty && (utilisation === null || isAway[index])) return null;
    const length = Math.min(stepSeconds, end - (times[index] ?? 0));
    return count / (Math.max(1, length) / 60);
  };
  const waits = (key: keyof typeof waitLabels, dashed = false) => ({
    ...{ label: waitLabels[key], colour: "late", dashed },
    values: steps.map(({ waitSeconds }) => waitSeconds?.[key] ?? null),
  });
  return {
    times,
    // Of all pools together, nine in ten hardly ever wait.
    waits:
      stats.pool === null ? [waits("p99"), waits("p90", true)] : [waits("p90"), waits("p50", true)],
    use: linesOfUse(stats, isAway),
    starts: [
      {
        label: "started",
        colour: "started",
        values: steps.map(({ granted }, index) => perMinute(granted, index)),
      },
      {
        label: "expired",
        colour: "bad",
        values: steps.map(({ expired }, index) => perMinute(expired, index)),
      },
    ],
  };
}

/** Beyond these, dimensions are in the tables. The first has the colour of what is held. */
const dimensionColours = ["held", "cleaning", "making", "dirty"];

/** A line for each dimension of a shared pool, one for anything else. */
function linesOfUse({ pool, steps, total }: Stats, isAway: readonly boolean[]): Line[] {
  const line = (of: (step: Stats["steps"][number]) => number | null) =>
    steps.map((step, index) => (isAway[index] ? null : of(step)));
  if (pool === null || total.dimensions.length === 0) {
    const values = line(({ utilisation }) => utilisation);
    return [{ label: "held", colour: "held", fill: true, values }];
  }
  return total.dimensions.slice(0, dimensionColours.length).map(({ name }, index) => ({
    label: name,
    colour: dimensionColours[index] ?? "other",
    values: line(
      ({ dimensions }) => dimensions.find((one) => one.name === name)?.utilisation ?? null,
    ),
  }));
}

/** The other lines have only requests that have started. This wait has grown since it was asked. */
function oldestLine(times: readonly number[], now: number, seconds: number | null) {
  const values = times.map((at, index) => {
    if (seconds === null) return null;
    const waited = seconds - (now - at);
    return index === times.length - 1 ? seconds : waited < 0 ? null : waited;
  });
  return { label: "oldest waiting", colour: "other", values };
}
