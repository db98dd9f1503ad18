import { useMemo, useState } from "react";
import type { Pool, RateChange } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { fitOf, rateHistoryOf, statsOf } from "../data/questions.ts";
import { type ChartRange, shownRange } from "../parts/chart-fit.ts";
import { useChartRange } from "../parts/chart-range.ts";
import { causeWords } from "../parts/event-verbs.ts";
import { HolderLink } from "../parts/holder-link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { shownRows } from "../parts/shown-rows.ts";
import { TimeChart } from "../parts/time-chart.tsx";
import { Moment } from "../parts/times.tsx";
import {
  type FoldedChange,
  findsItsRate,
  foldedChanges,
  roughRate,
  startsBesideRate,
} from "./flow-facts.ts";
import { barText } from "./history-curves.ts";

/** The changes of the start rate: a chart if reports change it, and a table. */
export function RateHistory({ pool }: { pool: Pool }) {
  const { data, error } = useAnswer(rateHistoryOf(pool.name));
  const changes = data?.changes ?? [];
  return (
    <>
      <ProblemNote error={error} />
      {findsItsRate(pool.policy) && changes.length > 1 ? (
        <RateChart
          {...{ changes }}
          pool={pool.name}
          advised={pool.policy.adaptive?.mode === "advise"}
        />
      ) : null}
      {changes.length === 0 ? null : <RateTable changes={changes} />}
    </>
  );
}

const rates = { format: roughRate };

type Changes = readonly RateChange[];

interface ChartProps {
  readonly pool: string;
  readonly changes: Changes;
  readonly advised: boolean;
}

/** Starts of a shorter time say nothing about a rate per minute. */
const shortestStep = 60;

/** Of the same time as the charts of the page. */
function RateChart({ pool, changes, advised }: ChartProps) {
  const { chosen, zoom } = useChartRange();
  const { data: fitting } = useAnswer(fitOf(pool));
  const range = shownRange(chosen, fitting);
  return range === undefined ? null : (
    <RateCurve {...{ pool, range, changes, advised }} onZoom={zoom} />
  );
}

interface CurveProps extends ChartProps {
  readonly range: ChartRange;
  readonly onZoom: (from: number, to: number) => void;
}

/** It goes on, so it would read as a fall. */
const lastBar = {
  ...{ label: "last bar so far", colour: "started-soft", draw: "bars" as const },
};

function RateCurve({ pool, range, changes, advised, onZoom }: CurveProps) {
  const stepSeconds = Math.max(shortestStep, range.stepSeconds);
  const { data: stats } = useAnswer(statsOf(pool, { ...range, stepSeconds }));
  const { times, lines, span } = useMemo(() => {
    const read = stats ?? { steps: [], stepSeconds: 0, to: "" };
    const { times, allowed, started, going } = startsBesideRate(changes, read);
    const isNow = range.until === null;
    return {
      times,
      lines: [
        {
          ...{ label: "started", colour: "started", values: started, draw: "bars" as const },
          ...{ total: stats?.total.granted ?? null, aside: "in all" },
        },
        ...(isNow && going.some((count) => count !== undefined)
          ? [{ ...lastBar, values: going, total: stats?.steps.at(-1)?.granted ?? null }]
          : []),
        {
          ...{ label: `${advised ? "advised" : "allowed"}${isNow ? " now" : ""}`, colour: "muted" },
          ...{
            values: allowed,
            stepped: true,
            ...(isNow && { total: changes.at(-1)?.rate ?? null }),
          },
        },
      ],
      span: stats && ([Date.parse(stats.from) / 1_000, Date.parse(stats.to) / 1_000] as const),
    };
  }, [changes, advised, stats, range.until]);
  return (
    <TimeChart
      title="Starts per minute"
      about={`each bar is ${barText(stepSeconds)}, and what was allowed is its average`}
      {...{ times, lines, onZoom }}
      {...(span && { span })}
      barSeconds={stepSeconds}
      scale={rates}
    />
  );
}

/** The queue is below. */
const rowsAtFirst = 2;

function RateTable({ changes }: { changes: Changes }) {
  const [limit, setLimit] = useState(rowsAtFirst);
  const newest = foldedChanges(changes);
  const shown = shownRows(limit, newest.length);
  // Most changes have neither: the rate rises by itself.
  const named = { by: changes.some(hasAuthor), why: changes.some(({ why }) => why !== null) };
  return (
    <>
      <table className="rates stack" aria-label="Changes of the start rate">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col" className="number">
              Per minute
            </th>
            <th scope="col">Cause</th>
            {named.by ? <th scope="col">By</th> : null}
            {named.why ? <th scope="col">Why</th> : null}
          </tr>
        </thead>
        <tbody>
          {newest.slice(0, shown).map((change) => (
            <Row key={`${change.at} ${change.cause}`} change={change} named={named} />
          ))}
        </tbody>
      </table>
      <MoreButton shown={shown} of={newest.length} onMore={setLimit} />
    </>
  );
}

function hasAuthor({ lease, by }: RateChange): boolean {
  return lease !== null || by !== null;
}

interface RowProps {
  readonly change: FoldedChange;
  /** The columns that the table has. */
  readonly named: { readonly by: boolean; readonly why: boolean };
}

function Row({ change, named }: RowProps) {
  const { at: when, rate, was, cause, lease, by, why, advised, rises } = change;
  return (
    <tr>
      <td>
        <Moment at={when} />
      </td>
      <td className="number" data-label="Per minute">
        {was === null || was === rate ? null : <span className="faint">{roughRate(was)} → </span>}
        {rate === null ? "unlimited" : roughRate(rate)}
      </td>
      <td className={cause === "throttled" ? "late" : undefined}>
        {causeWords(cause)}
        {rises === 1 ? null : <small className="faint"> {grouped(rises)} rises</small>}
        {advised ? <small> advised only</small> : null}
      </td>
      {named.by ? <td>{lease === null ? by : <HolderLink id={lease} />}</td> : null}
      {named.why ? <td className="words">{why}</td> : null}
    </tr>
  );
}
