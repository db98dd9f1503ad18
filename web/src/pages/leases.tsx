import { type Ref, useMemo, useState } from "react";
import type { Lease } from "../../../src/api/schemas.ts";
import { serverNowMs } from "../data/berth.ts";
import { useInTime } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { leasesOf } from "../data/questions.ts";
import { ActionButton, NoActionsNote } from "../parts/action-button.tsx";
import { Choice } from "../parts/choice.tsx";
import { CsvButton } from "../parts/csv-button.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { Name } from "../parts/name.tsx";
import { NoMatch } from "../parts/no-match.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { rowsAtFirst } from "../parts/phone.ts";
import { Pick } from "../parts/pick.tsx";
import { SpaceFilter } from "../parts/space-filter.tsx";
import { useSteadyOrder } from "../parts/steady-order.ts";
import { Age, inWords, useLeft } from "../parts/times.tsx";
import { amountText } from "../parts/wants.ts";
import { at, useFilter } from "../router.ts";
import { endLeaseAction, lendAgainAction } from "./actions.ts";
import { GroupRow, useOpenGroup } from "./group-row.tsx";
import { firstRows, type Group, groupings, isWanted, leaseGroups, rowCount } from "./grouping.ts";
import {
  expiryOf,
  hasBeaten,
  inLeaseOrder,
  leaseOrders,
  missedBeats,
  pulseOf,
  silenceAt,
  silentPart,
} from "./lease-ends.ts";
import { LeaseTiles } from "./lease-tiles.tsx";
import { Ends, Heartbeat } from "./lease-times.tsx";

const shownAtFirst = 100;

/** All leases: which end next, which are the oldest, and whose holders are silent. */
export function Leases() {
  const { data, error } = useAnswer(leasesOf(undefined));
  const [text] = useFilter("q");
  const [space] = useFilter("space");
  const [by] = useFilter("group");
  const [order] = useFilter("sort");
  const [which] = useFilter("silent");
  const [limit, setLimit] = useState(rowsAtFirst(shownAtFirst));
  const wanted = useMemo(() => {
    const found = (data ?? []).filter((lease) => isWanted(lease, wordsOf(lease), text, space));
    return inLeaseOrder(found, order, serverNowMs());
  }, [data, text, space, order]);
  const silent = useInTime((nowMs) => (which === "" ? "" : silentIn(wanted, nowMs).join(" ")));
  const shown = useMemo(() => {
    if (which === "") return wanted;
    const ids = new Set(silent.split(" "));
    return wanted.filter(({ id }) => ids.has(id));
  }, [wanted, which, silent]);
  const sorted = useMemo(() => leaseGroups(shown, by), [shown, by]);
  const { items: groups, list } = useSteadyOrder<Group<Lease>, HTMLTableElement>(
    sorted,
    ({ name }) => name,
  );
  const [open] = useOpenGroup();
  const first = firstRows(groups, limit, open || undefined);
  return (
    <>
      <h1>Leases</h1>
      <ProblemNote error={error} />
      <NoActionsNote />
      {data === undefined || data.length === 0 ? null : (
        <LeaseTiles leases={shown} all={data.length} />
      )}
      <div className="tools">
        <FilterBox label="Filter by holder, pool, resource or label" />
        <SpaceFilter spaces={(data ?? []).map((lease) => lease.space)} />
        <Choice name="silent" label="Which" options={whichLeases} />
        <Choice name="group" label="Group" options={groupings} />
        <Pick name="sort" label="Order" options={leaseOrders} />
        <CsvButton name="leases" rows={() => csvRows(shown)} />
      </div>
      {data === undefined ? (
        <Loading />
      ) : shown.length === 0 ? (
        <NothingListed isFiltered={data.length > 0} />
      ) : (
        <LeaseTable groups={first} list={list} />
      )}
      <MoreButton shown={rowCount(first)} of={shown.length} onMore={setLimit} />
    </>
  );
}

const whichLeases = [
  ["", "All"],
  ["1", "Silent"],
] as const;

function silentIn(leases: readonly Lease[], nowMs: number): readonly string[] {
  return leases.flatMap((lease) =>
    silenceAt(pulseOf(lease), nowMs) >= silentPart ? lease.id : [],
  );
}

