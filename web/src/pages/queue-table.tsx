import { Fragment, useState } from "react";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { whoami } from "../data/live.ts";
import { useStore } from "../data/store.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { Name } from "../parts/name.tsx";
import { rowsAtFirst } from "../parts/phone.ts";
import { shownRows } from "../parts/shown-rows.ts";
import { useSteadyOrder } from "../parts/steady-order.ts";
import { Age } from "../parts/times.tsx";
import { Unbroken } from "../parts/unbroken.tsx";
import { conditionsText } from "../parts/wants.ts";
import { at, usePlace } from "../router.ts";
import { removeFromQueueAction } from "./actions.ts";
import { commonReason, ownReason, shortQuota, withoutPace } from "./common-reason.ts";
import { Estimate, LateEstimates } from "./estimate.tsx";
import { startLabel } from "./estimate-words.ts";
import { GroupRow, useOpenGroup } from "./group-row.tsx";
import { firstRows, type Group, oldestIn, rowCount } from "./grouping.ts";
import { type GroupWithOldest, withOldestOf } from "./oldest-row.ts";
import {
  asksForRoom,
  hasSeveralSpaces,
  orderWords,
  type Turn,
  withoutPlace,
  withTurn,
} from "./start-order.ts";

interface Props {
  readonly groups: readonly Group<WaitingRequest>[];
  /** Of each request, also of those that a filter leaves out. */
  readonly turns: ReadonlyMap<string, Turn>;
  readonly withPools: boolean;
  /** The pool whose queue it is, if it is of one. */
  readonly pool?: string;
  /** How many requests are shown before "Show more". */
  readonly shownAtFirst: number;
  /** The request that waits longest is shown at first too, wherever it is. */
  readonly withOldest?: boolean;
}

/** A holder sees the requests of its own space only, so others may wait when it sees none. */
export function useEmptyQueueText(): string {
  const us = useStore(whoami);
  return us?.role === "holder" ? "No request of your space is waiting" : "The queue is empty";
}

/** A holder does not see who of other spaces is between two requests of its own. */
export function useSeesAllSpaces(): boolean {
  return useStore(whoami)?.role !== "holder";
}

export function QueueTable(props: Props) {
  const { groups: sorted, turns, withPools, pool, shownAtFirst, withOldest = false } = props;
  const [limit, setLimit] = useState(rowsAtFirst(shownAtFirst));
  const { items: groups, list } = useSteadyOrder<Group<WaitingRequest>, HTMLTableElement>(
    sorted,
    ({ name }) => name,
  );
  const [open] = useOpenGroup();
  const begin = firstRows(groups, shownRows(limit, rowCount(groups)), open || undefined);
  const first: readonly GroupWithOldest<WaitingRequest>[] = withOldest
    ? withOldestOf(groups, begin)
    : begin;
  const place = usePlace();
  // One list has the queues of several pools, so it is in the order of the waits.
  const isOneList = withPools && pool === undefined;
  const order = place.query.get("sort") ?? "";
  const byWait = isOneList && order !== "start" && order !== "late";
  const byStart = isOneList && order === "start";
  const byQueue = !withPools && pool === undefined;
  return (
    <>
      {byQueue || pool !== undefined ? <OrderNote {...{ groups, turns, byQueue }} /> : null}
      <table className="queue stack" ref={list}>
        <thead>
          <tr>
            <th
              scope="col"
              className="number"
              title="Who is expected to start first in the queue of its pool"
              aria-sort={isOneList ? undefined : "ascending"}
            >
              #<span className="hidden"> position in its pool</span>
            </th>
            <th scope="col">Who</th>
            {withPools ? <th scope="col">Wants</th> : null}
            <th
              scope="col"
              className="number"
              title={byWait ? "In this order: who waits longest comes first" : undefined}
              aria-sort={byWait ? "descending" : undefined}
            >
              Waiting{byWait ? <span aria-hidden="true"> ↓</span> : null}
            </th>
            <th scope="col" className="why">
              Why it waits
            </th>
            <th scope="col" className="optional" aria-sort={byStart ? "ascending" : undefined}>
              Expected start{byStart ? <span aria-hidden="true"> ↑</span> : null}
            </th>
            <th scope="col" className="action-cell">
              <span className="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        {first.map((group) => (
          <QueueGroup
            key={group.name}
            {...{ group, turns, withPools, pool }}
            all={groups.find(({ name }) => name === group.name)?.rows ?? []}
          />
        ))}
      </table>
      <MoreButton
        shown={rowCount(first)}
        of={rowCount(groups)}
        onMore={setLimit}
        keepsPlace={withOldest}
      />
    </>
  );
}

