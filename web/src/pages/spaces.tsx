import { useRef, useState } from "react";
import type { Space } from "../../../src/api/space-schemas.ts";
import { useAnswer } from "../data/query.ts";
import { allPools, allSpaces } from "../data/questions.ts";
import { useNeedsAttention } from "../data/troubles.ts";
import { Figures } from "../parts/figures.tsx";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { Name } from "../parts/name.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped, percent } from "../parts/numbers.ts";
import { rowsAtFirst } from "../parts/phone.ts";
import { shownRows } from "../parts/shown-rows.ts";
import { inOrderOf } from "../parts/steady-order.ts";
import { at } from "../router.ts";
import {
  dimensionOf,
  nextSpaces,
  nextWords,
  sharedPools,
  sharesOf,
  turnsOf,
} from "./share-facts.ts";
import { ShareBar, ShareBars, ShareLegend } from "./share-section.tsx";

/** All spaces: who is next, what each holds, and its quotas. */
export function Spaces() {
  const { data, error } = useAnswer(allSpaces);
  const next = (data ?? []).toSorted((a, b) => a.share - b.share || a.name.localeCompare(b.name));
  return (
    <>
      <h1>Spaces</h1>
      <ProblemNote error={error} />
      {data === undefined ? <Loading error={error} /> : null}
      {data?.length === 0 ? (
        <EmptyNote title="There are no spaces">
          Spaces come with <code>auth</code> or <code>spaces</code> in the configuration file.
        </EmptyNote>
      ) : null}
      {next.length === 0 ? null : (
        <>
          <SpaceTiles spaces={next} />
          <SharedPools spaces={next} />
          <ShareTable spaces={next} />
          <QuotaTable spaces={next} />
        </>
      )}
    </>
  );
}

/** Who is next, how many wait, and which quotas hold them back. */
function SpaceTiles({ spaces }: { spaces: readonly Space[] }) {
  const isBad = useNeedsAttention("quota_reached_long");
  const [next, beside] = nextWords(nextSpaces(spaces));
  const waiting = spaces.reduce((sum, space) => sum + space.waiting, 0);
  const most = spaces.reduce((a, b) => (b.waiting > a.waiting ? b : a));
  const quotas = spaces.flatMap((space) => space.quotas);
  const reached = quotas.filter(({ held, max }) => held >= max).length;
  return (
    <Figures
      label="Spaces in numbers"
      figures={[
        { label: "Spaces", value: spaces.length },
        {
          label: "Lowest share of those waiting",
          value: next,
          aside: beside,
        },
        {
          label: "Waiting",
          value: waiting,
          aside: waiting === 0 ? "" : `${grouped(most.waiting)} of them in ${most.name}`,
          href: "/queue?group=space",
        },
        {
          label: "Quotas reached",
          value: reached,
          aside: `of ${quotas.length}`,
          bad: reached > 0 && isBad,
        },
      ]}
    />
  );
}

/** Those that matter come first, and what is below the table is not far away. */
const quotasAtFirst = 50;
const quotasOnPhone = 4;

/** What each space may hold at most. Those that are reached or nearly so come first. */
function QuotaTable({ spaces }: { spaces: readonly Space[] }) {
  const [limit, setLimit] = useState(rowsAtFirst(quotasAtFirst, quotasOnPhone));
  const part = ({ held, max }: Space["quotas"][number]) => held / Math.max(1e-9, max);
  const rows = spaces
    .flatMap(({ name, quotas }) => quotas.map((quota) => ({ name, quota })))
    .sort((a, b) => part(b.quota) - part(a.quota));
  if (rows.length === 0) return null;
  const hasCohorts = rows.some(({ quota }) => quota.cohort !== null);
  return (
    <section aria-labelledby="quotas-title">
      <h2 id="quotas-title">
        Quotas <small>{grouped(rows.length)}</small>{" "}
        <small className="about">What a space may hold at most.</small>
      </h2>
      <table className="quota-table stack">
        <thead>
          <tr>
            <th scope="col">Space</th>
            <th scope="col">Of</th>
            <th scope="col">In use</th>
            <th scope="col" className="number">
              Held
            </th>
            {hasCohorts ? <th scope="col">Cohort</th> : null}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shownRows(limit, rows.length)).map(({ name, quota }) => (
            <QuotaRow
              key={`${name} ${quota.pool} ${quota.dimension}`}
              {...{ name, quota, hasCohorts }}
            />
          ))}
        </tbody>
      </table>
      <MoreButton shown={shownRows(limit, rows.length)} of={rows.length} onMore={setLimit} />
    </section>
  );
}

