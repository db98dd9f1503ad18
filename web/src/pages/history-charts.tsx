import { useMemo } from "react";
import type { Stats } from "../../../src/api/history-schemas.ts";
import { roughDuration } from "../../../src/core/model/time.ts";
import { useAnswer } from "../data/query.ts";
import { fitOf, statsOf } from "../data/questions.ts";
import { counts, durations, parts } from "../parts/chart-axes.ts";
import { type ChartRange, windowNames } from "../parts/chart-fit.ts";
import { useChartRange } from "../parts/chart-range.ts";
import { Choice } from "../parts/choice.tsx";
import { zoneText } from "../parts/clock-time.ts";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { type Mark, TimeChart } from "../parts/time-chart.tsx";
import { useMarks } from "./chart-marks.ts";
import { isAwayIn } from "./mark-facts.ts";

const options = [["", "Fit"], ...windowNames.map((name) => [name, name] as const)] as const;

/** Waits, use and starts over time, of one pool or of all together. */
export function HistoryCharts({ pool }: { pool?: string }) {
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
          {range === undefined || isZoomed
            ? ""
            : `last ${roughDuration(range.lengthSeconds * 1_000)}, `}
          times in {zoneText()}; drag to zoom
        </small>
      </div>
      <ProblemNote error={error} />
      {range === undefined ? (
        error === undefined && <Loading />
      ) : (
        <Curves pool={pool} range={range} onZoom={zoom} />
      )}
    </section>
  );
}

interface CurvesProps {
  readonly pool: string | undefined;
  readonly range: ChartRange;
  readonly onZoom: (from: number, to: number) => void;
}

function Curves({ pool, range, onZoom }: CurvesProps) {
  const { data, error } = useAnswer(statsOf(pool, range));
  const marks = useMarks(pool, data?.outages);
  return (
    <>
      <ProblemNote error={error} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : (
        <Charts stats={data} marks={marks} onZoom={onZoom} />
      )}
    </>
  );
}

interface ChartsProps {
  readonly stats: Stats;
  readonly marks: readonly Mark[];
  readonly onZoom: (from: number, to: number) => void;
}

function Charts({ stats, marks, onZoom }: ChartsProps) {
  const { times, waits, use, starts } = useMemo(() => curvesOf(stats), [stats]);
  const isOvercommitted = stats.steps.some(({ utilisation }) => (utilisation ?? 0) > 1);
  return (
    <div className="charts">
      <TimeChart
        title="Wait"
        times={times}
        lines={waits}
        scale={durations}
        {...{ marks, onZoom }}
      />
      <TimeChart title="Use" times={times} lines={use} scale={parts} {...{ marks, onZoom }} />
      <TimeChart
        title="Per minute"
        times={times}
        lines={starts}
        scale={counts}
        {...{ marks, onZoom }}
      />
      {isOvercommitted ? (
        <p className="calm">
          Use above 100 % is overcommitted: resources were made smaller or removed while they were
          held.
        </p>
      ) : null}
    </div>
  );
}

function curvesOf({ steps, stepSeconds, to, outages }: Stats) {
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
  return {
    times,
    waits: [
      {
        label: "9 in 10 within",
        colour: "late",
        values: steps.map(({ waitSeconds }) => waitSeconds?.p90 ?? null),
      },
      {
        label: "half within",
        colour: "late",
        dashed: true,
        values: steps.map(({ waitSeconds }) => waitSeconds?.p50 ?? null),
      },
    ],
    use: [
      {
        label: "held",
        colour: "held",
        fill: true,
        values: steps.map(({ utilisation }, index) => (isAway[index] ? null : utilisation)),
      },
    ],
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
