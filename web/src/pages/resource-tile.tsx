import { memo } from "react";
import type { Lease, Resource } from "../../../src/api/schemas.ts";
import { useNowMs } from "../data/clock.ts";
import { Link } from "../parts/link.tsx";
import { percent } from "../parts/numbers.ts";
import { lookOf } from "../parts/state-look.ts";
import { Age, Left } from "../parts/times.tsx";
import { WholeName } from "../parts/whole-name.tsx";
import { at } from "../router.ts";

interface Props {
  readonly resource: Resource;
  readonly lease: Lease | undefined;
  readonly place: number;
  readonly of: number;
  readonly left: string;
  readonly top: number;
  readonly width: string;
}

export const ResourceTile = memo(function ResourceTile(props: Props) {
  const { resource, lease, place, of, left, top, width } = props;
  const { name, state, drained } = resource;
  return (
    <li
      className={`tile look-${lookOf(state)}`}
      aria-posinset={place}
      aria-setsize={of}
      style={{ left, width, transform: `translateY(${top}px)` }}
    >
      <div>
        <p className="tile-head">
          <Link data-row href={at("resources", name)} title={name} aria-label={name}>
            <WholeName name={name} />
          </Link>
          <span className="tile-state">
            {drained && state !== "drained" ? `${state}, draining` : state}
          </span>
        </p>
        <TileBody resource={resource} lease={lease} />
      </div>
    </li>
  );
});

function TileBody({ resource, lease }: { resource: Resource; lease: Lease | undefined }) {
  const { changedAt, note, restsUntil } = resource;
  if (resource.usage !== undefined) return <RoomBody resource={resource} usage={resource.usage} />;
  if (resource.lease === null) {
    return (
      <>
        <p className="tile-text">{note.split("\n")[0]}</p>
        <p className="tile-foot">
          <span>
            for <Age since={changedAt} />
          </span>
          {restsUntil === null ? null : (
            <span>
              rests <Left until={restsUntil} />
            </span>
          )}
        </p>
      </>
    );
  }
  const { id, holder, since } = resource.lease;
  const ends = lease === undefined ? null : endOf(lease, resource.name);
  return (
    <>
      <p className="tile-text">
        <Link href={at("leases", id)} title={holder}>
          {holder}
        </Link>
      </p>
      <p className="tile-foot">
        <span>
          held <Age since={since} />
        </span>
        {ends === null ? null : (
          <span>
            left <Left until={ends} />
          </span>
        )}
      </p>
      {ends === null ? null : <TimeLeft since={since} until={ends} />}
    </>
  );
}

/** When it comes back by itself, whatever its holder does; silence apart. */
function endOf({ endsAt, claims }: Lease, resource: string): string | null {
  return claims.find((claim) => claim.resource === resource)?.heldUntil ?? endsAt;
}

function TimeLeft({ since, until }: { since: string; until: string }) {
  const now = useNowMs();
  const wholeMs = Date.parse(until) - Date.parse(since);
  const share = wholeMs <= 0 ? 1 : Math.min(1, Math.max(0, (now - Date.parse(since)) / wholeMs));
  return <span className="tile-time" style={{ width: `${(share * 100).toFixed(1)}%` }} />;
}

/** What is lent by amount has many holders: how much of it is taken counts, not who has it. */
function RoomBody({
  resource,
  usage,
}: {
  resource: Resource;
  usage: NonNullable<Resource["usage"]>;
}) {
  const fullest = usage.reduce((most, { used, capacity }) => {
    return Math.max(most, capacity === 0 ? 0 : used / capacity);
  }, 0);
  return (
    <>
      <p className="tile-text">
        {usage
          .map(({ dimension, used, capacity }) => `${dimension} ${used}/${capacity}`)
          .join("  ")}
      </p>
      <p className="tile-foot">
        <span>{resource.shares?.length ?? 0} holders</span>
        <span>{percent(fullest)} of the scarcest</span>
      </p>
      <span className="tile-time" style={{ width: percent(fullest).replace(" ", "") }} />
    </>
  );
}
