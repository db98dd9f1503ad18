import { useState } from "react";
import type { Pool } from "../../../src/api/schemas.ts";
import { whoami } from "../data/live.ts";
import type { ListedPool } from "../data/pool-list.ts";
import { waitsTooLong } from "../data/pool-troubles.ts";
import { useAnswer } from "../data/query.ts";
import { allPools, poolsAtOnce, queueOf } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { usePoolTroubles } from "../data/troubles.ts";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age } from "../parts/times.tsx";
import { at } from "../router.ts";
import { GateCard } from "./gate-card.tsx";
import {
  fullOf,
  notReachedWords,
  type Sharer,
  sharersOf,
  type WaitsFor,
  waitsOf,
} from "./limit-facts.ts";

/** The limits that bind a pool: use against limit, and who shares each. */
export function LimitSection({ pool }: { pool: Pool }) {
  const { limits } = pool.flow;
  const pools = usePoolsBeside(pool) ?? noPools;
  const waitsFor = useWaits(pool, pools);
  if (limits.length === 0) return null;
  const full = limits.find(({ used, limit }) => used >= limit);
  const fullBelow = pool.limit === undefined ? [] : fullOf(sharersOf(pool.name, pools), waitsFor);
  const words = full === undefined ? notReachedWords(fullBelow) : `${full.pool} is full`;
  return (
    <GateCard
      title={limits.length === 1 ? "Limit" : "Limits"}
      status={{ open: full === undefined, words }}
    >
      <dl className="limits" aria-label="Limits">
        {limits.map((limit) => (
          <LimitLine key={limit.pool} {...{ limit, waitsFor, pools }} own={pool.name} />
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
  readonly waitsFor: WaitsFor;
}

const noPools: readonly ListedPool[] = [];

/** All pools, read together with the lists of this pool's page if they stand beside these. */
export function usePoolsBeside({ flow }: Pool): readonly ListedPool[] | undefined {
  return useAnswer(flow.limits.length === 0 ? allPools : poolsAtOnce).data?.pools;
}

/** Who waits for a pool: as in the lists of this page, where they have it. */
function useWaits(own: Pool, pools: readonly ListedPool[]): WaitsFor {
  const us = useStore(whoami);
  const { data: queue } = useAnswer(queueOf(own.name));
  const hasQueue = own.limit !== undefined && us?.role !== "holder";
  return waitsOf(own, pools, hasQueue ? queue : undefined);
}

function LimitLine({ limit: { pool: name, used, limit }, own, pools, waitsFor }: LineProps) {
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
          <Below {...{ sharers, waitsFor }} />
        </dd>
      ) : (
        <dd className="sharers">
          <span className="faint">Shared by</span>
          {sharers.map((sharer, index) => (
            <span key={sharer.name}>
              <i className={`look-held ${shadeOf(index)}`} aria-hidden="true" />{" "}
              <Link href={at("pools", sharer.name)}>{sharer.name}</Link> {grouped(sharer.held)}
              <Waiting count={waitsFor(sharer.name).waiting} />
            </span>
          ))}
        </dd>
      )}
    </div>
  );
}

interface BelowProps extends Pick<LineProps, "waitsFor"> {
  readonly sharers: readonly Sharer[];
}

const shownAtFirst = 8;

/** What each pool holds of the limit, and who waits there: also where resources are free. */
function Below({ sharers, waitsFor }: BelowProps) {
  const [shown, setShown] = useState(shownAtFirst);
  const troubles = usePoolTroubles();
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
          {sharers.slice(0, shown).map(({ name, held, total, free }, index) => {
            const { waiting, since } = waitsFor(name);
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
                <td className="number">{free === undefined ? "–" : grouped(free)}</td>
                <td className={waiting === 0 ? "number quiet" : "number waiting"}>
                  {grouped(waiting)}
                </td>
                <td className={waitsTooLong(name, troubles) ? "number late" : "number"}>
                  {since === null ? "–" : <Age since={since} />}
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
