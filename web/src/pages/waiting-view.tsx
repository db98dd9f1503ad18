import type { Explanation, WaitingRequest } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { explanation, resourcesOf } from "../data/questions.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { StateChip } from "../parts/state-chip.tsx";
import { Age, Left, Moment } from "../parts/times.tsx";
import { conditionsText } from "../parts/wants.ts";
import { at } from "../router.ts";
import { removeFromQueueAction } from "./actions.ts";
import { BumpButton } from "./bump-button.tsx";
import { Estimate } from "./estimate.tsx";
import type { Amounts } from "./fit-facts.ts";
import { FitPicture } from "./fit-picture.tsx";

export function WaitingView({ request }: { request: WaitingRequest }) {
  const { id, holder, position, queuedAt, reason, labels, priority } = request;
  const { data } = useAnswer(explanation(id));
  return (
    <>
      <h1>
        {holder} <StateChip state="waiting" />
      </h1>
      <p className="lead">
        Position {position}, waiting for <Age since={queuedAt} />: {reason.message}. Expected start:{" "}
        <Estimate request={request} />.
      </p>
      <div className="buttons start">
        <BumpButton request={request} />
        <ActionButton action={removeFromQueueAction(request)} />
      </div>
      <Facts
        label="About it"
        facts={[
          ["Id", <code key="id">{id}</code>],
          ["Priority", priority],
          ["Asked", <Moment key="q" at={queuedAt} />],
          ["Wants", request.items.map(wantsText).join("; ")],
          ...Object.entries(labels).map(([key, value]): [string, string] => [key, value]),
        ]}
      />
      <Quotas quotas={data?.space?.quotas ?? []} />
      {data?.needs.map((need) => (
        <Need
          key={`${need.pool} ${need.state}`}
          need={need}
          amount={request.items.find(({ pool }) => pool === need.pool)?.amount}
        />
      ))}
    </>
  );
}

function wantsText(item: WaitingRequest["items"][number]): string {
  const conditions = conditionsText(item);
  const of = `${item.count} of ${item.pool}`;
  return conditions === "" ? of : `${of} (${conditions})`;
}

type Quota = NonNullable<Explanation["space"]>["quotas"][number];

/** The quotas of its space, and who in the space holds what they limit. */
function Quotas({ quotas }: { quotas: readonly Quota[] }) {
  if (quotas.length === 0) return null;
  return (
    <section aria-label="Quotas of its space">
      <h2>Quotas</h2>
      <ul className="plain-list">
        {quotas.map(({ pool, dimension, held, max, cohort = null, heldBy = [] }) => (
          <li key={`${pool} ${dimension}`}>
            {held} of {max} {[dimension, pool].filter((part) => part !== null).join(" of ")}
            {heldBy.map(({ id, holder }) => (
              <span key={id}>
                {" "}
                <Link href={at("leases", id)}>{holder}</Link>
              </span>
            ))}
            {cohort === null ? null : (
              <span className="faint">
                {" "}
                cohort {cohort.name} uses {cohort.used} of {cohort.capacity}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

type NeedExplanation = Explanation["needs"][number];

function shortage({ free, size, state, available }: NeedExplanation): string {
  if (free === 0) return `None of ${size} ${state}.`;
  const kept = free > available ? `, ${free - available} kept for requests ahead` : "";
  return `${free} of ${size} ${state}${kept}.`;
}

interface RoomProps {
  readonly pool: string;
  readonly amount: Amounts;
  readonly rooms: NonNullable<NeedExplanation["rooms"]>;
}

function Rooms({ pool, amount, rooms }: RoomProps) {
  const { data } = useAnswer(resourcesOf(pool));
  return data === undefined ? null : <FitPicture amount={amount} resources={data} rooms={rooms} />;
}

function Need({ need, amount }: { need: NeedExplanation; amount: Amounts | undefined }) {
  const { pool, needed, available, ahead, aheadOfIt, heldBy } = need;
  return (
    <section aria-label={`Needs of ${pool}`}>
      <h2>
        {needed} of <Link href={at("pools", pool)}>{pool}</Link>
        {need.selects === undefined ? null : ` with ${need.selects}`}
      </h2>
      <p>
        {available >= needed ? "Enough is available now." : shortage(need)}{" "}
        {ahead === 0
          ? "No request ahead."
          : `${ahead} ${ahead === 1 ? "request" : "requests"} ahead.`}
      </p>
      {need.rooms === undefined || amount === undefined ? null : (
        <Rooms pool={pool} amount={amount} rooms={need.rooms} />
      )}
      {aheadOfIt.length === 0 ? null : (
        <ol className="plain-list">
          {aheadOfIt.map((other) => (
            <li key={other.id}>
              <Link href={at("requests", other.id)}>{other.holder}</Link>{" "}
              <span className="faint">wants {other.count}</span>
            </li>
          ))}
        </ol>
      )}
      {heldBy.length === 0 ? null : <h3>Holders</h3>}
      <ul className="plain-list">
        {heldBy.map((held) => (
          <li key={held.resource}>
            <Link href={at("resources", held.resource)}>{held.resource}</Link> with{" "}
            <Link href={at("leases", held.id)}>{held.holder}</Link>{" "}
            <span className="faint">
              for <Age since={held.since} />
              {held.backBy === null ? null : (
                <>
                  , expires in <Left until={held.backBy} /> without a heartbeat
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