function NothingListed({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <NoMatch title="No lease matches" />;
  return (
    <EmptyNote title="There are no leases">
      Try <code>berth run --pool POOL -- sleep 60</code>, and watch it here.
    </EmptyNote>
  );
}

function wordsOf({ claims }: Lease): readonly string[] {
  return claims.flatMap(({ pool, resource }) => [pool, resource]);
}

function csvRows(leases: readonly Lease[]) {
  const nowMs = serverNowMs();
  const head = ["id", "holder", "space", "pools", "resources", "amounts", "priority", "queuedAt"];
  const rows = leases.map((lease) => {
    const { id, holder, space = "", claims, priority, queuedAt } = lease;
    const { grantedAt, waitedSeconds, endsAt } = lease;
    const pulse = pulseOf(lease);
    const heldSeconds = Math.round((nowMs - Date.parse(grantedAt)) / 1_000);
    const last = pulse !== null && hasBeaten(pulse, grantedAt) ? pulse.lastMs : null;
    return [
      ...[id, holder, space],
      [...new Set(claims.map(({ pool }) => pool))].join(" "),
      claims.map(({ resource }) => resource).join(" "),
      claims.map(({ amount }) => amountText(amount)).join("; "),
      ...[priority, queuedAt, grantedAt, waitedSeconds, heldSeconds],
      last === null ? null : new Date(last).toISOString(),
      pulse === null ? null : missedBeats(pulse, nowMs),
      ...[expiryOf(lease), endsAt],
    ];
  });
  const times = ["grantedAt", "waitedSeconds", "heldSeconds", "lastHeartbeatAt", "missed"];
  return [[...head, ...times, "expiresAt", "endsAt"], ...rows];
}

interface TableProps {
  readonly groups: readonly Group<Lease>[];
  readonly list?: Ref<HTMLTableElement>;
}

export function LeaseTable({ groups, list }: TableProps) {
  const [, opens] = useOpenGroup();
  return (
    <table className="leases stack" ref={list}>
      <thead>
        <tr>
          <th scope="col">Holder</th>
          <th scope="col">Holds</th>
          <th scope="col" className="number">
            Held for
          </th>
          <th scope="col" className="number optional">
            Waited
          </th>
          <th scope="col" className="number beat">
            Last heartbeat
          </th>
          <th scope="col" className="number ends">
            Ends
          </th>
          <th scope="col" className="action-cell">
            <span className="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      {groups.map(({ name, rows, count = rows.length }) => (
        <tbody key={name}>
          {name === "" ? null : (
            <GroupRow
              name={<GroupName name={name} pools={poolsIn(rows)} />}
              {...{ count, shown: rows.length, opens: opens(name) }}
              columns={7}
            />
          )}
          {rows.map((lease) => (
            <LeaseRow key={lease.id} lease={lease} isOfSpace={name === lease.space} />
          ))}
        </tbody>
      ))}
    </table>
  );
}

function poolsIn(rows: readonly Lease[]): ReadonlySet<string> {
  return new Set(rows[0]?.claims.map(({ pool }) => pool));
}

/** `aws + dns`: each pool is a link. Of another grouping, the name is not that of pools. */
function GroupName({ name, pools }: { name: string; pools: ReadonlySet<string> }) {
  if ([...pools].join(" + ") !== name) return <Name name={name} />;
  return [...pools].map((pool, index) => (
    <span key={pool}>
      {index === 0 ? "" : " + "}
      <Link href={at("pools", pool)}>{pool}</Link>
    </span>
  ));
}

interface RowProps {
  readonly lease: Lease;
  /** The group above it is its space. */
  readonly isOfSpace: boolean;
}

function LeaseRow({ lease, isOfSpace }: RowProps) {
  const { id, holder, space, claims, grantedAt, waitedSeconds, revokedAt } = lease;
  return (
    <tr data-row>
      <th scope="row">
        <Link href={at("leases", id)}>{holder}</Link>
        {space === undefined || isOfSpace ? null : (
          <small className="faint">
            {" "}
            <Name name={space} />
          </small>
        )}
        {lease.delivered === false ? <small className="late"> not fetched yet</small> : null}
      </th>
      <td className="wants">
        {claims.length === 0 ? <span className="faint">nothing now</span> : null}
        {claims.map(({ id: claim, resource, amount, heldUntil }) => (
          <span key={claim}>
            <Link href={at("resources", resource)}>{resource}</Link>{" "}
            {amount === undefined ? null : <small className="faint">{amountText(amount)} </small>}
            {heldUntil === null ? null : (
              <small className="faint" title="The pool takes it back then, and the lease goes on">
                <AutoRelease at={heldUntil} />{" "}
              </small>
            )}
          </span>
        ))}
      </td>
      <td className="number held-for" data-label="Held">
        <Age since={grantedAt} />
      </td>
      <td
        className={waitedSeconds < 1 ? "number optional faint" : "number optional"}
        data-label="Waited"
      >
        {inWords(waitedSeconds)}
      </td>
      <td className="number" data-label="Heartbeat">
        <Heartbeat lease={lease} />
      </td>
      <td className="number ends" data-label="Ends">
        <Ends lease={lease} />
      </td>
      <td className="action-cell">
        <ActionButton
          action={revokedAt === null ? endLeaseAction(lease) : lendAgainAction(lease)}
        />
      </td>
    </tr>
  );
}

function AutoRelease({ at }: { at: string }) {
  const left = useLeft(at);
  return <>auto-release {left === "now" ? left : `in ${left}`}</>;
}
