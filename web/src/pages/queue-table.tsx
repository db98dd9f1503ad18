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

interface Props {
  readonly requests: readonly WaitingRequest[];
  readonly withPools: boolean;
  /** How many requests are shown before "Show more". */
  readonly shownAtFirst: number;
}

/** A holder sees the requests of its own space only, so others may wait when it sees none. */
export function useEmptyQueueText(): string {
  const us = useStore(whoami);
  return us?.role === "holder" ? "No request of your space is waiting" : "The queue is empty";
}

export function QueueTable({ requests, withPools, shownAtFirst }: Props) {
  const [limit, setLimit] = useState(shownAtFirst);
  return (
    <>
      <table className="queue">
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
            <th scope="col">Expected start</th>
            <th scope="col" className="optional">
              Why it waits
            </th>
            <th scope="col" className="action-cell">
              <span className="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {requests.slice(0, limit).map((request) => (
            <QueueRow key={request.id} request={request} withPools={withPools} />
          ))}
        </tbody>
      </table>
      <MoreButton shown={limit} of={requests.length} onMore={setLimit} />
    </>
  );
}

function QueueRow({ request, withPools }: { request: WaitingRequest; withPools: boolean }) {
  const { id, holder, position, items, queuedAt, reason, priority } = request;
  return (
    <tr data-row>
      <td className="number">{position}</td>
      <th scope="row">
        <Link href={at("requests", id)}>{holder}</Link>
        {priority === 0 ? null : <small> priority {priority}</small>}
        {withPools ? null : <Conditions items={items} />}
      </th>
      {withPools ? (
        <td>
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items have no other name, and no state.
            <span key={`${item.pool} ${index}`}>
              <Link href={at("pools", item.pool)}>
                {item.count === 1 ? item.pool : `${item.pool} ×${item.count}`}
              </Link>{" "}
              <Conditions items={[item]} />
            </span>
          ))}
        </td>
      ) : null}
      <td className="number">
        <Age since={queuedAt} />
      </td>
      <td>
        <Estimate request={request} />
      </td>
      <td className="optional words">{reason.message}</td>
      <td className="action-cell">
        <ActionButton action={removeFromQueueAction(request)} />
      </td>
    </tr>
  );
}

/** The amounts, labels and names that the items ask for. */
function Conditions({ items }: Pick<WaitingRequest, "items">) {
  const text = items
    .map(conditionsText)
    .filter((one) => one !== "")
    .join("; ");
  return text === "" ? null : <small className="faint"> {text} </small>;
}
