import { useMemo } from "react";
import type { Pool, Trends } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { allPools, allTrends } from "../data/questions.ts";
import { Choice } from "../parts/choice.tsx";
import { Figures } from "../parts/figures.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { percent } from "../parts/numbers.ts";
import { inWholeSeconds } from "../parts/times.tsx";
import { useFilter } from "../router.ts";
import { ConfigNotes } from "./config-notes.tsx";
import { coolingAside, countsOf, hasProblem, outOf, sortedBy } from "./pool-facts.ts";
import { PoolRow } from "./pool-row.tsx";
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
      <ConfigNotes />
      {data === undefined ? <Loading /> : <Pools pools={data.pools} trends={trends} />}
    </>
  );
}

function Pools({ pools, trends }: { pools: readonly Pool[]; trends: Trends | undefined }) {
  const [text] = useFilter("q");
  const [show] = useFilter("show");
  const [sort] = useFilter("sort");
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
        <span className="count" aria-live="polite">
          {shown.length === pools.length
            ? `${pools.length} ${pools.length === 1 ? "pool" : "pools"}`
            : `${shown.length} of ${pools.length}`}
        </span>
        <Legend />
      </div>
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
        { label: "Longest wait", value: oldest < 0 ? "–" : inWholeSeconds(oldest) },
      ]}
    />
  );
}

function Legend() {
  return (
    <span className="legend" aria-hidden="true">
      <i className="look-held" /> held <i className="look-cooling" /> cooling{" "}
      <i className="look-dirty" /> to clean <i className="look-bad" /> quarantined{" "}
      <i className="look-drained" /> drained
    </span>
  );
}

function PoolTable({ pools, trends }: { pools: readonly Pool[]; trends: Trends | undefined }) {
  const byPool = useMemo(
    () => new Map(trends?.pools.map((trend) => [trend.pool, trend])),
    [trends],
  );
  if (pools.length === 0) {
    return <EmptyNote title="No pool matches">Show all pools, or change the filter.</EmptyNote>;
  }
  return (
    <>
      <table className="pools">
        <thead>
          <tr>
            <SortHeader name="" label="Pool" />
            <SortHeader name="usage" label="In use" wide />
            <SortHeader name="size" label="Held" numeric />
            <SortHeader name="free" label="Free" numeric />
            <SortHeader name="out" label="Out" numeric />
            <SortHeader name="waiting" label="Waiting" numeric />
            <SortHeader name="oldest" label="Longest wait" numeric />
            <th className="spark-cell">Last half hour</th>
          </tr>
        </thead>
        <tbody>
          {pools.slice(0, rowsMax).map((pool) => (
            <PoolRow key={pool.name} pool={pool} trend={byPool.get(pool.name)} />
          ))}
        </tbody>
      </table>
      {pools.length > rowsMax ? (
        <EmptyNote title={`${pools.length - rowsMax} more`}>Filter to see them.</EmptyNote>
      ) : null}
    </>
  );
}
