import { useMemo, useState } from "react";
import type { Lease } from "../../../src/api/schemas.ts";
import { parseDuration, roughDuration } from "../../../src/core/model/time.ts";
import { useInTime } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { leasesOf } from "../data/questions.ts";
import { ActionButton, NoActionsNote } from "../parts/action-button.tsx";
import { Choice } from "../parts/choice.tsx";
import { CsvButton } from "../parts/csv-button.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { SpaceFilter } from "../parts/space-filter.tsx";
import { Age, inWords, Left } from "../parts/times.tsx";
import { amountText } from "../parts/wants.ts";
import { at, useFilter } from "../router.ts";
import { endLeaseAction, freeRevokedAction } from "./actions.ts";
import { GroupRow } from "./group-row.tsx";
import { firstRows, type Group, groupedBy, groupings, isWanted } from "./grouping.ts";

const shownAtFirst = 100;

/** All leases, the oldest first. */
export function Leases() {
  const { data, error } = useAnswer(leasesOf(undefined));
  const [text] = useFilter("q");
  const [space] = useFilter("space");
  const [by] = useFilter("group");
  const [limit, setLimit] = useState(shownAtFirst);
  const shown = useMemo(() => {
    return (data ?? [])
      .filter((lease) => isWanted(lease, wordsOf(lease), text, space))
      .toSorted((a, b) => a.grantedAt.localeCompare(b.grantedAt));
  }, [data, text, space]);
  const groups = useMemo(() => groupsOf(shown, by), [shown, by]);
  return (
    <>
      <h1>
        Leases <small>{data === undefined ? "" : grouped(data.length)}</small>
      </h1>
      <ProblemNote error={error} />
      <NoActionsNote />
      <div className="tools">
        <FilterBox label="Filter by holder, pool, resource or label" />
        <SpaceFilter spaces={(data ?? []).map((lease) => lease.space)} />
        <Choice name="group" label="Group" options={groupings} />
        <CsvButton name="leases" rows={() => csvRows(shown)} />
      </div>
      {data === undefined ? (
        <Loading />
      ) : shown.length === 0 ? (
        <EmptyNote title={data.length === 0 ? "There are no leases" : "No lease matches"}>
          Try <code>berth run --pool POOL -- sleep 60</code>, and watch it here.
        </EmptyNote>
      ) : (
        <LeaseTable groups={firstRows(groups, limit)} />
      )}
      <MoreButton shown={limit} of={shown.length} onMore={setLimit} />
    </>
  );
}

function wordsOf({ claims }: Lease): readonly string[] {
  return claims.flatMap(({ pool, resource }) => [pool, resource]);
}

function groupsOf(leases: readonly Lease[], by: string): Group<Lease>[] {
  if (by === "none") return [{ name: "", rows: leases }];
  if (by === "space") return groupedBy(leases, ({ space }) => space ?? "");
  return groupedBy(leases, ({ claims }) => {
    // A pool with `hold` takes its claims back before the lease ends.
    if (claims.length === 0) return "all released, lease still open";
    return [...new Set(claims.map(({ pool }) => pool))].join(" and ");
  });
}

function csvRows(leases: readonly Lease[]) {
  const head = ["id", "holder", "space", "resources", "amounts", "priority", "queuedAt"];
  const rows = leases.map(({ id, holder, space = "", claims, priority, queuedAt, ...more }) => [
    ...[id, holder, space],
    claims.map(({ resource }) => resource).join(" "),
    claims.map(({ amount }) => amountText(amount)).join("; "),
    ...[priority, queuedAt, more.grantedAt, more.waitedSeconds, more.expiresAt, more.endsAt],
  ]);
  return [[...head, "grantedAt", "waitedSeconds", "expiresAt", "endsAt"], ...rows];
}

export function LeaseTable({ groups }: { groups: readonly Group<Lease>[] }) {
  return (
    <table className="leases stack">
      <thead>
        <tr>
          <th scope="col">Holder</th>
          <th scope="col">Holds</th>
          <th scope="col" className="number">
            For
          </th>
          <th scope="col" className="number optional">
            Waited
          </th>
          <th scope="col" className="number">
            Heartbeat
          </th>
          <th scope="col" className="number">
            Left
          </th>
          <th scope="col" className="action-cell">
            <span className="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      {groups.map(({ name, rows }) => (
        <tbody key={name}>
          {name === "" ? null : <GroupRow name={name} count={rows.length} columns={7} />}
          {rows.map((lease) => (
            <LeaseRow key={lease.id} lease={lease} />
          ))}
        </tbody>
      ))}
    </table>
  );
}

function LeaseRow({ lease }: { lease: Lease }) {
  const { id, holder, space, claims, grantedAt, waitedSeconds, endsAt, revokedAt } = lease;
  return (
    <tr data-row>
      <th scope="row">
        <Link href={at("leases", id)}>{holder}</Link>
        {space === undefined ? null : <small className="faint"> {space}</small>}
      </th>
      <td className="wants">
        {claims.length === 0 ? <span className="faint">nothing any more</span> : null}
        {claims.map(({ id: claim, resource, amount }) => (
          <span key={claim}>
            <Link href={at("resources", resource)}>{resource}</Link>{" "}
            {amount === undefined ? null : <small className="faint">{amountText(amount)} </small>}
          </span>
        ))}
      </td>
      <td className="number" data-label="Held">
        <Age since={grantedAt} />
      </td>
      <td className="number optional" data-label="Waited">
        {inWords(waitedSeconds)}
      </td>
      <td className="number" data-label="Heartbeat">
        <HeartbeatAge lease={lease} />
      </td>
      <td className="number" data-label="Left">
        <Left until={endsAt} />
      </td>
      <td className="action-cell">
        <ActionButton
          action={revokedAt === null ? endLeaseAction(lease) : freeRevokedAction(lease)}
        />
      </td>
    </tr>
  );
}

/** A lease is at risk when this part of its time without a heartbeat is over. */
const riskyPart = 0.67;

/** How long ago the last heartbeat was. */
function HeartbeatAge({ lease: { ttl, expiresAt, revokedAt } }: { lease: Lease }) {
  const ttlMs = ttl === null ? null : (parseDuration(ttl) ?? null);
  const ageOf = (nowMs: number) =>
    ttlMs === null || expiresAt === null ? 0 : ttlMs - (Date.parse(expiresAt) - nowMs);
  const words = useInTime((nowMs) => `${roughDuration(Math.max(0, ageOf(nowMs)))} ago`);
  const isRisky = useInTime((nowMs) => Number(ageOf(nowMs) > (ttlMs ?? 0) * riskyPart));
  if (ttlMs === null || expiresAt === null) return <span className="faint">none needed</span>;
  if (revokedAt !== null) return <span className="late">ended by an operator</span>;
  return (
    <span
      className={isRisky === 1 ? "late" : undefined}
      title={`It expires after ${ttl} without one`}
    >
      {words}
    </span>
  );
}
