import { useId } from "react";
import type { Explanation, Lease, WaitingRequest } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { allSpaces, leasesOf, queueOf, resourcesOf } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, Left } from "../parts/times.tsx";
import { amountText, conditionsText } from "../parts/wants.ts";
import { at } from "../router.ts";
import { type Ahead, aheadOf, aheadWords } from "./ahead-facts.ts";
import type { Amounts } from "./fit-facts.ts";
import { FitPicture } from "./fit-picture.tsx";
import { endOf } from "./lease-ends.ts";

type Need = Explanation["needs"][number];

interface Props {
  readonly need: Need;
  readonly request: WaitingRequest;
  readonly space: Explanation["space"];
  readonly amount: Amounts | undefined;
}

/** What a request needs of one pool: how much is there, who is ahead of it, and who has it now. */
export function NeedSection({ need, request, space, amount }: Props) {
  const id = useId();
  const { pool, needed, available, aheadOfIt, heldBy } = need;
  const isThere = available >= needed;
  return (
    <section aria-labelledby={id} className="need">
      <h2 id={id}>
        Needs {needed} of <Link href={at("pools", pool)}>{pool}</Link>
        {need.selects === undefined ? null : ` with ${need.selects}`}{" "}
        <span className={isThere ? "gate-status open" : "gate-status"}>
          {isThere ? "enough is free" : shortage(need)}
        </span>
      </h2>
      {need.rooms === undefined || amount === undefined ? null : (
        <Rooms pool={pool} amount={amount} rooms={need.rooms} />
      )}
      <div className="gates">
        <section className="gate" aria-label={`Ahead of it in ${pool}`}>
          <h3>
            Ahead of it <small>{grouped(need.ahead)}</small>
          </h3>
          {need.ahead === 0 ? null : <WhyAhead {...{ pool, request, space }} />}
          <AheadList pool={pool} requests={aheadOfIt} all={need.ahead} />
        </section>
        <section className="gate" aria-label={`Holders of ${pool}`}>
          <h3>
            Held now by <small>{grouped(heldBy.length)}</small>
          </h3>
          <Holders pool={pool} heldBy={heldBy} />
        </section>
      </div>
    </section>
  );
}

function shortage({ free, size, state, available }: Need): string {
  if (free === 0) return `none of ${size} ${state}`;
  if (available === 0) return `${free} of ${size} ${state}, but requests ahead go first`;
  const kept = free > available ? `, ${free - available} kept for requests ahead` : "";
  return `${free} of ${size} ${state}${kept}`;
}

interface RoomProps {
  readonly pool: string;
  readonly amount: Amounts;
  readonly rooms: NonNullable<Need["rooms"]>;
}

function Rooms({ pool, amount, rooms }: RoomProps) {
  const { data } = useAnswer(resourcesOf(pool));
  return data === undefined ? null : <FitPicture amount={amount} resources={data} rooms={rooms} />;
}

interface WhyProps extends Pick<Props, "request" | "space"> {
  readonly pool: string;
}

/** By which rule others go first. Those who see only their own space learn how many spaces do. */
function WhyAhead({ pool, request, space }: WhyProps) {
  const { data: queue = [] } = useAnswer(queueOf(pool));
  const own = queue.find(({ id }) => id === request.id);
  const groups = own === undefined ? [] : aheadOf(own, queue);
  const place = groups.reduce((sum, { count }) => sum + count, 1);
  if (own === undefined || place !== own.position) {
    if (space === undefined || space.spacesAhead === 0) return null;
    return (
      <p className="gate-lead">
        {space.spacesAhead === 1
          ? `1 space has a lower share than ${space.name} and goes first.`
          : `${space.spacesAhead} spaces have a lower share than ${space.name} and go first.`}
      </p>
    );
  }
  const isShared = groups.some(({ why }) => why === "share");
  const known = { groups, own: request.space };
  return isShared ? <BecauseOfShares {...known} /> : <Because {...known} shares={new Map()} />;
}

interface BecauseProps {
  readonly groups: readonly Ahead[];
  readonly own: string | undefined;
  readonly shares: ReadonlyMap<string, number>;
}

function BecauseOfShares(props: Omit<BecauseProps, "shares">) {
  const { data = [] } = useAnswer(allSpaces);
  return <Because {...props} shares={new Map(data.map(({ name, share }) => [name, share]))} />;
}

function Because({ groups, own, shares }: BecauseProps) {
  return (
    <p className="gate-lead">
      <b>Ahead because:</b> {groups.map((group) => aheadWords(group, own, shares)).join("; ")}.
    </p>
  );
}

interface AheadProps {
  readonly pool: string;
  readonly requests: Need["aheadOfIt"];
  readonly all: number;
}

function AheadList({ pool, requests, all }: AheadProps) {
  const queue = useAnswer(queueOf(pool)).data ?? [];
  if (all === 0) return <p className="calm">Nobody: it is next.</p>;
  return (
    <>
      <ol className="rows">
        {requests.map(({ id, holder, count }) => {
          const request = queue.find((one) => one.id === id);
          const conditions = conditionsText(
            request?.items.find((item) => item.pool === pool) ?? {},
          );
          return (
            <li key={id} data-row>
              <Link href={at("requests", id)}>{holder}</Link>
              <span className="faint">
                {conditions}
                {count === 1 ? "" : ` ×${grouped(count)}`}
              </span>
              {request === undefined ? null : (
                <span className="faint">
                  waits <Age since={request.queuedAt} />
                </span>
              )}
            </li>
          );
        })}
      </ol>
      {all > requests.length ? (
        <p className="calm">and {grouped(all - requests.length)} more</p>
      ) : null}
    </>
  );
}

/** As many as are read at a glance. */
const holdersMax = 12;

/** Those first of which the next end is known: they come free soonest. */
function Holders({ pool, heldBy }: { pool: string; heldBy: Need["heldBy"] }) {
  const leases = useAnswer(leasesOf(pool)).data ?? [];
  if (heldBy.length === 0) return <p className="calm">Nobody holds any of it.</p>;
  const byId = new Map(leases.map((lease) => [lease.id, lease]));
  const rows = heldBy
    .map((held) => {
      const lease = byId.get(held.id);
      return { held, lease, end: lease === undefined ? null : endOf(lease) };
    })
    .sort(
      (a, b) => (Date.parse(a.end?.at ?? "") || never) - (Date.parse(b.end?.at ?? "") || never),
    );
  return (
    <>
      <ol className="rows">
        {rows.slice(0, holdersMax).map(({ held, lease, end }) => (
          <li key={`${held.resource} ${held.id}`} data-row>
            <Link href={at("resources", held.resource)}>{held.resource}</Link>
            <Link href={at("leases", held.id)}>{held.holder}</Link>
            <Amount of={held.resource} lease={lease} />
            <span className="faint">
              for <Age since={held.since} />
              {end === null ? null : (
                <>
                  , {end.why} in <Left until={end.at} />
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
      {heldBy.length > holdersMax ? (
        <p className="calm">and {grouped(heldBy.length - holdersMax)} more</p>
      ) : null}
    </>
  );
}

const never = Number.MAX_SAFE_INTEGER;

function Amount({ of, lease }: { of: string; lease: Lease | undefined }) {
  const text = amountText(lease?.claims.find(({ resource }) => resource === of)?.amount);
  return text === "" ? null : <span className="faint">{text}</span>;
}
