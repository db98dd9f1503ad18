import { useMemo, useRef, useState } from "react";
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Trends } from "../../../src/api/schemas.ts";
import { roughDuration } from "../../../src/core/model/time.ts";
import type { ListedPool as Pool } from "../data/pool-list.ts";
import { type PoolTroubles, waitsTooLong } from "../data/pool-troubles.ts";
import { useAnswer } from "../data/query.ts";
import { allPools, allTrends } from "../data/questions.ts";
import { usePoolTroubles } from "../data/troubles.ts";
import { Choice } from "../parts/choice.tsx";
import { Figures } from "../parts/figures.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { FoldedLegend } from "../parts/legend.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { NoMatch } from "../parts/no-match.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { rowsAtFirst, useIsPhone } from "../parts/phone.ts";
import { lookOf } from "../parts/state-look.ts";
import { Age } from "../parts/times.tsx";
import { useFilter } from "../router.ts";
import { Attention } from "./attention.tsx";
import {
  andMore,
  clustersNotReady,
  coolingIn,
  hibernatedIn,
  isIdle,
  outOf,
  statesOf,
  troubleFirstWords,
  waitingIn,
} from "./pool-facts.ts";
import { poolOrders, usePoolOrder } from "./pool-order.ts";
import { PoolRow } from "./pool-row.tsx";
import { Servers } from "./servers.tsx";
import { SortHeader } from "./sort-header.tsx";
import { stockFigures, sumOf } from "./stock-figures.ts";
import { useCalmOrder } from "./use-calm-order.ts";

/** More rows than anybody reads. With more pools, use the filter. */
const rowsMax = 600;
/** Fewer idle pools are not in the way. */
const foldedMin = 10;

export function Overview() {
  const { data, error } = useAnswer(allPools);
  const { data: trends } = useAnswer(allTrends);
  return (
    <>
      <h1 className="hidden">All pools</h1>
      <ProblemNote error={error} />
      <Attention />
      {data === undefined ? <Loading /> : <Pools pools={data.pools} trends={trends} />}
      <Servers />
    </>
  );
}

function Pools({ pools, trends }: { pools: readonly Pool[]; trends: Trends | undefined }) {
  const [text] = useFilter("q");
  const [show] = useFilter("show");
  const [sort] = usePoolOrder();
  const troubles = usePoolTroubles();
  const fits = useMemo(() => {
    const wanted = text.toLowerCase();
    return pools.filter(
      (pool) => pool.name.toLowerCase().includes(wanted) && kinds(pool, show, troubles),
    );
  }, [pools, text, show, troubles]);
  const isPhone = useIsPhone();
  const tools = useRef<HTMLDivElement>(null);
  // The list begins at the end of the first screen: what is chosen would not be seen.
  const showList = () => tools.current?.scrollIntoView();
  const isFiltered = text !== "" || show !== "";
  const canFold = sort === "trouble" && !isFiltered;
  if (pools.length === 0) {
    return (
      <EmptyNote title="There are no pools yet">
        Add one to the server's configuration file, such as <code>{"aws: { count: 3 }"}</code> below{" "}
        <code>pools:</code>. The server reloads the file when it changes.
      </EmptyNote>
    );
  }
  return (
    <>
      <Totals pools={fits} of={isFiltered ? pools : undefined} troubles={troubles} />
      <div className="tools" ref={tools}>
        <FilterBox label="Filter pools" />
        <Choice
          name="show"
          label="Show"
          options={showOptions}
          {...(isPhone && { onChosen: showList })}
        />
        <OrderChoice />
        <span className="count" aria-live="polite">
          {fits.length === pools.length
            ? `${pools.length} ${pools.length === 1 ? "pool" : "pools"}`
            : `${fits.length} of ${pools.length}`}
        </span>
      </div>
      <FoldedLegend states={legendOf(pools)} />
      <PoolTable pools={fits} filter={`${show} ${text}`} {...{ trends, sort, canFold, troubles }} />
    </>
  );
}

const showOptions = [
  ["", "All"],
  ["waiting", "Waiting"],
  ["full", "Nothing free"],
  ["trouble", "Needs attention"],
] as const;

/** The same all the time, so that the table does not move; and any word that is a state here. */
function legendOf(pools: readonly Pool[]): readonly string[] {
  const makes = pools.some(({ template }) => template !== undefined);
  const usual = ["busy", "cooling", "cleaning", "dirty", "drained", "quarantined"];
  const own = pools.flatMap((pool) => Object.keys(statesOf(pool)));
  const words = own.filter((state) => lookOf(state) === "other");
  return [...usual, ...(makes ? ["hibernated", "creating"] : []), ...words];
}

function kinds(pool: Pool, show: string, troubles: PoolTroubles): boolean {
  if (show === "waiting") return countsOf(pool).waiting > 0;
  if (show === "full") return countsOf(pool).free === 0;
  return show === "trouble" ? troubles.has(pool.name) : true;
}

interface TotalsProps {
  readonly pools: readonly Pool[];
  /** All pools, if only some are shown. */
  readonly of: readonly Pool[] | undefined;
  readonly troubles: PoolTroubles;
}