interface QuotaProps {
  readonly name: string;
  readonly quota: Space["quotas"][number];
  readonly hasCohorts: boolean;
}

function QuotaRow({ name, quota, hasCohorts }: QuotaProps) {
  const { pool, dimension, held, max, cohort } = quota;
  const isReached = held >= max;
  return (
    <tr data-row>
      <th scope="row">
        <Name name={name} />
      </th>
      <td>
        <Of pool={pool} dimension={dimension} />
      </td>
      <td className="space-part">
        <span className="bar" aria-hidden="true">
          <span
            className={isReached ? "look-waiting" : "look-held"}
            style={{ flexBasis: `${Math.min(1, held / Math.max(1e-9, max)) * 100}%` }}
          />
        </span>
      </td>
      <td className={isReached ? "number strong" : "number"} data-label="Held">
        {grouped(held)} of {grouped(max)}
        {isReached ? ", reached" : ""}
      </td>
      {hasCohorts ? (
        <td className="faint">
          {cohort === null
            ? ""
            : `${cohort.name} uses ${grouped(cohort.used)} of ${grouped(cohort.capacity)}`}
        </td>
      ) : null}
    </tr>
  );
}

const sharedAtFirst = 4;

/** Who takes from whom: only pools of which several spaces hold something. */
function SharedPools({ spaces }: { spaces: readonly Space[] }) {
  const [limit, setLimit] = useState(rowsAtFirst(sharedAtFirst, 2));
  // Several change within a minute: those that are looked at would change places.
  const order = useRef<readonly string[]>([]);
  const pools = inOrderOf(order.current, sharedPools(spaces), (name) => name);
  order.current = pools;
  const { data: all } = useAnswer(allPools);
  const limits = new Set((all?.pools ?? []).flatMap(({ policy }) => policy.parent ?? []));
  if (pools.length === 0) return null;
  return (
    <section aria-labelledby="shared-title">
      <h2 id="shared-title">
        Shared pools <small>{grouped(pools.length)}</small>{" "}
        <small className="about">
          Several spaces hold some of each, or wait for it. The lowest share is next.
        </small>
      </h2>
      <ShareLegend withQuota />
      <ul className="spaces">
        {pools.slice(0, shownRows(limit, pools.length)).map((pool) => (
          <li key={pool}>
            <h3>
              <Link href={at("pools", pool)}>{pool}</Link>
              {limits.has(pool) ? <small> limit over pools</small> : null}
            </h3>
            <ShareBars
              shares={sharesOf(pool, spaces)}
              unit={dimensionOf(pool, spaces)}
              turns={turnsOf(pool, spaces)}
              legend={false}
            />
          </li>
        ))}
      </ul>
      <MoreButton shown={shownRows(limit, pools.length)} of={pools.length} onMore={setLimit} />
    </section>
  );
}

const spacesAtFirst = 100;
const spacesOnPhone = 6;

/** The fair shares as a picture: the part that each space holds beside the part of its weight. */
function ShareTable({ spaces }: { spaces: readonly Space[] }) {
  const [limit, setLimit] = useState(rowsAtFirst(spacesAtFirst, spacesOnPhone));
  const lowest = nextSpaces(spaces);
  const fairs = spaces.map((space) => fairPart(space, spaces));
  return (
    <section aria-labelledby="shares-title">
      <h2 id="shares-title">
        Fair shares{" "}
        <small className="about">
          In each pool, among requests of one priority, the space with the lowest share goes first;
          of equal ones, the request that came first. A share is the largest part that a space holds
          of any pool, divided by its weight, and counts in all pools.
        </small>
      </h2>
      <table className="space-table stack">
        <thead>
          <tr>
            <th scope="col">Space</th>
            <th scope="col" className="number">
              Weight
            </th>
            <th scope="col">Its largest part of a pool</th>
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
          {spaces.slice(0, shownRows(limit, spaces.length)).map((space, index) => (
            <ShareRow
              key={space.name}
              {...{
                space,
                isNext: lowest.length === 1 && space === lowest[0],
                fair: fairs[index] ?? 1,
              }}
            />
          ))}
        </tbody>
      </table>
      <MoreButton shown={shownRows(limit, spaces.length)} of={spaces.length} onMore={setLimit} />
      {fairs.some((fair) => fair < 1) ? <ShareLegend /> : null}
    </section>
  );
}

