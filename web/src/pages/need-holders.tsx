import { useState } from "react";
import type { Explanation, Lease, Resource, WaitingRequest } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { leasesOf, onePool, resourcesOf } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { stateName } from "../parts/state-look.ts";
import { Age, inWholeSeconds, Left } from "../parts/times.tsx";
import { amountText } from "../parts/wants.ts";
import { at } from "../router.ts";
import { isPaced } from "./flow-facts.ts";
import { backOf } from "./lease-ends.ts";
import { fullLimitOf, isAside, someAside } from "./need-facts.ts";
import { PaceSection } from "./pace-section.tsx";
import { useSeesAllSpaces } from "./queue-table.tsx";

type Need = Explanation["needs"][number];

interface Props {
  readonly need: Need;
  readonly request: WaitingRequest;
}

/** What the request waits for: a pace, the holders of a limit, or those of the pool. */
export function HoldersCard({ need, request: { reason } }: Props) {
  const limit = fullLimitOf(need, reason);
  const seesAll = useSeesAllSpaces();
  if (isPaced(reason.code) && reason.pool === need.pool) {
    return <PaceCard pool={need.nextBy ?? need.pool} />;
  }
  if (limit !== undefined && limit.pool !== need.pool && seesAll) {
    return <LimitHolders pool={limit.pool} used={limit.used} />;
  }
  return <PoolHolders need={need} />;
}

const noResources: readonly Resource[] = [];

/** The resources are read only if one of them is not lent and not free. */
function PoolHolders({ need }: Pick<Props, "need">) {
  const isPlain = need.rooms === undefined;
  return isPlain && someAside(need.states) ? (
    <WithResources need={need} />
  ) : (
    <HoldersOf need={need} resources={noResources} />
  );
}

function WithResources({ need }: Pick<Props, "need">) {
  const { data = noResources } = useAnswer(resourcesOf(need.pool));
  return <HoldersOf need={need} resources={data} />;
}

interface OfProps extends Pick<Props, "need"> {
  readonly resources: readonly Resource[];
}

function HoldersOf({ need: { pool, heldBy, rooms = [] }, resources }: OfProps) {
  const usual = useAnswer(onePool(pool)).data?.meanHoldSeconds ?? null;
  const cleaning = resources.filter(({ state }) => state === "cleaning");
  const aside = resources.filter(isAside);
  return (
    <section className="gate" aria-label={`Holders of ${pool}`}>
      <h3>
        Held now by <small>{grouped(heldBy.length)}</small>
        {usual === null ? null : (
          <small className="about"> usually for {inWholeSeconds(usual)}</small>
        )}
      </h3>
      <Holders
        {...{ pool, heldBy }}
        cleaning={new Set(cleaning.map(({ name }) => name))}
        reserved={rooms.find(({ reserved }) => reserved === true)?.resource}
      />
      {aside.length === 0 ? null : <NotLent resources={aside} />}
    </section>
  );
}

/** While its pace holds requests back, it does not matter who holds its resources. */
function PaceCard({ pool }: { pool: string }) {
  const { data } = useAnswer(onePool(pool));
  return data === undefined ? null : <PaceSection pool={data} />;
}

function LimitHolders({ pool, used }: { pool: string; used: number }) {
  const leases = useAnswer(leasesOf(pool)).data ?? [];
  const heldBy = leases.flatMap(({ id, holder, claims, grantedAt: since }) => {
    return claims.map(({ resource }) => ({ id, holder, resource, since, backBy: null }));
  });
  return (
    <section className="gate" aria-label={`Holders of ${pool}`}>
      <h3>
        <Link href={at("pools", pool)}>{pool}</Link> is held by <small>{grouped(used)}</small>
      </h3>
      <Holders pool={pool} heldBy={heldBy} />
    </section>
  );
}

/** Resources that nobody gets before somebody returns them. */
function NotLent({ resources }: { resources: readonly Resource[] }) {
  return (
    <>
      <h3>
        Out of service <small>{grouped(resources.length)}</small>
      </h3>
      <ol className="rows">
        {resources.slice(0, holdersMax).map(({ name, state, drained, changedAt }) => (
          <li key={name} data-row>
            <Link href={at("resources", name)}>{name}</Link>
            <span className="faint">
              {drained ? "drained" : stateName(state)} for <Age since={changedAt} />
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** As many as are read at a glance. */
const holdersMax = 12;

interface HoldersProps extends Pick<Need, "pool" | "heldBy"> {
  /** The resources that a cleaner holds. */
  readonly cleaning?: ReadonlySet<string>;
  /** The resource that is reserved for the request. */
  readonly reserved?: string | undefined;
}

/** Those of the reserved resource first, then those of which the next end is known: they come free soonest. */
function Holders({ pool, heldBy, cleaning, reserved }: HoldersProps) {
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
      (a, b) =>
        Number(b.held.resource === reserved) - Number(a.held.resource === reserved) ||
        (Date.parse(a.end?.at ?? "") || never) - (Date.parse(b.end?.at ?? "") || never),
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
              {cleaning?.has(held.resource) ? "cleaning " : ""}
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
