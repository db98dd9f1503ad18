import { useState } from "react";
import { useAnswer } from "../data/query.ts";
import { allSpaces, fitOf, onePool, poolStatsOf } from "../data/questions.ts";
import { type ChartRange, shownRange } from "../parts/chart-fit.ts";
import { useChartRange } from "../parts/chart-range.ts";
import { Choice } from "../parts/choice.tsx";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped, percent } from "../parts/numbers.ts";
import { rowsAtFirst } from "../parts/phone.ts";
import { inWholeSeconds, inWords } from "../parts/times.tsx";
import { at, useFilter, usePlace, withFilters } from "../router.ts";
import { heldBackWords, quotasOf, quotaWords } from "./held-back.ts";
import { whatIfAt } from "./what-if-place.ts";
import {
  expiredShare,
  type PoolPart,
  type WorstWords,
  waitedInAll,
  worstBy,
  worstColumns,
  worstOrders,
  worstWords,
} from "./worst-facts.ts";

/** The pools that kept requests waiting, in the time that the charts show. */
export function WorstPools() {
  const { chosen } = useChartRange();
  const { data: fitting } = useAnswer(fitOf(undefined));
  const range = shownRange(chosen, fitting);
  return (
    <section aria-labelledby="worst-title">
      <div className="tools">
        <h2 id="worst-title">Where requests waited</h2>
        <Choice name="worst" label="Order" options={worstOrders} />
      </div>
      {range === undefined ? <Loading /> : <Ranked range={range} />}
    </section>
  );
}

const shownAtFirst = 8;
const shownOnPhone = 5;

function Ranked({ range }: { range: ChartRange }) {
  const { data, error } = useAnswer(poolStatsOf(range));
  const [order] = useFilter("worst");
  const [shown, setShown] = useState(rowsAtFirst(shownAtFirst, shownOnPhone));
  if (data === undefined) return error === undefined ? <Loading /> : <ProblemNote error={error} />;
  const rows = worstBy(data.pools, order);
  return (
    <>
      <Answer {...worstWords(data.pools, order)} />
      {rows.length === 0 ? null : <Table rows={rows.slice(0, shown)} />}
      <MoreButton shown={shown} of={rows.length} onMore={setShown} />
    </>
  );
}

function Answer({ text, lacking, halfFree }: WorstWords) {
  return (
    <p className="answer">
      <b>{text}</b>{" "}
      {lacking === undefined ? null : (
        <>
          <Link href={whatIfAt(lacking)}>More of it</Link> would help. <Quotas pool={lacking} />
        </>
      )}
      {halfFree === undefined ? null : <HeldBack pool={halfFree} />}
    </p>
  );
}

function Quotas({ pool }: { pool: string }) {
  const { data: spaces = [] } = useAnswer(allSpaces);
  return <b>{quotaWords(quotasOf(pool, spaces))}</b>;
}

/** Nothing if the pool is no longer there. */
function HeldBack({ pool }: { pool: string }) {
  const { data } = useAnswer(onePool(pool));
  const { data: spaces = [] } = useAnswer(allSpaces);
  return data === undefined ? null : <b>{heldBackWords(data, quotasOf(pool, spaces))}</b>;
}

function Table({ rows }: { rows: readonly PoolPart[] }) {
  const longest = Math.max(1, ...rows.map(waitedInAll));
  return (
    <table className="worst stack">
      <thead>
        <tr>
          <th scope="col">Pool</th>
          <Sorted order={worstColumns.waited} className="bar-cell" label="Waited in all" />
          <Sorted order={worstColumns.p90} label="9 in 10 within" of="of those that started" />
          <Sorted order={worstColumns.longest} label="Longest" of="of those that started" />
          <Sorted order={worstColumns.granted} label="Granted" />
          <Sorted order={worstColumns.use} className="bar-cell" label="In use" />
          <Sorted order={worstColumns.expired} label="Expired" />
          <Sorted order={worstColumns.left} label="Never started" />
        </tr>
      </thead>
      <tbody>
        {rows.map((part) => (
          <Row key={part.pool} part={part} longest={longest} />
        ))}
      </tbody>
    </table>
  );
}

interface SortedProps {
  readonly order: string;
  readonly label: string;
  readonly className?: string;
  /** What it is of. */
  readonly of?: string;
}

/** The header of a column, which sorts by it. */
function Sorted({ order, label, className = "number", of }: SortedProps) {
  const [chosen, choose] = useFilter("worst");
  const isSorted = chosen === order;
  return (
    <th scope="col" className={className} aria-sort={isSorted ? "descending" : undefined}>
      <button type="button" onClick={() => choose(order)}>
        {label}
        {of === undefined ? null : <small> {of}</small>}
        <span aria-hidden="true">{isSorted ? " ↓" : ""}</span>
      </button>
    </th>
  );
}

function Row({ part, longest }: { part: PoolPart; longest: number }) {
  const { pool, granted, waitSeconds, utilisation, ended, expired, left } = part;
  const waited = waitedInAll(part);
  const leftHref = useLeftOf(pool);
  return (
    <tr data-row>
      <th scope="row">
        <Link href={at("pools", pool) + useWindowQuery()}>{pool}</Link>
      </th>
      <td className="bar-cell" data-label="Waited">
        <Measure look="waiting" share={waited / longest} text={inWholeSeconds(waited)} />
      </td>
      <td className="number" data-label="9 in 10 within">
        {inWords(waitSeconds?.p90)}
      </td>
      <td className="number on-desk" data-label="Longest">
        {inWords(waitSeconds?.max)}
      </td>
      <td className="number on-desk" data-label="Granted">
        {grouped(granted)}
      </td>
      <td className="bar-cell" data-label="In use">
        {utilisation === null ? (
          "–"
        ) : (
          <Measure look="held" share={utilisation} text={percent(utilisation)} />
        )}
      </td>
      <td className={expired === 0 ? "number faint on-desk" : "number"} data-label="Expired">
        {grouped(expired)}
        {expired === 0 ? null : (
          <small className="faint rate" title={`Of ${grouped(ended)} leases that ended`}>
            {" "}
            {expiredShare(part)}
          </small>
        )}
      </td>
      <td className={left === 0 ? "number faint on-desk" : "number"} data-label="Never started">
        {left === 0 ? "0" : <Link href={leftHref}>{grouped(left)}</Link>}
      </td>
    </tr>
  );
}

/** Those that left its queue, among the past leases below. */
function useLeftOf(pool: string): string {
  const place = usePlace();
  const filters = { q: pool, how: "left", purpose: "" };
  return `${withFilters(place, filters)}#past-title`;
}

/** The pool's charts then show the same time. */
function useWindowQuery(): string {
  const { query } = usePlace();
  const kept = new URLSearchParams();
  for (const name of ["window", "from", "to"]) {
    const value = query.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept.size === 0 ? "" : `?${kept}`;
}

function Measure({ look, share, text }: { look: string; share: number; text: string }) {
  return (
    <span className="measure">
      <span className="bar" aria-hidden="true">
        <span
          className={`look-${look}`}
          style={{ flexBasis: `${Math.min(1, Math.max(0, share)) * 100}%` }}
        />
      </span>
      <span>{text}</span>
    </span>
  );
}