/** The part of the pool of which it holds most that its weight gives it beside its other holders. */
function fairPart({ name, holds: [most] }: Space, spaces: readonly Space[]): number {
  if (most === undefined) return 1;
  return sharesOf(most.pool, spaces).find((share) => share.name === name)?.fair ?? 1;
}

interface RowProps {
  readonly space: Space;
  readonly fair: number;
  readonly isNext: boolean;
}

function ShareRow({ space, fair, isNext }: RowProps) {
  const { name, weight, share, leases, waiting, waitingMax, holds } = space;
  const [most] = holds;
  const part = most === undefined ? 0 : partOf(most);
  return (
    <tr data-row>
      <th scope="row">
        <Link href={`/leases?space=${encodeURIComponent(name)}`}>{name}</Link>{" "}
        {isNext ? <span className="gate-status open">lowest of those waiting</span> : null}
      </th>
      <td className="number" data-label="Weight">
        {weight}
      </td>
      <td className="space-part">
        <div className="part-line">
          <ShareBar share={part} fair={fair} quota={null} />
          {most === undefined ? (
            <span className="faint">nothing</span>
          ) : (
            <span>
              {fair === 1 ? (
                <>
                  {percent(part)} of <Of {...most} />{" "}
                  <span className="faint">(nobody else uses it)</span>
                </>
              ) : (
                <>
                  {percent(part)}: {grouped(most.held)} of {grouped(most.capacity)} <Of {...most} />
                </>
              )}
            </span>
          )}
        </div>
        <Holds holds={holds} />
      </td>
      <td className="number strong" data-label="Share">
        {share.toFixed(2)}
      </td>
      <td className="number optional" data-label="Leases">
        {grouped(leases)}
      </td>
      <td className={waiting === 0 ? "number faint" : "number waiting"} data-label="Waiting">
        <Link href={`/queue?space=${encodeURIComponent(name)}`}>{grouped(waiting)}</Link>
        {waitingMax === null ? null : (
          <span className="faint"> of at most {grouped(waitingMax)}</span>
        )}
      </td>
    </tr>
  );
}

function partOf({ held, capacity }: Space["holds"][number]): number {
  return held / Math.max(1e-9, capacity);
}

/** A space may hold something of hundreds of pools. */
const holdsAtFirst = 8;

/** All that the space holds, on demand. */
function Holds({ holds }: Pick<Space, "holds">) {
  const [limit, setLimit] = useState(holdsAtFirst);
  if (holds.length < 2) return null;
  // A pool of amounts has one for each dimension.
  const poolCount = new Set(holds.map(({ pool }) => pool)).size;
  return (
    <details>
      <summary>
        {poolCount === 1 ? "All dimensions" : `All ${grouped(poolCount)} pools that it uses`}
      </summary>
      <dl className="space-bars">
        {holds.slice(0, shownRows(limit, holds.length)).map((hold) => (
          <Bar
            key={`${hold.pool} ${hold.dimension}`}
            label={<Of {...hold} />}
            part={partOf(hold)}
            value={`${grouped(hold.held)} of ${grouped(hold.capacity)}`}
            aside={percent(partOf(hold))}
          />
        ))}
      </dl>
      <MoreButton shown={shownRows(limit, holds.length)} of={holds.length} onMore={setLimit} />
    </details>
  );
}

interface OfProps {
  readonly pool: string | null;
  readonly dimension: string | null;
}

function Of({ pool, dimension }: OfProps) {
  return (
    <>
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
}

function Bar({ label, part, value, aside }: BarProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span className="bar" aria-hidden="true">
          <span className="look-held" style={{ flexBasis: `${Math.min(1, part) * 100}%` }} />
        </span>
        <b>{value}</b>
        <small>{aside}</small>
      </dd>
    </div>
  );
}