interface NoteProps extends Pick<Props, "groups" | "turns"> {
  /** Of a list with a heading for each queue; the headings say their orders. */
  readonly byQueue: boolean;
}

/** Why those who came first are not always the first to start. */
function OrderNote({ groups, turns, byQueue }: NoteProps) {
  const order = byQueue ? "" : orderWords(groups[0]?.rows ?? []);
  const byShare = groups.some(({ rows }) => !asksForRoom(rows) && hasSeveralSpaces(rows));
  const skips = groups.some(({ rows }) => rows.some(({ id }) => turns.get(id)?.skips === true));
  const reserves = groups.some(({ rows }) => asksForRoom(rows) && hasSeveralSpaces(rows));
  if (!byShare && !skips && !reserves) {
    return order === "" ? null : <p className="aside-note">{`I${order.slice(1)}.`}</p>;
  }
  const where = byQueue ? "Where spaces share a queue, they" : "Spaces";
  return (
    <details className="order-note">
      <summary>
        {order === "" ? "Why a later request may start first" : `I${order.slice(1)}`}
      </summary>
      <p>
        {byShare ? (
          <>
            {where} take turns by their <Link href="/spaces">shares</Link>, and new requests can
            change the order. A space whose share is higher now may be expected to start first: what
            others get until then raises theirs.{" "}
          </>
        ) : null}
        {reserves ? (
          <>
            Capacity is reserved in the order of the <Link href="/spaces">shares</Link> of the
            spaces, which count what they hold of all pools, and then of the arrivals.{" "}
          </>
        ) : null}
        {skips ? "A request for several pools is counted where it waits now." : ""}
      </p>
    </details>
  );
}

interface GroupProps extends Pick<Props, "withPools" | "turns"> {
  readonly group: GroupWithOldest<WaitingRequest>;
  readonly pool: string | undefined;
  /** All requests of the group, shown or not. */
  readonly all: readonly WaitingRequest[];
}

function QueueGroup({ group, turns, withPools, pool, all }: GroupProps) {
  const { name, rows, count = rows.length, apart } = group;
  const columns = withPools ? 7 : 6;
  const common = commonReason(all);
  const order = withPools ? "" : orderWords(all);
  const [, opens] = useOpenGroup();
  return (
    <tbody>
      {name === "" ? null : (
        <GroupRow
          name={withPools ? <Name name={name} /> : <Link href={at("pools", name)}>{name}</Link>}
          {...{ count, columns, shown: rows.length, opens: opens(name) }}
        >
          <small>
            , longest wait <Age since={oldestIn(all)} />
            {order === "" ? "" : `, ${order}`}
            {withPools ? null : <LateEstimates pool={name} />}
          </small>
        </GroupRow>
      )}
      {common === "" ? null : (
        <tr className="common">
          <td colSpan={columns}>
            <Unbroken text={shownReason(common, pool)} />
          </td>
        </tr>
      )}
      {rows.map((request) => (
        <Fragment key={request.id}>
          {request.id === apart ? (
            <tr className="common">
              <td colSpan={columns}>Further down, waits longest:</td>
            </tr>
          ) : null}
          <QueueRow
            {...{ request, withPools, pool, common }}
            isOfSpace={name === request.space}
            turn={turns.get(request.id)}
          />
        </Fragment>
      ))}
    </tbody>
  );
}

