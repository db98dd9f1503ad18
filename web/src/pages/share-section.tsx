import type { Pool } from "../../../src/api/schemas.ts";
import { whoami } from "../data/live.ts";
import { useAnswer } from "../data/query.ts";
import { allSpaces } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { Link } from "../parts/link.tsx";
import { grouped, percent } from "../parts/numbers.ts";
import { GateCard } from "./gate-card.tsx";
import {
  canMake,
  dimensionOf,
  type SpaceShare,
  type SpaceTurn,
  sharesOf,
  turnsOf,
} from "./share-facts.ts";

/** Who shares the pool: what each space holds beside what its weight gives it. */
export function ShareSection({ pool }: { pool: Pool }) {
  const us = useStore(whoami);
  if (!us?.authentication) return null;
  const made = canMake(pool) ? pool.total : undefined;
  // A space has a cluster until its destruction is confirmed.
  const held = pool.template === undefined ? undefined : "held, or being destroyed after use";
  return <Shares pool={pool.name} made={made} held={held} />;
}

interface PoolShares extends Pick<LegendProps, "held"> {
  readonly pool: string;
  readonly made: number | undefined;
}

function Shares({ pool, made, held }: PoolShares) {
  const { data } = useAnswer(allSpaces);
  const shares = sharesOf(pool, data ?? []);
  // One space without a quota shares with nobody.
  if (shares.length < 2 && !shares.some(({ quota }) => quota !== null)) return null;
  const dimension = dimensionOf(pool, data ?? []);
  const turns = turnsOf(pool, data ?? []);
  return (
    <GateCard title="Spaces" buttons={<Link href="/spaces">All spaces</Link>}>
      <ShareBars {...{ shares, made, held, turns }} unit={dimension} />
      {turns.size === 0 ? null : (
        <p className="turns">
          The lowest share is next; of equal ones, the request that came first. A share is the part
          that a space holds of the pool it uses most, divided by its weight.
        </p>
      )}
    </GateCard>
  );
}

interface SharesProps extends Pick<LegendProps, "held"> {
  readonly shares: readonly SpaceShare[];
  readonly unit: string;
  /** How many there are now, if the pool can make more: shares are of what it may have at most. */
  readonly made?: number | undefined;
  /** False where one stands above several of these. */
  readonly legend?: boolean;
  /** Of the spaces that wait. */
  readonly turns?: ReadonlyMap<string, SpaceTurn>;
}

/** A bar for what is held, and a mark for the part that the weight gives. */
export function ShareBars({ shares, unit, made, held, legend = true, turns }: SharesProps) {
  return (
    <>
      <dl className="shares">
        {shares.map((share) => (
          <div key={share.name}>
            <dt>
              {share.name} <small>weight {share.weight}</small>
            </dt>
            <dd>
              <ShareBar share={share.share} fair={share.fair} quota={quotaPart(share)} />
              <b>{percent(share.share)}</b>
              <small>
                <span className="unbroken">{heldWords(share, unit, made)}</span>
                {share.quota === null ? null : (
                  <>
                    , <span className="unbroken">quota {grouped(share.quota)}</span>
                  </>
                )}
                {share.waiting === 0 ? null : (
                  <>
                    , <span className="unbroken">{grouped(share.waiting)} waiting</span>
                  </>
                )}
                <TurnWords turn={turns?.get(share.name)} />
              </small>
            </dd>
          </div>
        ))}
      </dl>
      {legend ? (
        <ShareLegend held={held} withQuota={shares.some(({ quota }) => quota !== null)} />
      ) : null}
    </>
  );
}

/** Why a space that holds little of this pool may still wait behind one that holds much. */
function TurnWords({ turn }: { turn: SpaceTurn | undefined }) {
  if (turn === undefined) return null;
  const { isNext, share, of } = turn;
  return (
    <span className="turn">
      {isNext ? <b>next: </b> : null}
      <span className="unbroken">share {share.toFixed(2)}</span>
      {of === null ? null : ` of ${of}`}
    </span>
  );
}

/** `2 of 8`; `2 of at most 8` where some of these are still to be made. */
function heldWords({ held, capacity }: SpaceShare, unit: string, made: number | undefined): string {
  if (capacity === 0) return "holds nothing";
  const atMost = made !== undefined && made < capacity ? "at most " : "";
  return `${grouped(held)} of ${atMost}${grouped(capacity)}${unit === "" ? "" : ` ${unit}`}`;
}

interface LegendProps {
  /** What counts as held. */
  readonly held?: string | undefined;
  readonly withQuota?: boolean;
}

export function ShareLegend({ held = "held", withQuota = false }: LegendProps) {
  return (
    <p className="legend">
      <span>
        <i className="look-held" aria-hidden="true" /> {held}
      </span>
      <span>
        <i className="key-mark" aria-hidden="true" /> its part by weight, among the spaces here now
      </span>
      {withQuota ? (
        <span>
          <i className="key-quota" aria-hidden="true" /> quota
        </span>
      ) : null}
    </p>
  );
}

function quotaPart({ quota, capacity }: SpaceShare): number | null {
  return quota === null || capacity === 0 ? null : quota / capacity;
}

interface BarProps {
  /** All from 0 to 1. */
  readonly share: number;
  readonly fair: number;
  readonly quota: number | null;
}

export function ShareBar({ share, fair, quota }: BarProps) {
  // A space that is alone has no part to compare with.
  const isShared = fair < 1;
  const words = `${percent(share)} held${isShared ? `, ${percent(fair)} by weight` : ""}`;
  return (
    <span className="share-bar" role="img" aria-label={words} title={words}>
      <span style={{ width: `${Math.min(1, share) * 100}%` }} />
      {quota === null ? null : <em style={{ left: `${Math.min(1, quota) * 100}%` }} />}
      {isShared ? <i style={{ left: `${fair * 100}%` }} /> : null}
    </span>
  );
}
