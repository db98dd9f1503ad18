import { useMemo } from "react";
import type { Stats } from "../../../src/api/history-schemas.ts";
import { useAnswer } from "../data/query.ts";
import { fitOf, statsOf } from "../data/questions.ts";
import { durations, parts, smallParts, wholeCounts } from "../parts/chart-axes.ts";
import { type ChartRange, shownRange, windowNames } from "../parts/chart-fit.ts";
import { type Mark, marksWithin, markWords } from "../parts/chart-marks.ts";
import { useChartRange } from "../parts/chart-range.ts";
import { Choice } from "../parts/choice.tsx";
import { clockMinute, dayOf, zoneText } from "../parts/clock-time.ts";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { TimeChart } from "../parts/time-chart.tsx";
import { useMarks } from "./chart-marks.ts";
import { CompareWeeksOf } from "./compare-weeks.tsx";
import { heldLines, oldestLine, startBars, stepTimes, waitLines } from "./history-curves.ts";

const options = [["", "All"], ...windowNames.map((name) => [name, name] as const)] as const;

interface Props {
  readonly pool?: string;
  /** How long the oldest request waits now; absent: the chart of the waits does not show it. */
  readonly oldestWaitSeconds?: number | null;
}

/** Waits, use and starts over time, of one pool or of all together. */
export function HistoryCharts({ pool, oldestWaitSeconds }: Props) {
  const { chosen, isZoomed, zoom, reset } = useChartRange();
  const { data: fitting, error } = useAnswer(fitOf(pool));
  const range = shownRange(chosen, fitting);
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
          {range?.since === undefined ? "" : `since ${sinceText(range.since)}, no leases before; `}
          numbers are of the whole time; times in {zoneText()}
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
      {pool === undefined ? null : <CompareWeeksOf pool={pool} />}
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
  const { times, use, starts } = useMemo(
    () => ({ times: stepTimes(stats), use: heldLines(stats), starts: startBars(stats) }),
    [stats],
  );
  const waits = useMemo(() => {
    const started = waitLines(stats);
    return oldestWaitSeconds === undefined
      ? started
      : [...started, oldestLine(times, Date.parse(stats.to) / 1_000, oldestWaitSeconds)];
  }, [stats, times, oldestWaitSeconds]);
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
        scale={stats.pool === null ? smallParts : parts}
        emptyText="There was nothing to lend in this time"
        {...shared}
      />
      <TimeChart
        {...shared}
        {...starts}
        scale={wholeCounts}
        emptyText="There was nothing to lend in this time"
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