/** In the queue of a pool its pace is shown above, so that only one place has the numbers. */
function shownReason(reason: string, pool: string | undefined): string {
  return shortQuota(pool === undefined ? reason : withoutPace(reason));
}

interface RowProps extends Omit<GroupProps, "group" | "all" | "turns"> {
  readonly request: WaitingRequest;
  readonly common: string;
  /** The group above it is its space. */
  readonly isOfSpace: boolean;
  /** Undefined if it waits for another pool first. */
  readonly turn: Turn | undefined;
}

/** A phone leaves it out: the number before the row says it. */
const positionOnly = /^(next in line|[\d,]+ ahead( \(.*\))?)$/i;

function QueueRow({ request, withPools, pool, common, turn, isOfSpace }: RowProps) {
  const { id, holder, items, queuedAt, reason, priority, space } = request;
  const hasOtherOrder = reason.code === "quota_reached" || asksForRoom([request]);
  const message = (hasOtherOrder ? withoutPlace : withTurn)(reason.message, turn);
  const own = shownReason(ownReason(message, common), pool);
  return (
    <tr data-row>
      <td className="number position" title={turn === undefined ? `Waits for ${reason.pool}` : ""}>
        {turn === undefined ? "–" : turn.place}
      </td>
      <th scope="row">
        <Link href={at("requests", id)}>{holder}</Link>
        {space === undefined || isOfSpace ? null : (
          <small className="faint">
            {" "}
            <Name name={space} />
          </small>
        )}
        {priority === 0 ? null : <small> priority {priority}</small>}
        {request.starved === true ? (
          <small title="Its space got nothing of a pool for the patience of the pool">
            {" "}
            first: got nothing for too long
          </small>
        ) : null}
        {withPools ? null : <Conditions items={items} />}
        {withPools ? null : (
          <OtherPools items={items} own={pool ?? reason.pool ?? items[0]?.pool} />
        )}
      </th>
      {withPools ? (
        <td className="wants">
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items have no other name, and no state.
            <span key={`${item.pool} ${index}`}>
              <Link href={at("pools", item.pool)}>{item.pool}</Link> <Conditions items={[item]} />
            </span>
          ))}
        </td>
      ) : null}
      <td className="number wait">
        <Age since={queuedAt} />
      </td>
      <td className={positionOnly.test(own) ? "words says-position" : "words"}>
        {turn === undefined && reason.pool !== null ? (
          <>
            in the queue of <Link href={at("pools", reason.pool)}>{reason.pool}</Link>
          </>
        ) : (
          <Unbroken text={own} />
        )}
      </td>
      <td className="optional starts" data-label={startLabel(request, turn?.isNew === true)}>
        <Estimate request={request} turn={turn} />
      </td>
      <td className="action-cell">
        <ActionButton action={removeFromQueueAction(request, turn?.place)} brief="Remove" />
      </td>
    </tr>
  );
}

/** The pools beside the one whose queue it is in. */
function OtherPools({ items, own }: Pick<WaitingRequest, "items"> & { own: string | undefined }) {
  const others = items.flatMap(({ pool }) => (pool === own ? [] : [pool]));
  if (others.length === 0) return null;
  return <small className="faint"> also wants {others.join(", ")}</small>;
}

/** The amounts, labels and names that the items ask for. */
function Conditions({ items }: Pick<WaitingRequest, "items">) {
  const text = items
    .map((item) => [item.count === 1 ? "" : `×${item.count}`, conditionsText(item)])
    .map((parts) => parts.filter((part) => part !== "").join(" "))
    .filter((one) => one !== "")
    .join("; ");
  if (text === "") return null;
  return <small className="faint"> {text} </small>;
}
