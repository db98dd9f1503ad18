import { useId } from "react";
import type { Explanation } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { resourcesOf } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, Left } from "../parts/times.tsx";
import { at } from "../router.ts";
import type { Amounts } from "./fit-facts.ts";
import { FitPicture } from "./fit-picture.tsx";

type Need = Explanation["needs"][number];

/** What a request needs of one pool: how much is there, who is ahead of it, and who has it now. */
export function NeedSection({ need, amount }: { need: Need; amount: Amounts | undefined }) {
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
          <Ahead requests={aheadOfIt} all={need.ahead} />
        </section>
        <section className="gate" aria-label={`Holders of ${pool}`}>
          <h3>
            Held now by <small>{grouped(heldBy.length)}</small>
          </h3>
          <Holders heldBy={heldBy} />
        </section>
      </div>
    </section>
  );
}

function shortage({ free, size, state, available }: Need): string {
  if (free === 0) return `none of ${size} ${state}`;
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

function Ahead({ requests, all }: { requests: Need["aheadOfIt"]; all: number }) {
  if (all === 0) return <p className="calm">Nobody: it is next.</p>;
  return (
    <>
      <ol className="rows">
        {requests.map(({ id, holder, count }) => (
          <li key={id} data-row>
            <Link href={at("requests", id)}>{holder}</Link>
            <span className="faint">wants {grouped(count)}</span>
          </li>
        ))}
      </ol>
      {all > requests.length ? (
        <p className="calm">and {grouped(all - requests.length)} more</p>
      ) : null}
    </>
  );
}

/** As many as are read at a glance. */
const holdersMax = 12;

function Holders({ heldBy }: { heldBy: Need["heldBy"] }) {
  if (heldBy.length === 0) return <p className="calm">Nobody holds any of it.</p>;
  return (
    <>
      <ol className="rows">
        {heldBy.slice(0, holdersMax).map((held) => (
          <li key={held.resource} data-row>
            <Link href={at("resources", held.resource)}>{held.resource}</Link>
            <Link href={at("leases", held.id)}>{held.holder}</Link>
            <span className="faint">
              for <Age since={held.since} />
              {held.backBy === null ? null : (
                <>
                  , expires in <Left until={held.backBy} />
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
