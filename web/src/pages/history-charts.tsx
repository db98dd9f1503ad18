import { type RefObject, useEffect, useMemo, useRef } from "react";
import type { Stats } from "../../../src/api/history-schemas.ts";
import { serverNowMs } from "../data/berth.ts";
import { useAnswer } from "../data/query.ts";
import { fitOf, statsOf } from "../data/questions.ts";
import { durations, parts, smallParts, wholeCounts } from "../parts/chart-axes.ts";
import {
  type ChartRange,
  shownRange,
  widerSteps,
  windowNames,
  zoomText,
} from "../parts/chart-fit.ts";
import { type Mark, marksWithin, markWords } from "../parts/chart-marks.ts";
import { useChartRange } from "../parts/chart-range.ts";
import { ChoiceButtons } from "../parts/choice.tsx";
import { clockMinute, dayOf, zoneText } from "../parts/clock-time.ts";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { TimeChart } from "../parts/time-chart.tsx";
import { useFilter } from "../router.ts";
import { useMarks } from "./chart-marks.ts";
import { CompareWeeksOf } from "./compare-weeks.tsx";
import {
  allAtOnceText,
  heldLines,
  isSparse,
  startBars,
  stepTimes,
  waitLines,
  waitsUntilNow,
} from "./history-curves.ts";

const options = [["", "All"], ...windowNames.map((name) => [name, name] as const)] as const;

interface Props {
  readonly pool?: string;
  /**
   * When the request came that waits longest now, in seconds since 1970; null: nobody waits. Absent: the
   * chart of the waits does not show it, and never in a time that is over.
   */
  readonly waitsSince?: number | null;
  /** The pool makes its clusters: use is a part of those that there are, not of those that there may be. */
  readonly useIsOfExisting?: boolean;
}

/** Waits, use and starts over time, of one pool or of all together. */
export function HistoryCharts({ pool, waitsSince, useIsOfExisting = false }: Props) {
  const { chosen, isZoomed, zoom, reset, choose } = useChartRange();
  const { data: fitting, error } = useAnswer(fitOf(pool));
  const range = shownRange(chosen, fitting);
  const section = useRef<HTMLElement>(null);
  useScrollToZoom(section, pool !== undefined && isZoomed && range !== undefined);
  return (
    <section aria-labelledby="history-title" ref={section}>
      <div className="tools">
        <h2 id="history-title">Over time</h2>
        <PeriodChoice {...{ isZoomed, choose }} />
        {isZoomed && chosen !== null ? <ZoomedTo range={chosen} onReset={reset} /> : null}
        <small className="faint">
          {range?.since === undefined ? "" : `since ${sinceText(range.since)}, no leases before; `}
          numbers are of {isZoomed && chosen !== null ? zoomText(chosen) : "the whole time"}; times
          in {zoneText()}
          <span className="with-mouse">; drag to zoom</span>
          <span className="with-touch">; tap a chart to read it</span>
        </small>
      </div>
      {range === undefined ? (
        <ChartsToCome error={error} />
      ) : (
        <>
          <ProblemNote error={error} />
          <Curves {...{ pool, range, waitsSince, useIsOfExisting }} onZoom={zoom} />
        </>
      )}
      {pool === undefined ? null : <CompareWeeksOf pool={pool} />}
    </section>
  );
}

/** A link to a zoom is about the charts; below other blocks nobody would see them. Who zooms has them in view. */
function useScrollToZoom(charts: RefObject<HTMLElement | null>, isZoom: boolean): void {
  const isFirst = useRef(true);
  useEffect(() => {
    if (isZoom && isFirst.current && location.hash === "") charts.current?.scrollIntoView();
    isFirst.current = false;
  }, [charts, isZoom]);
}

interface PeriodProps {
  readonly isZoomed: boolean;
  readonly choose: (window: string) => void;
}

/** A period is another view of all the time, so it ends a zoom. */
function PeriodChoice({ isZoomed, choose }: PeriodProps) {
  const [window] = useFilter("window");
  const chosen = isZoomed ? undefined : window;
  return <ChoiceButtons label="Period" {...{ options, chosen }} onChoose={choose} />;
}

function ZoomedTo({ range, onReset }: { range: ChartRange; onReset: () => void }) {
  return (
    <>
      <span>{zoomText(range)}</span>
      <button type="button" onClick={onReset}>
        Reset zoom
      </button>
    </>
  );
}

