import { memo } from "react";
import type { Pool, Trends } from "../../../src/api/schemas.ts";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { SparkLine } from "../parts/spark-line.tsx";
import { inWholeSeconds } from "../parts/times.tsx";
import { UsageBar } from "../parts/usage-bar.tsx";
import { at } from "../router.ts";
import { countsOf, outOf, statesOf, waitsTooLong } from "./pool-facts.ts";

interface Props {
  readonly pool: Pool;
  readonly trend: Trends["pools"][number] | undefined;
}

export const PoolRow = memo(function PoolRow({ pool, trend }: Props) {
  const { name, retiring } = pool;
  const { total, held, free, waiting, oldestWaitSeconds } = countsOf(pool);
  const states = statesOf(pool);
  const out = outOf(pool);
  return (
    <tr data-row>
      <th scope="row">
        <Link href={at("pools", name)}>{name}</Link>
        <span className="name-bar" aria-hidden="true">
          <UsageBar states={states} total={total} />
        </span>
        {pool.limit === undefined ? null : (
          <small title="Only a limit for the pools below"> limit</small>
        )}
        {retiring ? <small title="Removed from the configuration"> retiring</small> : null}
      </th>
      <td className="wide">
        <UsageBar states={states} total={total} />
      </td>
      <td className="number">
        {grouped(held)}
        <span className="faint">/{grouped(total)}</span>
      </td>
      <td className={free === 0 ? "number strong" : "number"}>{grouped(free)}</td>
      <td className={out === 0 ? "number faint" : "number"}>{grouped(out)}</td>
      <td className={waiting === 0 ? "number faint" : "number waiting"}>{grouped(waiting)}</td>
      <td className={waitsTooLong(pool) ? "number late" : "number"}>
        {oldestWaitSeconds === null ? (
          <span className="faint">–</span>
        ) : (
          inWholeSeconds(oldestWaitSeconds)
        )}
      </td>
      <td className="spark-cell">
        {trend === undefined ? null : (
          <SparkLine held={trend.held} waiting={trend.waiting} total={total} />
        )}
      </td>
    </tr>
  );
});
