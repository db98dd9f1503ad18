import { useState } from "react";
import type { Space } from "../../../src/api/space-schemas.ts";
import { useAnswer } from "../data/query.ts";
import { allSpaces } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped, percent } from "../parts/numbers.ts";
import { at } from "../router.ts";
import { ShareBar } from "./share-section.tsx";

/** All spaces: who is next, what each holds, and its quotas. */
export function Spaces() {
  const { data, error } = useAnswer(allSpaces);
  const next = (data ?? []).toSorted((a, b) => a.share - b.share || a.name.localeCompare(b.name));
  return (
    <>
      <h1>
        Spaces <small>{data === undefined ? "" : grouped(data.length)}</small>
      </h1>
      <ProblemNote error={error} />
      {data === undefined ? error === undefined && <Loading /> : null}
      {data?.length === 0 ? (
        <EmptyNote title="There are no spaces">
          Spaces come with <code>auth</code> or <code>spaces</code> in the configuration file.
        </EmptyNote>
      ) : null}
      {next.length === 0 ? null : (
        <>
          <ShareTable spaces={next} />
          <h2>Quotas and holds</h2>
          <ul className="spaces">
            {next.map((space) => (
              <SpaceCard key={space.name} space={space} />
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** The fair shares as a picture: the part that each space holds beside the part of its weight. */
function ShareTable({ spaces }: { spaces: readonly Space[] }) {
  const weights = spaces.reduce((sum, { weight }) => sum + weight, 0);
  return (
    <section aria-labelledby="shares-title">
      <h2 id="shares-title" className="hidden">
        Fair shares
      </h2>
      <table className="space-table stack">
        <thead>
          <tr>
            <th scope="col">Space</th>
            <th scope="col" className="number">
              Weight
            </th>
            <th scope="col">Holds most of</th>
            <th scope="col" className="number">
              Share
            </th>
            <th scope="col" className="number optional">
              Leases
            </th>
            <th scope="col" className="number">
              Waiting
            </th>
          </tr>
        </thead>
        <tbody>
          {spaces.map((space) => (
            <ShareRow key={space.name} space={space} fair={space.weight / weights} />
          ))}
        </tbody>
      </table>
      <p className="legend">
        <span>
          <i className="look-held" aria-hidden="true" /> held
        </span>
        <span>
          <i className="key-mark" aria-hidden="true" /> its part by weight
        </span>
        <span>
          Share: the largest part of any pool, divided by the weight. Within a priority, the space
          with the lowest share is next.
        </span>
      </p>
    </section>
  );
}

function ShareRow({ space, fair }: { space: Space; fair: number }) {
  const { name, weight, share, leases, waiting, waitingMax, holds } = space;
  const [most] = holds;
  const part = most === undefined ? 0 : most.held / Math.max(1e-9, most.capacity);
  return (
    <tr data-row>
      <th scope="row">
        <a href={`#${encodeURIComponent(name)}`}>{name}</a>
      </th>
      <td className="number" data-label="Weight">
        {weight}
      </td>
      <td className="space-part">
        <ShareBar share={part} fair={fair} quota={null} />
        <span>{most === undefined ? "nothing" : `${percent(part)} of ${heldName(most)}`}</span>
      </td>
      <td className="number strong" data-label="Share">
        {share.toFixed(2)}
      </td>
      <td className="number optional" data-label="Leases">
        {grouped(leases)}
      </td>
      <td className={waiting === 0 ? "number faint" : "number waiting"} data-label="Waiting">
        <Link href={`/queue?space=${encodeURIComponent(name)}`}>{grouped(waiting)}</Link>
        {waitingMax === null ? null : <span className="faint">/{grouped(waitingMax)}</span>}
      </td>
    </tr>
  );
}

function heldName({ pool, dimension }: Space["holds"][number]): string {
  return dimension === null ? pool : `${dimension} of ${pool}`;
}

/** A space may hold something of hundreds of pools. */
const holdsAtFirst = 8;

function SpaceCard({ space: { name, holds, quotas } }: { space: Space }) {
  const [limit, setLimit] = useState(holdsAtFirst);
  if (holds.length + quotas.length === 0) return null;
  return (
    <li id={name}>
      <h3>{name}</h3>
      <dl className="space-bars">
        {quotas.map(({ pool, dimension, held, max, cohort }) => (
          <Bar
            key={`${pool} ${dimension}`}
            label={<Of pool={pool} dimension={dimension} before="Quota of " />}
            part={held / Math.max(1e-9, max)}
            full={held >= max}
            value={`${grouped(held)} of ${grouped(max)}`}
            aside={
              cohort === null
                ? ""
                : `cohort ${cohort.name}: ${grouped(cohort.used)} of ${grouped(cohort.capacity)}`
            }
          />
        ))}
        {holds.slice(0, limit).map(({ pool, dimension, held, capacity }) => (
          <Bar
            key={`${pool} ${dimension}`}
            label={<Of pool={pool} dimension={dimension} before="" />}
            part={held / Math.max(1e-9, capacity)}
            value={`${grouped(held)} of ${grouped(capacity)}`}
            aside={percent(held / Math.max(1e-9, capacity))}
          />
        ))}
      </dl>
      <MoreButton shown={limit} of={holds.length} onMore={setLimit} />
    </li>
  );
}

interface OfProps {
  readonly pool: string | null;
  readonly dimension: string | null;
  readonly before: string;
}

function Of({ pool, dimension, before }: OfProps) {
  return (
    <>
      {before}
      {dimension}
      {dimension === null || pool === null ? "" : " of "}
      {pool === null ? null : <Link href={at("pools", pool)}>{pool}</Link>}
    </>
  );
}

interface BarProps {
  readonly label: React.ReactNode;
  readonly part: number;
  readonly value: string;
  readonly aside: string;
  readonly full?: boolean;
}

function Bar({ label, part, value, aside, full = false }: BarProps) {
  return (
    <div className={full ? "full" : undefined}>
      <dt>{label}</dt>
      <dd>
        <span className="bar" aria-hidden="true">
          <span className="look-held" style={{ flexBasis: `${Math.min(1, part) * 100}%` }} />
        </span>
        <b>{value}</b>
        <small>{full ? (aside === "" ? "reached" : `reached; ${aside}`) : aside}</small>
      </dd>
    </div>
  );
}
