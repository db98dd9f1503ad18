import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { allPools } from "../data/questions.ts";
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
  if (limits.length === 0) return null;
  const full = limits.find(({ used, limit }) => used >= limit);
  const words = full === undefined ? "open" : `${full.pool} is full`;
  return (
    <GateCard
      title={limits.length === 1 ? "Limit" : "Limits"}
      status={{ open: full === undefined, words }}
      buttons={hasPace(pool) ? null : <PinButtons pool={pool} />}
    >
      <dl className="limits" aria-label="Limits">
        {limits.map((limit) => (
          <LimitLine key={limit.pool} limit={limit} own={pool.name} pools={data?.pools ?? []} />
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
}

function LimitLine({ limit: { pool: name, used, limit }, own, pools }: LineProps) {
  const sharers = sharersOf(name, pools);
  return (
    <div>
      <dt>{name === own ? "This pool" : <Link href={at("pools", name)}>{name}</Link>}</dt>
      <dd>
        <span className="bar" aria-hidden="true">
          {(sharers.length === 0 ? [{ name, held: used }] : sharers).map((sharer) => (
            <span
              key={sharer.name}
              className="look-held share"
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
          {sharers.map((sharer) => (
            <span key={sharer.name}>
              <Link href={at("pools", sharer.name)}>{sharer.name}</Link> {grouped(sharer.held)}
              <Waiting pool={pools.find((pool) => pool.name === sharer.name)} />
            </span>
          ))}
        </dd>
      )}
    </div>
  );
}

function Waiting({ pool }: { pool: Pool | undefined }) {
  const waiting = pool === undefined ? 0 : countsOf(pool).waiting;
  return waiting === 0 ? null : <span className="faint"> ({grouped(waiting)} waiting)</span>;
}
