import { memo } from "react";
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool, Trends } from "../../../src/api/schemas.ts";
import { useInTime } from "../data/clock.ts";
import type { ListedPool } from "../data/pool-list.ts";
import { useAnswer } from "../data/query.ts";
import { oneWaiting } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { grouped, percent, percentLeft } from "../parts/numbers.ts";
import { SparkLine } from "../parts/spark-line.tsx";
import { Age } from "../parts/times.tsx";
import { UsageBar } from "../parts/usage-bar.tsx";
import { at } from "../router.ts";
import {
  amountsOf,
  clustersNotReady,
  coolingIn,
  hibernatedIn,
  notOfThePool,
  outOf,
  statesOf,
  type WaitsFor,
  waitsFor,
  waitsForReason,
} from "./pool-facts.ts";

interface Props {
  readonly pool: ListedPool;
  readonly trend: Trends["pools"][number] | undefined;
  readonly span: number;
  readonly window: string;
  /** Somebody has waited for longer than usual. */
  readonly isLate: boolean;
}

export const PoolRow = memo(function PoolRow({ pool, trend, span, window, isLate }: Props) {
  const { name, oldestQueuedAt } = pool;
  const { total, held, free, waiting } = countsOf(pool);
  const states = statesOf(pool);
  const out = outOf(pool);
  const cooling = coolingIn([pool]);
  return (
    <tr data-row>
      <th scope="row">
        <Link href={at("pools", name)}>{name}</Link>
        <Tags pool={pool} />
      </th>
      <td className="bar-cell">
        <UsageBar states={states} total={total} />
      </td>
      <td className="number held-cell" title={amountsOf(pool)}>
        {amountsOf(pool) === "" ? (
          <>
            {grouped(held)}
            <span className="faint">/{grouped(total)}</span>
          </>
        ) : (
          percent(held / Math.max(1, total))
        )}
      </td>
      <td className={free === 0 ? "number free-cell strong" : "number free-cell"}>
        {amountsOf(pool) === "" ? grouped(free) : percentLeft(held / Math.max(1, total))}
      </td>
      <td className={out === 0 ? "number out-cell faint" : "number out-cell"}>
        {grouped(out)}
        {cooling === 0 ? null : (
          <span className="faint" title={`and ${grouped(cooling)} cooling`}>
            {" "}
            +{grouped(cooling)}
          </span>
        )}
      </td>
      <td className={waiting === 0 ? "number quiet" : "number waiting"}>{grouped(waiting)}</td>
      <td className={`number wait-cell ${waitLook(oldestQueuedAt, isLate)}`}>
        {oldestQueuedAt === null ? "–" : <Age since={oldestQueuedAt} />}
      </td>
      <td className="why-cell">
        <Why pool={pool} />
      </td>
      <td className="spark-cell">
        {trend === undefined ? null : (
          <SparkLine
            {...heldOf(pool, trend)}
            waiting={withNow(trend.waiting, waiting)}
            span={span}
            window={window}
          />
        )}
      </td>
    </tr>
  );
});

/** The last sample is some seconds old: without the number of now, the most could be less than it. */
function withNow(samples: readonly number[], waiting: number): readonly number[] {
  return samples.map((one, at) => (at === samples.length - 1 ? Math.max(one, waiting) : one));
}

/** Of a shared pool the part in use; an older server has only its hosts. */
function heldOf({ limit, total }: Pool, { held, usedPercent }: Trends["pools"][number]) {
  if (usedPercent !== undefined) return { held: usedPercent, total: 100, unit: "%" };
  if (limit !== undefined) return { held, total: limit.limit, unit: "claims" };
  return { held, total, unit: "resources" };
}

function waitLook(oldestQueuedAt: string | null, isLate: boolean): string {
  if (oldestQueuedAt === null) return "quiet";
  return isLate ? "late" : "";
}

function Tags({ pool }: { pool: Pool }) {
  const { usage = [] } = pool;
  const { words } = clustersNotReady([pool]);
  const hibernated = hibernatedIn([pool]);
  return (
    <>
      {words === "" ? null : <small title="Clusters that cannot be lent yet"> {words}</small>}
      {hibernated === 0 ? null : (
        <small title="In stock: woken when they are needed">
          {" "}
          {grouped(hibernated)} hibernated
        </small>
      )}
      {pool.limit === undefined ? null : (
        <small title="Only a limit for the pools below"> limit</small>
      )}
      {usage.length === 0 ? null : (
        <small title={`${amountsOf(pool)}. The fullest counts`}>
          {" "}
          fullest: {countsOf(pool).unit}
        </small>
      )}
      {pool.retiring ? <small title="Removed from the configuration"> retiring</small> : null}
    </>
  );
}

/** Why requests wait although something may be free. */
function Why({ pool }: { pool: Pool }) {
  // A pace opens and credits expire without an event.
  const word = useInTime((nowMs) => waitsFor(pool, nowMs)?.word ?? "");
  const detail = useInTime((nowMs) => waitsFor(pool, nowMs)?.detail ?? "");
  const why = useInTime((nowMs) => waitsFor(pool, nowMs)?.why ?? "");
  const limit = useInTime((nowMs) => waitsFor(pool, nowMs)?.limit ?? "");
  if (word === "") return null;
  return word === notOfThePool.word ? (
    <ReasonOfOne pool={pool} />
  ) : (
    <WhyWords {...{ word, detail, why, limit }} />
  );
}

/** One request tells for all of them; the queue has the reason of each. */
function ReasonOfOne({ pool }: { pool: Pool }) {
  const { data } = useAnswer(oneWaiting(pool.name));
  return <WhyWords {...(data ? waitsForReason(data.reason, pool) : notOfThePool)} />;
}

function WhyWords({ word, detail = "", why, limit = "" }: WaitsFor) {
  return (
    <span title={why}>
      {limit === "" ? word : <Link href={at("pools", limit)}>{word}</Link>}
      {detail === "" ? null : <small> {detail}</small>}
    </span>
  );
}
