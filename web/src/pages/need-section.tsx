import { useId } from "react";
import type { Explanation, WaitingRequest } from "../../../src/api/schemas.ts";
import { spacesAheadWords } from "../../../src/api/spaces-ahead.ts";
import { useAnswer } from "../data/query.ts";
import { allSpaces, queueOf } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age } from "../parts/times.tsx";
import { amountText, conditionsText } from "../parts/wants.ts";
import { at } from "../router.ts";
import { aheadWords, groupsAhead } from "./ahead-facts.ts";
import type { Amounts } from "./fit-facts.ts";
import { FitPicture } from "./fit-picture.tsx";
import { supplyOf } from "./need-facts.ts";
import { HoldersCard } from "./need-holders.tsx";
import { useSeesAllSpaces } from "./queue-table.tsx";
import { aheadIn, hasSeveralSpaces } from "./start-order.ts";

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
  const { pool, needed } = need;
  const { isThere, words } = supplyOf(need, request.reason);
  const { data: queue = noRequests } = useAnswer(queueOf(pool));
  // Count, rule and list are of one answer, so they agree.
  const ahead = aheadIn(queue, request.id, pool, useSeesAllSpaces());
  const count = ahead?.length ?? need.ahead;
  return (
    <section aria-labelledby={id} className="need">
      <h2 id={id}>
        Needs {needsText(needed, amount)} of <Link href={at("pools", pool)}>{pool}</Link>
        {need.selects === undefined ? null : ` with ${need.selects}`}{" "}
        <span className={isThere ? "gate-status open" : "gate-status"}>{words}</span>
      </h2>
      {need.rooms === undefined || amount === undefined ? null : (
        <FitPicture
          {...{ amount, rooms: need.rooms, size: need.size, ahead: count }}
          isOverQuota={request.reason.code === "quota_reached"}
        />
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
        <HoldersCard need={need} request={request} />
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

/** `2`, or the amount of each: `24 vcpus, 96 memory`. */
function needsText(needed: number, amount: Amounts | undefined): string {
  if (amount === undefined) return grouped(needed);
  return `${amountText(amount)}${needed === 1 ? "" : ` ×${grouped(needed)}`}`;
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
  const { data, error } = useAnswer(allSpaces);
  // Without the shares the rules are not known: the sentence would change a moment later.
  if (data === undefined && error === undefined) return null;
  return (
    <Because {...props} shares={new Map((data ?? []).map(({ name, share }) => [name, share]))} />
  );
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
  const severalSpaces = hasSeveralSpaces(queue);
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
                {severalSpaces ? `${request?.space ?? ""} ` : ""}
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
