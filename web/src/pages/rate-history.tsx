import { useMemo, useState } from "react";
import type { Pool, RateChange } from "../../../src/api/schemas.ts";
import { serverNowMs } from "../data/berth.ts";
import { useAnswer } from "../data/query.ts";
import { rateHistoryOf } from "../data/questions.ts";
import { causeWords } from "../parts/event-verbs.ts";
import { HolderLink } from "../parts/holder-link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { TimeChart } from "../parts/time-chart.tsx";
import { Moment } from "../parts/times.tsx";
import {
  type FoldedChange,
  findsItsRate,
  foldedChanges,
  rateWords,
  stepsOf,
} from "./flow-facts.ts";

/** The changes of the start rate: a chart if reports change it, and a table. */
export function RateHistory({ pool }: { pool: Pool }) {
  const { data, error } = useAnswer(rateHistoryOf(pool.name));
  const changes = data?.changes ?? [];
  return (
    <>
      <ProblemNote error={error} />
      {findsItsRate(pool.policy) && changes.length > 1 ? (
        <RateChart changes={changes} advised={pool.policy.adaptive?.mode === "advise"} />
      ) : null}
      {changes.length === 0 ? null : <RateTable changes={changes} />}
    </>
  );
}

const rates = { format: rateWords };

type Changes = readonly RateChange[];

function RateChart({ changes, advised }: { changes: Changes; advised: boolean }) {
  const { times, lines } = useMemo(() => {
    const steps = stepsOf(changes, serverNowMs());
    const label = advised ? "advised" : "allowed";
    const line = { label, colour: "started", values: steps.rates, stepped: true };
    return { times: steps.times, lines: [line] };
  }, [changes, advised]);
  const title = advised ? "Advised starts per minute" : "Allowed starts per minute";
  return <TimeChart {...{ title, times, lines }} scale={rates} />;
}

function RateTable({ changes }: { changes: Changes }) {
  const [shown, setShown] = useState(5);
  const newest = foldedChanges(changes);
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
      <MoreButton shown={shown} of={newest.length} onMore={setShown} />
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
