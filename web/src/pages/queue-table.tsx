import { useState } from "react";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { whoami } from "../data/live.ts";
import { useStore } from "../data/store.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { Age } from "../parts/times.tsx";
import { conditionsText } from "../parts/wants.ts";
import { at } from "../router.ts";
import { removeFromQueueAction } from "./actions.ts";
import { Estimate } from "./estimate.tsx";
import { GroupRow } from "./group-row.tsx";
import { firstRows, type Group } from "./grouping.ts";

interface Props {
  readonly groups: readonly Group<WaitingRequest>[];
  readonly withPools: boolean;
  /** How many requests are shown before "Show more". */
  readonly shownAtFirst: number;
}

/** A holder sees the requests of its own space only, so others may wait when it sees none. */
export function useEmptyQueueText(): string {
  const us = useStore(whoami);
  return us?.role === "holder" ? "No request of your space is waiting" : "The queue is empty";
}

export function QueueTable({ groups, withPools, shownAtFirst }: Props) {
  const [limit, setLimit] = useState(shownAtFirst);
  const count = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  return (
    <>
      <table className="queue stack">
        <thead>
          <tr>
            <th scope="col" className="number">
              #<span className="hidden"> position</span>
            </th>
            <th scope="col">Who</th>
            {withPools ? <th scope="col">Wants</th> : null}
            <th scope="col" className="number">
              Waits for
            </th>
            <th scope="col" className="why">
              Why it waits
            </th>
            <th scope="col" className="optional">
              Expected start
            </th>
            <th scope="col" className="action-cell">
              <span className="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        {firstRows(groups, limit).map(({ name, rows }) => (
          <tbody key={name}>
            {name === "" ? null : (
              <GroupRow name={name} count={rows.length} columns={withPools ? 7 : 6} />
            )}
            {rows.map((request) => (
              <QueueRow key={request.id} request={request} withPools={withPools} />
            ))}
          </tbody>
        ))}
      </table>
      <MoreButton shown={limit} of={count} onMore={setLimit} />
    </>
  );
}

function QueueRow({ request, withPools }: { request: WaitingRequest; withPools: boolean }) {
  const { id, holder, position, items, queuedAt, reason, priority, space } = request;
  return (
    <tr data-row>
      <td className="number position">{position}</td>
      <th scope="row">
        <Link href={at("requests", id)}>{holder}</Link>
        {space === undefined ? null : <small className="faint"> {space}</small>}
        {priority === 0 ? null : <small> priority {priority}</small>}
        {withPools ? null : <Conditions items={items} />}
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
      <td className="words">{reason.message}</td>
      <td className="optional starts" data-label="Expected start">
        <Estimate request={request} />
      </td>
      <td className="action-cell">
        <ActionButton action={removeFromQueueAction(request)} />
      </td>
    </tr>
  );
}

/** The amounts, labels and names that the items ask for. */
function Conditions({ items }: Pick<WaitingRequest, "items">) {
  const text = items
    .map((item) => [item.count === 1 ? "" : `×${item.count}`, conditionsText(item)])
    .map((parts) => parts.filter((part) => part !== "").join(" "))
    .filter((one) => one !== "")
    .join("; ");
  return text === "" ? null : <small className="faint"> {text} </small>;
}
