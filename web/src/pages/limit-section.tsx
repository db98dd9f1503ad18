import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import { whoami } from "../data/live.ts";
import { useAnswer } from "../data/query.ts";
import { allPools, queueOf } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { at } from "../router.ts";
import { hasPace } from "./flow-facts.ts";
import { GateCard } from "./gate-card.tsx";
import { sharersOf } from "./limit-facts.ts";
import { PinButtons } from "./pin-buttons.tsx";

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
      buttons={hasPace(pool) ? null : <PinButtons pool={pool} />}
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
  readonly pools: readonly Pool[];
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
  return (
    <div>
      <dt>{name === own ? "This pool" : <Link href={at("pools", name)}>{name}</Link>}</dt>
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
      {sharers.length === 0 ? null : (
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

/** Neighbours in the bar have different shades, and the list below has the same ones. */
function shadeOf(index: number): string {
  return `shade-${index % 3}`;
}

function Waiting({ count }: { count: number }) {
  return count === 0 ? null : <span className="faint"> ({grouped(count)} waiting)</span>;
}
