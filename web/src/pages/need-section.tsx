import { useId, useState } from "react";
import type { Explanation, Lease, WaitingRequest } from "../../../src/api/schemas.ts";
import { spacesAheadWords } from "../../../src/api/spaces-ahead.ts";
import { useAnswer } from "../data/query.ts";
import { allSpaces, leasesOf, queueOf } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, Left } from "../parts/times.tsx";
import { amountText, conditionsText } from "../parts/wants.ts";
import { at } from "../router.ts";
import { aheadWords, groupsAhead } from "./ahead-facts.ts";
import type { Amounts } from "./fit-facts.ts";
import { FitPicture } from "./fit-picture.tsx";
import { backOf } from "./lease-ends.ts";
import { useSeesAllSpaces } from "./queue-table.tsx";
import { aheadIn } from "./start-order.ts";

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
  const { pool, needed, available, heldBy } = need;
  const isThere = available >= needed;
  const { data: queue = noRequests } = useAnswer(queueOf(pool));
  // Count, rule and list are of one answer, so they agree.
  const ahead = aheadIn(queue, request.id, pool, useSeesAllSpaces());
  const count = ahead?.length ?? need.ahead;
  return (
    <section aria-labelledby={id} className="need">
      <h2 id={id}>
        Needs {needsText(needed, amount)} of <Link href={at("pools", pool)}>{pool}</Link>
        {need.selects === undefined ? null : ` with ${need.selects}`}{" "}
        <span className={isThere ? "gate-status open" : "gate-status"}>
          {isThere ? enough(need) : shortage(need)}
        </span>
      </h2>
      {need.rooms === undefined || amount === undefined ? null : (
        <FitPicture {...{ amount, rooms: need.rooms, size: need.size }} isBehind={count > 0} />
      )}
      <div className="gates">
        <section className="gate" aria-label={`Ahead of it in ${pool}`}>
          <h3>
            Ahead of it <small>{grouped(count)}</small>
          </h3>
          {count === 0 ? null : <WhyAhead {...{ ahead, request, space }} />}
          <AheadList
            {...{ pool, queue, all: count }}
            requests={ahead === undefined ? need.aheadOfIt : listedFirst(ahead, pool)}
          />
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

const noRequests: readonly WaitingRequest[] = [];
/** As many as the server names to those who do not see the others. */
const aheadMax = 20;

function listedFirst(ahead: readonly WaitingRequest[], pool: string) {
  return ahead.slice(0, aheadMax).map(({ id, holder, items }) => {
    return { id, holder, count: items.find((item) => item.pool === pool)?.count ?? 1 };
  });
}

/** `2`, or the amount of each: `vcpus 24, memory 96`. */
function needsText(needed: number, amount: Amounts | undefined): string {
  if (amount === undefined) return grouped(needed);
  return `${amountText(amount)}${needed === 1 ? "" : ` ×${grouped(needed)}`}`;
}

function enough({ rooms, available, size }: Need): string {
  return rooms === undefined
    ? "enough is free"
    : `fits on ${grouped(available)} of ${grouped(size)} now`;
}

function shortage({ free, size, state, available, needed, rooms }: Need): string {
  // Several share each resource, so none of them is simply free.
  if (rooms !== undefined) {
    const where = available === 0 ? "none" : grouped(available);
    return `fits on ${where} of ${grouped(size)} now${needed > 1 ? `, ${grouped(needed)} needed` : ""}`;
  }
  if (free === 0) return `none of ${size} ${state}`;
  if (available === 0) return `${free} of ${size} ${state}, but requests ahead go first`;
  const kept = free > available ? `, ${free - available} reserved for requests ahead` : "";
  return `${free} of ${size} ${state}${kept}`;
}

interface WhyProps extends Pick<Props, "request" | "space"> {
  /** Undefined if the reader does not see all of them. */
  readonly ahead: readonly WaitingRequest[] | undefined;
}

/** By which rule others go first. Those who see only their own space learn how many spaces do. */
function WhyAhead({ ahead, request, space }: WhyProps) {
  if (ahead === undefined) {
    if (space === undefined || space.spacesAhead === 0) return null;
    return <p className="gate-lead">{spacesAheadWords(space)}</p>;
  }
  const isShared = ahead.some((other) => other.space !== request.space);
  return isShared ? (
    <BecauseOfShares {...{ request, ahead }} />
  ) : (
    <Because {...{ request, ahead }} shares={noShares} />
  );
}

const noShares: ReadonlyMap<string, number> = new Map();

interface BecauseProps {
  readonly request: WaitingRequest;
  readonly ahead: readonly WaitingRequest[];
  readonly shares: ReadonlyMap<string, number>;
}

function BecauseOfShares(props: Omit<BecauseProps, "shares">) {
  const { data = [] } = useAnswer(allSpaces);
  return <Because {...props} shares={new Map(data.map(({ name, share }) => [name, share]))} />;
}

function Because({ request, ahead, shares }: BecauseProps) {
  const groups = groupsAhead(request, ahead, shares);
  return (
    <p className="gate-lead">
      <b>Ahead because:</b>{" "}
      {groups.map((group) => aheadWords(group, request.space, shares)).join("; ")}.
    </p>
  );
}

interface AheadProps {
  readonly pool: string;
  readonly queue: readonly WaitingRequest[];
  readonly requests: readonly Pick<Need["aheadOfIt"][number], "id" | "holder" | "count">[];
  readonly all: number;
}

function AheadList({ pool, queue, requests, all }: AheadProps) {
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
        <Link className="plain-link" href={`/queue?q=${encodeURIComponent(pool)}`}>
          and {grouped(all - requests.length)} more
        </Link>
      ) : null}
    </>
  );
}

/** As many as are read at a glance. */
const holdersMax = 12;

/** Those first of which the next end is known: they come free soonest. */
function Holders({ pool, heldBy }: { pool: string; heldBy: Need["heldBy"] }) {
  const [shown, setShown] = useState(holdersMax);
  const leases = useAnswer(leasesOf(pool)).data ?? [];
  if (heldBy.length === 0) return <p className="calm">Nobody holds any of it.</p>;
  const byId = new Map(leases.map((lease) => [lease.id, lease]));
  const rows = heldBy
    .map((held) => {
      const lease = byId.get(held.id);
      return { held, lease, end: lease === undefined ? null : backOf(lease, held.resource) };
    })
    .sort(
      (a, b) => (Date.parse(a.end?.at ?? "") || never) - (Date.parse(b.end?.at ?? "") || never),
    );
  return (
    <>
      <ol className="rows">
        {rows.slice(0, shown).map(({ held, lease, end }) => (
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
      {heldBy.length > shown ? (
        <button type="button" className="quiet plain-link" onClick={() => setShown(heldBy.length)}>
          and {grouped(heldBy.length - shown)} more
        </button>
      ) : null}
    </>
  );
}

const never = Number.MAX_SAFE_INTEGER;

function Amount({ of, lease }: { of: string; lease: Lease | undefined }) {
  const text = amountText(lease?.claims.find(({ resource }) => resource === of)?.amount);
  return text === "" ? null : <span className="faint">{text}</span>;
}
