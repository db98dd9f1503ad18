import { useMemo } from "react";
import type { Stats } from "../../../src/api/history-schemas.ts";
import { useAnswer } from "../data/query.ts";
import { chartWindows, statsOf } from "../data/questions.ts";
import { Choice } from "../parts/choice.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { percent } from "../parts/numbers.ts";
import { TimeChart } from "../parts/time-chart.tsx";
import { inWords } from "../parts/times.tsx";
import { useFilter } from "../router.ts";

const options = chartWindows.map(([length]) => [length === "24h" ? "" : length, length] as const);

/** Waits, use and starts over time, of one pool or of all together. */
export function HistoryCharts({ pool }: { pool?: string }) {
  const [chosen] = useFilter("window");
  const window = chartWindows.find(([length]) => length === chosen)?.[0] ?? "24h";
  const { data, error } = useAnswer(statsOf(pool, window));
  return (
    <section aria-labelledby="history-title">
      <div className="tools">
        <h2 id="history-title">Over time</h2>
        <Choice name="window" label="Period" options={options} />
      </div>
      <ProblemNote error={error} />
      {data === undefined ? error === undefined && <Loading /> : <Charts stats={data} />}
    </section>
  );
}

function Charts({ stats }: { stats: Stats }) {
  const { times, waits, use, starts } = useMemo(() => curvesOf(stats), [stats]);
  const isOvercommitted = stats.steps.some(({ utilisation }) => (utilisation ?? 0) > 1);
  return (
    <div className="charts">
      <TimeChart title="Wait" times={times} lines={waits} format={inWords} />
      <TimeChart title="Use" times={times} lines={use} format={percent} top={1} />
      <TimeChart title="Starts per minute" times={times} lines={starts} format={short} />
      {isOvercommitted ? (
        <p className="calm">
          Use above 100 % is overcommitted: resources were made smaller or removed while they were
          held.
        </p>
      ) : null}
    </div>
  );
}

function short(value: number): string {
  if (value === 0) return "0";
  return value >= 10 ? String(Math.round(value)) : value.toFixed(value >= 1 ? 1 : 2);
}

function curvesOf({ steps, stepSeconds }: Stats) {
  const perMinute = (count: number) => count / (stepSeconds / 60);
  return {
    times: steps.map(({ at }) => Date.parse(at) / 1_000),
    waits: [
      {
        label: "9 in 10 within",
        colour: "late",
        values: steps.map(({ waitSeconds }) => waitSeconds?.p90 ?? null),
      },
      {
        label: "half within",
        colour: "held",
        values: steps.map(({ waitSeconds }) => waitSeconds?.p50 ?? null),
      },
    ],
    use: [
      {
        label: "held",
        colour: "held",
        fill: true,
        values: steps.map(({ utilisation }) => utilisation),
      },
    ],
    starts: [
      { label: "started", colour: "free", values: steps.map(({ granted }) => perMinute(granted)) },
      { label: "expired", colour: "bad", values: steps.map(({ expired }) => perMinute(expired)) },
    ],
  };
}