function Totals({ pools, of, troubles }: TotalsProps) {
  const [oldest] = pools.flatMap(({ oldestQueuedAt }) => oldestQueuedAt ?? []).sort();
  const hasClusters = pools.some(({ template }) => template !== undefined);
  const { count } = clustersNotReady(pools);
  return (
    <Figures
      isCompact
      label={of === undefined ? "All pools together" : "The pools below together"}
      figures={[
        ...stockFigures(pools, of),
        {
          ...{ label: "Out of service", value: sumOf(pools, outOf), href: "/out" },
          aside: andMore(coolingIn(pools), "cooling"),
        },
        ...(hasClusters
          ? [
              {
                ...{ label: "Clusters not ready", value: count, href: "/clusters" },
                aside: andMore(hibernatedIn(pools), "hibernated"),
              },
            ]
          : []),
        { label: "Waiting", value: waitingIn(pools), href: "/queue" },
        {
          label: "Longest wait",
          value: oldest === undefined ? "–" : <Age since={oldest} />,
          href: "/queue?group=none",
          bad: pools.some(({ name }) => waitsTooLong(name, troubles)),
        },
      ]}
    />
  );
}

/** For readers without the columns, such as on a phone, and for the orders that no column has. */
function OrderChoice() {
  const [order, setOrder] = usePoolOrder();
  return (
    <label className="order">
      Order
      <select
        value={order}
        title={order === "trouble" ? troubleFirstWords : undefined}
        onChange={(event) => setOrder(event.target.value)}
      >
        {poolOrders.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
        {poolOrders.some(([value]) => value === order) ? null : (
          <option value={order}>By column</option>
        )}
      </select>
    </label>
  );
}

/** The samples that the lines show: as many as there are, so that a young server has lines too. */
function windowOf(trends: Trends | undefined): { readonly span: number; readonly window: string } {
  const span = Math.max(2, ...(trends?.pools ?? []).map(({ held }) => held.length));
  const lengthMs = (span - 1) * (trends?.stepSeconds ?? 0) * 1_000;
  return {
    span,
    window: `last ${roughDuration(Math.round(lengthMs / 60_000) * 60_000 || lengthMs)}`,
  };
}

interface TableProps {
  readonly pools: readonly Pool[];
  readonly trends: Trends | undefined;
  readonly sort: string;
  /** Whether idle pools may be one row together. */
  readonly canFold: boolean;
  readonly filter: string;
  readonly troubles: PoolTroubles;
}

function PoolTable({ pools, trends, sort, canFold, filter, troubles }: TableProps) {
  const [idle, setIdle] = useFilter("idle");
  const [shown, setShown] = useState(rowsAtFirst(rowsMax));
  const { used, folded } = useMemo(() => {
    const rest = canFold ? pools.filter((pool) => isIdle(pool, troubles)) : [];
    const folds = rest.length >= foldedMin && rest.length < pools.length;
    const rows = folds && idle === "" ? pools.filter((pool) => !rest.includes(pool)) : pools;
    return { used: rows, folded: folds ? rest.length : 0 };
  }, [pools, canFold, idle, troubles]);
  const key = `${sort} ${canFold} ${idle} ${filter}`;
  const { rows: busy, ...calm } = useCalmOrder(used, sort, { troubles, key });
  const byPool = useMemo(
    () => new Map(trends?.pools.map((trend) => [trend.pool, trend])),
    [trends],
  );
  const { span, window } = useMemo(() => windowOf(trends), [trends]);
  if (pools.length === 0) {
    return <NoMatch title="No pool matches" />;
  }
  return (
    <>
      <table className="pools">
        <thead>
          <tr>
            <SortHeader name="name" label="Pool" />
            <SortHeader name="usage" label="In use" className="bar-cell" />
            <SortHeader name="size" label="Held" className="number held-cell" />
            <SortHeader name="free" label="Free" className="number free-cell" />
            <SortHeader name="out" label="Out +cooling" className="number out-cell" />
            <SortHeader name="waiting" label="Waiting" className="number" />
            <SortHeader name="oldest" label="Longest wait" className="number wait-cell" />
            <th scope="col" className="why-cell">
              Waits for
            </th>
            <th scope="col" className="spark-cell">
              {trends === undefined ? null : (
                <span className="legend">
                  {`${window.charAt(0).toUpperCase()}${window.slice(1)}:`}
                  <span>
                    <i className="look-held" aria-hidden="true" /> held
                  </span>
                  <span>
                    <i className="key-line" aria-hidden="true" /> most waiting at once
                  </span>
                </span>
              )}
            </th>
          </tr>
        </thead>
        <tbody {...calm}>
          {busy.slice(0, shown).map((pool) => (
            <PoolRow
              key={pool.name}
              pool={pool}
              trend={byPool.get(pool.name)}
              isLate={waitsTooLong(pool.name, troubles)}
              {...{ span, window }}
            />
          ))}
          {folded === 0 || shown < busy.length ? null : (
            <tr className="folded" data-row>
              {/* As many columns as a narrow window shows: it would make room for more. */}
              <td colSpan={6}>
                <button type="button" onClick={() => setIdle(idle === "" ? "show" : "")}>
                  {idle === ""
                    ? `Show ${grouped(folded)} idle pools`
                    : `Hide ${grouped(folded)} idle pools`}
                </button>
                <small> Nothing held, nobody waits, nothing out of service</small>
              </td>
            </tr>
          )}
        </tbody>
      </table>
      <MoreButton shown={shown} of={busy.length} onMore={setShown} />
    </>
  );
}