function sinceText(since: number): string {
  const at = new Date(since * 1_000);
  const isToday = at.toDateString() === new Date().toDateString();
  return isToday ? clockMinute(at) : `${dayOf(at)} ${clockMinute(at)}`;
}

/** As high as the charts, so that nothing below them moves when they come, or come late. */
function ChartsToCome({ error }: { error: unknown }) {
  return (
    <div className="charts to-come">
      <ProblemNote error={error} />
      <Loading error={error} />
    </div>
  );
}

interface CurvesProps {
  readonly pool: string | undefined;
  readonly waitsSince: number | null | undefined;
  readonly useIsOfExisting: boolean;
  readonly range: ChartRange;
  readonly onZoom: (from: number, to: number) => void;
}

function Curves({ pool, range, onZoom, ...shown }: CurvesProps) {
  const { data, error } = useAnswer(statsOf(pool, range));
  const waitRange = pool === undefined || data === undefined ? range : widerSteps(range, data);
  const { data: forWaits = data } = useAnswer(statsOf(pool, waitRange));
  const marks = useMarks(pool, data?.outages);
  if (data === undefined) return <ChartsToCome error={error} />;
  return (
    <>
      <ProblemNote error={error} />
      <Charts
        stats={data}
        // The figures beside the names are of exactly the same time in all charts.
        waitStats={{ ...(forWaits ?? data), total: data.total }}
        isPast={range.until !== null && range.until * 1_000 < serverNowMs()}
        {...{ marks, onZoom, ...shown }}
      />
    </>
  );
}

interface ChartsProps extends Pick<CurvesProps, "waitsSince" | "useIsOfExisting"> {
  readonly stats: Stats;
  /** Of the same time, perhaps in longer steps. */
  readonly waitStats: Stats;
  /** Nothing of now belongs into it. */
  readonly isPast: boolean;
  readonly marks: readonly Mark[];
  readonly onZoom: (from: number, to: number) => void;
}

function Charts(props: ChartsProps) {
  const { stats, waitStats, isPast, marks, waitsSince, useIsOfExisting, onZoom } = props;
  const { times, use, starts } = useMemo(
    () => ({ times: stepTimes(stats), use: heldLines(stats), starts: startBars(stats, isPast) }),
    [stats, isPast],
  );
  const span = useMemo(
    () => [Date.parse(stats.from) / 1_000, Date.parse(stats.to) / 1_000] as const,
    [stats.from, stats.to],
  );
  const sparse = useSparse(waitStats);
  const waits = useMemo(() => {
    if (waitsSince === undefined)
      return { times: stepTimes(waitStats), lines: waitLines(waitStats, sparse) };
    const [, end] = span;
    const since = isPast ? undefined : waitsSince;
    return waitsUntilNow(waitStats, { since, end, now: serverNowMs() / 1_000, sparse });
  }, [waitStats, waitsSince, isPast, span, sparse]);
  const nobodyWaits = isPast || (waitsSince ?? null) === null;
  const shared = { times, marks, span, onZoom };
  const isOvercommitted = stats.steps.some(({ utilisation }) => (utilisation ?? 0) > 1);
  return (
    <div className="charts">
      <TimeChart
        {...shared}
        {...waits}
        barSeconds={waitStats.stepSeconds}
        title="Wait until the start"
        about="of those that started"
        scale={durations}
        emptyText="No request has started in this time"
        flatText={nobodyWaits ? allAtOnceText(stats) : undefined}
      />
      <TimeChart
        title="In use"
        {...(useIsOfExisting && { about: "of the clusters there were" })}
        lines={use}
        scale={stats.pool === null ? smallParts : parts}
        emptyText="There was nothing to lend in this time"
        {...shared}
        barSeconds={stats.stepSeconds}
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

/** What the dashed lines and grey fields are: the latest of them, in the order of the chart. */
function MarkKey({ marks }: { marks: readonly Mark[] }) {
  if (marks.length === 0) return null;
  const latest = marks.toSorted((a, b) => b.at - a.at);
  const more = marks.length - namedMarks;
  return (
    <p className="legend mark-key">
      {latest
        .slice(0, namedMarks)
        .toReversed()
        .map((mark) => (
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

/** Whether the waits are drawn one by one: it changes only when the steps clearly have other counts. */
function useSparse(stats: Stats): boolean {
  const last = useRef<boolean>(undefined);
  const sparse = isSparse(stats, last.current);
  useEffect(() => {
    last.current = sparse;
  }, [sparse]);
  return sparse;
}
