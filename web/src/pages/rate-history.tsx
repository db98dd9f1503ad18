import { useMemo, useState } from "react";
import type { Pool, RateChange } from "../../../src/api/schemas.ts";
import { serverNowMs } from "../data/berth.ts";
import { useAnswer } from "../data/query.ts";
import { rateHistoryOf, statsOf } from "../data/questions.ts";
import { rangeOver } from "../parts/chart-fit.ts";
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
  rateWords,
  stepsOf,
  withStarts,
} from "./flow-facts.ts";

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

const rates = { format: rateWords };

type Changes = readonly RateChange[];

interface ChartProps {
  readonly pool: string;
  readonly changes: Changes;
  readonly advised: boolean;
}

/** No shorter, so that what starts per minute can be counted; and no longer than the charts of the page. */
const [shortestSeconds, longestSeconds] = [75 * 60, 86_400];

/** From the first change on, in steps of a minute or longer. */
function useStarts(pool: string, changes: Changes) {
  const since = Date.parse(changes[0]?.at ?? "") / 1_000;
  const range = useMemo(() => {
    const lengthSeconds = Math.ceil(serverNowMs() / 1_000 - since);
    return rangeOver(Math.min(longestSeconds, Math.max(shortestSeconds, lengthSeconds)), null);
  }, [since]);
  return useAnswer(statsOf(pool, range)).data;
}

function RateChart({ pool, changes, advised }: ChartProps) {
  const stats = useStarts(pool, changes);
  const { times, lines } = useMemo(() => {
    const changed = stepsOf(changes, serverNowMs());
    const label = advised ? "advised" : "allowed";
    const line = { label, colour: "muted", values: changed.rates, stepped: true };
    if (stats === undefined) return { times: changed.times, lines: [line] };
    const steps = withStarts(changed, stats);
    const started = { label: "started", colour: "started", values: steps.starts, stepped: true };
    return { times: steps.times, lines: [{ ...line, values: steps.rates }, started] };
  }, [changes, advised, stats]);
  return <TimeChart title="Starts per minute" {...{ times, lines }} scale={rates} />;
}

function RateTable({ changes }: { changes: Changes }) {
  const [limit, setLimit] = useState(5);
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
        {was === null || was === rate ? null : <span className="faint">{rateWords(was)} → </span>}
        {rate === null ? "unlimited" : rateWords(rate)}
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
