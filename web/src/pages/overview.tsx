import { useMemo } from "react";
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool, Trends } from "../../../src/api/schemas.ts";
import { roughDuration } from "../../../src/core/model/time.ts";
import { useAnswer } from "../data/query.ts";
import { allPools, allTrends } from "../data/questions.ts";
import { Choice } from "../parts/choice.tsx";
import { Figures } from "../parts/figures.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { Legend } from "../parts/legend.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { percent } from "../parts/numbers.ts";
import { inWholeSeconds } from "../parts/times.tsx";
import { useFilter } from "../router.ts";
import { Attention } from "./attention.tsx";
import { coolingAside, hasProblem, outOf, sortedBy, statesOf, waitsTooLong } from "./pool-facts.ts";
import { poolOrders, usePoolOrder } from "./pool-order.ts";
import { PoolRow } from "./pool-row.tsx";
import { Servers } from "./servers.tsx";
import { SortHeader } from "./sort-header.tsx";

/** More rows than anybody reads. With more pools, use the filter. */
const rowsMax = 600;

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
  const shown = useMemo(() => {
    const wanted = text.toLowerCase();
    const fits = pools.filter(
      (pool) => pool.name.toLowerCase().includes(wanted) && kinds(pool, show),
    );
    return sortedBy(fits, sort);
  }, [pools, text, show, sort]);
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
      <Totals pools={pools} />
      <div className="tools">
        <FilterBox label="Filter pools" />
        <Choice name="show" label="Show" options={showOptions} />
        <OrderChoice />
        <span className="count" aria-live="polite">
          {shown.length === pools.length
            ? `${pools.length} ${pools.length === 1 ? "pool" : "pools"}`
            : `${shown.length} of ${pools.length}`}
        </span>
      </div>
      <Legend states={shown.flatMap((pool) => Object.keys(statesOf(pool)))} />
      <PoolTable pools={shown} trends={trends} />
    </>
  );
}

const showOptions = [
  ["", "All"],
  ["waiting", "With a queue"],
  ["full", "Nothing free"],
  ["trouble", "With problems"],
] as const;

function kinds(pool: Pool, show: string): boolean {
  if (show === "waiting") return countsOf(pool).waiting > 0;
  if (show === "full") return countsOf(pool).free === 0;
  return show === "trouble" ? hasProblem(pool) : true;
}

function Totals({ pools }: { pools: readonly Pool[] }) {
  const sum = (of: (pool: Pool) => number) => pools.reduce((total, pool) => total + of(pool), 0);
  const total = sum((pool) => pool.total);
  const held = sum((pool) => pool.held);
  const oldest = Math.max(-1, ...pools.map(({ oldestWaitSeconds }) => oldestWaitSeconds ?? -1));
  const share = total === 0 ? "" : percent(held / total);
  return (
    <Figures
      label="All pools together"
      figures={[
        { label: "Resources", value: total },
        { label: "Held", value: held, aside: share },
        { label: "Free", value: sum(({ free }) => free) },
        { label: "Out of service", value: sum(outOf), aside: coolingAside(pools), href: "/out" },
        { label: "Waiting", value: sum(({ waiting }) => waiting), href: "/queue" },
        {
          label: "Longest wait",
          value: oldest < 0 ? "–" : inWholeSeconds(oldest),
          href: "/queue?sort=wait",
          bad: pools.some(waitsTooLong),
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
      <select value={order} onChange={(event) => setOrder(event.target.value)}>
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

function PoolTable({ pools, trends }: { pools: readonly Pool[]; trends: Trends | undefined }) {
  const byPool = useMemo(
    () => new Map(trends?.pools.map((trend) => [trend.pool, trend])),
    [trends],
  );
  const { span, window } = useMemo(() => windowOf(trends), [trends]);
  if (pools.length === 0) {
    return <EmptyNote title="No pool matches">Show all pools, or change the filter.</EmptyNote>;
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
            <SortHeader name="out" label="Out" className="number out-cell" />
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
                    <i className="key-line" aria-hidden="true" /> waiting
                  </span>
                </span>
              )}
            </th>
          </tr>
        </thead>
        <tbody>
          {pools.slice(0, rowsMax).map((pool) => (
            <PoolRow
              key={pool.name}
              pool={pool}
              trend={byPool.get(pool.name)}
              {...{ span, window }}
            />
          ))}
        </tbody>
      </table>
      {pools.length > rowsMax ? (
        <EmptyNote title={`${pools.length - rowsMax} more`}>Filter to see them.</EmptyNote>
      ) : null}
    </>
  );
}
