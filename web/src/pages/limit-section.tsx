import { useState } from "react";
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import { whoami } from "../data/live.ts";
import type { ListedPool } from "../data/pool-list.ts";
import { waitsTooLong } from "../data/pool-troubles.ts";
import { useAnswer } from "../data/query.ts";
import { allPools, queueOf } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { usePoolTroubles } from "../data/troubles.ts";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age } from "../parts/times.tsx";
import { at } from "../router.ts";
import { GateCard } from "./gate-card.tsx";
import { type Sharer, sharersOf } from "./limit-facts.ts";

/** The limits that bind a pool: use against limit, and who shares each. */
export function LimitSection({ pool }: { pool: Pool }) {
  const { limits } = pool.flow;
  const { data } = useAnswer(allPools);
  const waitingFor = useWaiting(pool, data?.pools ?? []);
  if (limits.length === 0) return null;
  const full = limits.find(({ used, limit }) => used >= limit);
  const words = full === undefined ? "not reached" : `${full.pool} is full`;
  return (
    <GateCard
      title={limits.length === 1 ? "Limit" : "Limits"}
      status={{ open: full === undefined, words }}
    >
      <dl className="limits" aria-label="Limits">
        {limits.map((limit) => (
          <LimitLine
            key={limit.pool}
            {...{ limit, waitingFor }}
            own={pool.name}
            pools={data?.pools ?? []}
          />
        ))}
      </dl>
    </GateCard>
  );
}

interface LineProps {
  readonly limit: Pool["flow"]["limits"][number];
  /** The pool that the section is about. */
  readonly own: string;
  readonly pools: readonly ListedPool[];
  readonly waitingFor: (name: string) => number;
}

/** How many wait for a pool: as in the lists of this page, where they have it. */
function useWaiting(own: Pool, pools: readonly Pool[]): (name: string) => number {
  const us = useStore(whoami);
  const { data: queue } = useAnswer(queueOf(own.name));
  return (name) => {
    if (name === own.name) return countsOf(own).waiting;
    if (own.limit !== undefined && queue !== undefined && us?.role !== "holder") {
      return queue.filter(({ items }) => items.some((item) => item.pool === name)).length;
    }
    const other = pools.find((pool) => pool.name === name);
    return other === undefined ? 0 : countsOf(other).waiting;
  };
}

function LimitLine({ limit: { pool: name, used, limit }, own, pools, waitingFor }: LineProps) {
  const sharers = sharersOf(name, pools);
  // It has nothing else to show than the pools below it.
  const isOwnLimit = name === own && pools.some((pool) => pool.name === own && pool.limit);
  return (
    <div>
      <dt>{name === own ? "In use" : <Link href={at("pools", name)}>{name}</Link>}</dt>
      <dd>
        <span className="bar" aria-hidden="true">
          {(sharers.length === 0 ? [{ name, held: used }] : sharers).map((sharer, index) => (
            <span
              key={sharer.name}
              className={`look-held ${shadeOf(index)}`}
              title={`${sharer.name}: ${sharer.held}`}
              style={{ flexBasis: `${(sharer.held / Math.max(1, used, limit)) * 100}%` }}
            />
          ))}
        </span>
        <b className={used >= limit ? "late" : undefined}>
          {grouped(used)} of {grouped(limit)}
        </b>
        <span className="faint">{grouped(Math.max(0, limit - used))} left</span>
      </dd>
      {sharers.length === 0 ? null : isOwnLimit ? (
        <dd>
          <Below {...{ sharers, pools, waitingFor }} />
        </dd>
      ) : (
        <dd className="sharers">
          <span className="faint">Shared by</span>
          {sharers.map((sharer, index) => (
            <span key={sharer.name}>
              <i className={`look-held ${shadeOf(index)}`} aria-hidden="true" />{" "}
              <Link href={at("pools", sharer.name)}>{sharer.name}</Link> {grouped(sharer.held)}
              <Waiting count={waitingFor(sharer.name)} />
            </span>
          ))}
        </dd>
      )}
    </div>
  );
}

interface BelowProps extends Pick<LineProps, "pools" | "waitingFor"> {
  readonly sharers: readonly Sharer[];
}

const shownAtFirst = 8;

/** What each pool holds of the limit, and who waits there: also where resources are free. */
function Below({ sharers, pools, waitingFor }: BelowProps) {
  const [shown, setShown] = useState(shownAtFirst);
  const troubles = usePoolTroubles();
  const byName = new Map(pools.map((pool) => [pool.name, pool]));
  return (
    <>
      <table className="below">
        <thead>
          <tr>
            <th scope="col">Shared by</th>
            <th scope="col" className="number">
              Held
            </th>
            <th scope="col" className="number">
              Free
            </th>
            <th scope="col" className="number">
              Waiting
            </th>
            <th scope="col" className="number">
              Longest wait
            </th>
          </tr>
        </thead>
        <tbody>
          {sharers.slice(0, shown).map(({ name, held, total }, index) => {
            const pool = byName.get(name);
            const since = pool?.oldestQueuedAt ?? null;
            const waiting = waitingFor(name);
            return (
              <tr key={name} data-row>
                <th scope="row">
                  <i className={`look-held ${shadeOf(index)}`} aria-hidden="true" />{" "}
                  <Link href={at("pools", name)}>{name}</Link>
                </th>
                <td className="number">
                  {grouped(held)}
                  {total === undefined ? null : <span className="faint">/{grouped(total)}</span>}
                </td>
                <td className="number">
                  {pool === undefined || total === undefined ? "–" : grouped(pool.free)}
                </td>
                <td className={waiting === 0 ? "number quiet" : "number waiting"}>
                  {grouped(waiting)}
                </td>
                <td className={waitsTooLong(name, troubles) ? "number late" : "number"}>
                  {waiting === 0 || since === null ? "–" : <Age since={since} />}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <MoreButton shown={shown} of={sharers.length} onMore={setShown} />
    </>
  );
}

/** Neighbours in the bar have different shades, and the list below has the same ones. */
function shadeOf(index: number): string {
  return `shade-${index % 3}`;
}

function Waiting({ count }: { count: number }) {
  return count === 0 ? null : <span className="faint"> ({grouped(count)} waiting)</span>;
}
