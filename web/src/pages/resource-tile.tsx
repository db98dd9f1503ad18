import { memo } from "react";
import type { Resource } from "../../../src/api/schemas.ts";
import { noteReason } from "../../../src/core/explain/note-reason.ts";
import { useInTime } from "../data/clock.ts";
import { Link } from "../parts/link.tsx";
import { percentInUse, percentOfTime } from "../parts/numbers.ts";
import { lookOf, stateName } from "../parts/state-look.ts";
import { usualTime } from "../parts/time-words.ts";
import { exact, useAge, useLeft } from "../parts/times.tsx";
import { WholeName } from "../parts/whole-name.tsx";
import { at } from "../router.ts";

interface Props {
  readonly resource: Resource;
  readonly place: number;
  readonly of: number;
  readonly left: string;
  readonly top: number;
  readonly width: string;
}

/** Uses few elements, because a screen has two hundred tiles and scrolling creates them again. */
export const ResourceTile = memo(function ResourceTile(props: Props) {
  const { resource, place, of, left, top, width } = props;
  const { name, state, drained, cluster } = resource;
  return (
    <li
      className={`tile look-${lookOf(state)}`}
      data-name={name}
      aria-posinset={place}
      aria-setsize={of}
      style={{ left, width, top }}
    >
      <p className="tile-head">
        <Link
          data-row
          href={at(cluster ? "clusters" : "resources", name)}
          title={name}
          aria-label={name}
        >
          <WholeName name={name} />
        </Link>
        <span className="tile-state">
          {drained && state !== "drained" ? `${stateName(state)}, draining` : stateName(state)}
        </span>
      </p>
      <TileBody resource={resource} />
    </li>
  );
});

function TileBody({ resource }: { resource: Resource }) {
  if (resource.usage !== undefined) return <RoomBody resource={resource} usage={resource.usage} />;
  if (resource.phase !== undefined) return <PhaseBody {...resource} phase={resource.phase} />;
  if (resource.lease === null) return <IdleBody resource={resource} />;
  return <HeldBody lease={resource.lease} />;
}

function IdleBody({ resource: { note, changedAt, restsUntil } }: { resource: Resource }) {
  const age = useAge(changedAt);
  const left = useLeft(restsUntil);
  return (
    <>
      <p className={note === "" ? "tile-text" : "tile-text tile-note"} title={note}>
        {noteReason(note)}
      </p>
      <p className="tile-foot" title={`since ${exact(changedAt)}`}>
        for {age}
        {restsUntil === null ? null : <span>cooling {left}</span>}
      </p>
    </>
  );
}

/** A cluster that is made or destroyed: how far it is by the usual time. Its worker is no holder. */
function PhaseBody({ note, phase }: { note: string; phase: NonNullable<Resource["phase"]> }) {
  const { since, usualSeconds } = phase;
  const age = useAge(since);
  const share = useInTime((nowMs) =>
    usualSeconds === null ? 0 : percentOfTime(nowMs - Date.parse(since), usualSeconds),
  );
  return (
    <>
      <p className="tile-text">{note.split("\n")[0]}</p>
      <p className="tile-foot" title={`since ${exact(since)}`}>
        for {age}
        {usualSeconds === null ? "" : `, usually takes ${usualTime(usualSeconds)}`}
      </p>
      {usualSeconds === null ? null : <span className="tile-time" style={{ width: `${share}%` }} />}
    </>
  );
}

function HeldBody({ lease }: { lease: NonNullable<Resource["lease"]> }) {
  const { id, holder, since, endsAt } = lease;
  const age = useAge(since);
  const left = useLeft(endsAt);
  const until = endsAt === null ? "" : `, until ${exact(endsAt)} at the latest`;
  return (
    <>
      <p className="tile-text">
        <Link href={at("leases", id)} title={holder}>
          {holder}
        </Link>
      </p>
      <p className="tile-foot" title={`since ${exact(since)}${until}`}>
        held {age}
        {endsAt === null ? null : <span>left {left}</span>}
      </p>
      {endsAt === null ? null : <TimeLeft since={since} until={endsAt} />}
    </>
  );
}

function TimeLeft({ since, until }: { since: string; until: string }) {
  const [from, to] = [Date.parse(since), Date.parse(until)];
  // Rounded to hundredths, so that it is not drawn again for an invisible change.
  const share = useInTime((nowMs) => {
    const passed = to <= from ? 1 : (nowMs - from) / (to - from);
    return Math.round(Math.min(1, Math.max(0, passed)) * 100);
  });
  return <span className="tile-time" style={{ width: `${share}%` }} />;
}

/** A shared resource has many holders, so the tile shows its use instead of a holder. */
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
        {resource.shares?.length ?? 0} {resource.shares?.length === 1 ? "holder" : "holders"}
        <span>{percentInUse(fullest)} of the fullest dimension</span>
      </p>
      <span className="tile-time" style={{ width: `${Math.min(100, fullest * 100)}%` }} />
    </>
  );
}
