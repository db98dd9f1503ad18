import { useState } from "react";
import type { Resource } from "../../../src/api/schemas.ts";
import { FilterBox } from "../parts/filter-box.tsx";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { EmptyNote } from "../parts/notes.tsx";
import { grouped, percent } from "../parts/numbers.ts";
import { rowsAtFirst } from "../parts/phone.ts";
import { StateChip } from "../parts/state-chip.tsx";
import { Age } from "../parts/times.tsx";
import { amountText } from "../parts/wants.ts";
import { at, useFilter } from "../router.ts";
import { largestFirst } from "./largest-first.ts";

const shownAtFirst = 40;

/** The resources of a shared pool: how much of each is free, and who holds how much of it. */
export function HostTable({ resources }: { resources: readonly Resource[] }) {
  const [text] = useFilter("q");
  const [limit, setLimit] = useState(rowsAtFirst(shownAtFirst));
  const dimensions = [
    ...new Set(resources.flatMap(({ usage = [] }) => usage.map(({ dimension }) => dimension))),
  ];
  const wanted = text.toLowerCase();
  const shown = resources.filter((resource) =>
    wordsOf(resource).some((word) => word.toLowerCase().includes(wanted)),
  );
  return (
    <>
      <div className="tools">
        <FilterBox label="Filter by name, label or holder" />
      </div>
      {shown.length === 0 ? (
        <EmptyNote title="No resource matches">Change the filter.</EmptyNote>
      ) : null}
      <p className="legend">
        <span>
          <i className="look-held" aria-hidden="true" />
          <i className="look-held share" aria-hidden="true" /> in use: one block for each lease
        </span>
      </p>
      <ul className="hosts">
        {shown.slice(0, limit).map((resource) => (
          <Host key={resource.name} resource={resource} dimensions={dimensions} />
        ))}
      </ul>
      <MoreButton shown={limit} of={shown.length} onMore={setLimit} />
    </>
  );
}

function wordsOf({ name, labels, shares = [] }: Resource): readonly string[] {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [name, ...pairs, ...shares.map(({ holder }) => holder)];
}

function Host({ resource, dimensions }: { resource: Resource; dimensions: readonly string[] }) {
  const { name, state, drained, labels, usage = [], shares = [] } = resource;
  return (
    <li className="host" data-row>
      <div className="host-head">
        <Link href={at("resources", name)}>{name}</Link>
        {drained || !["free", "busy"].includes(state) ? (
          <StateChip state={drained ? "drained" : state} />
        ) : null}
        <small>
          {Object.entries(labels)
            .map(([key, value]) => `${key}=${value}`)
            .join(" ")}
        </small>
      </div>
      <dl className="host-bars">
        {dimensions.map((dimension) => (
          <HostBar
            key={dimension}
            dimension={dimension}
            usage={usage.find((one) => one.dimension === dimension)}
            shares={shares}
          />
        ))}
      </dl>
      <Holders shares={largestFirst(shares, usage)} />
    </li>
  );
}

type Shares = readonly NonNullable<Resource["shares"]>[number][];

interface BarProps {
  readonly dimension: string;
  readonly usage: NonNullable<Resource["usage"]>[number] | undefined;
  readonly shares: Shares;
}

function HostBar({ dimension, usage, shares }: BarProps) {
  if (usage === undefined) return null;
  const { used, capacity } = usage;
  const free = Math.max(0, capacity - used);
  return (
    <div>
      <dt>{dimension}</dt>
      <dd>
        <span className="bar" aria-hidden="true">
          {shares.map(({ id, holder, amount }, index) => (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: a lease may have several claims on it.
              key={`${id} ${index}`}
              className="look-held share"
              title={`${holder}: ${grouped(amount[dimension] ?? 0)} ${dimension}`}
              style={{
                flexBasis: `${((amount[dimension] ?? 0) / Math.max(1e-9, used, capacity)) * 100}%`,
              }}
            />
          ))}
        </span>
        <b>{grouped(free)} free</b>
        <small>
          {grouped(used)} of {grouped(capacity)}, {percent(used / Math.max(1e-9, capacity))}
        </small>
      </dd>
    </div>
  );
}

const holdersAtFirst = 4;

function Holders({ shares }: { shares: Shares }) {
  const [all, setAll] = useState(false);
  if (shares.length === 0) return <p className="faint">Nobody holds any of it.</p>;
  const shown = all ? shares : shares.slice(0, holdersAtFirst);
  return (
    <ul className="host-holders" aria-label="Use by holder">
      {shown.map(({ id, holder, amount, since }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a lease may have several claims on it.
        <li key={`${id} ${index}`}>
          <Link href={at("leases", id)}>{holder}</Link> <span>{amountText(amount)}</span>
          <span className="faint">
            <Age since={since} />
          </span>
        </li>
      ))}
      {shares.length > shown.length ? (
        <li>
          <button type="button" className="quiet" onClick={() => setAll(true)}>
            and {shares.length - shown.length} more
          </button>
        </li>
      ) : null}
    </ul>
  );
}
