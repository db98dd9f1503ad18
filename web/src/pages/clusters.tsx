import { type Ref, useMemo, useState } from "react";
import type { Cluster } from "../../../src/api/cluster-schemas.ts";
import { useInTime } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { allClusters } from "../data/questions.ts";
import { useNeedsAttention } from "../data/troubles.ts";
import { type Figure, Figures } from "../parts/figures.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { NoMatch } from "../parts/no-match.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { PhaseBar, PhaseTime, Reported } from "../parts/phase-bar.tsx";
import { rowsAtFirst } from "../parts/phone.ts";
import { StateChip } from "../parts/state-chip.tsx";
import { stateName } from "../parts/state-look.ts";
import { useSteadyOrder } from "../parts/steady-order.ts";
import { Age } from "../parts/times.tsx";
import { at, useFilter } from "../router.ts";
import { ClusterCosts } from "./cluster-costs.tsx";
import { isFailing, isSlow, kindOf, messageOf, urgencyOf } from "./cluster-facts.ts";
import { ClusterTabs } from "./cluster-tabs.tsx";
import { Hubs } from "./hubs.tsx";
import { Orphans } from "./orphans.tsx";

const shownAtFirst = 100;

/** All clusters: first those that need somebody, then those that change. */
export function Clusters() {
  const { data, error } = useAnswer(allClusters);
  const [text] = useFilter("q");
  const [limit, setLimit] = useState(rowsAtFirst(shownAtFirst));
  const slow = useInTime((nowMs) => (data ?? []).filter((one) => isSlow(one, nowMs)).length);
  const isBad = useNeedsAttention("cluster_fails", "cluster_destroy_stuck");
  const sorted = useMemo(() => {
    const wanted = text.toLowerCase();
    return (data ?? [])
      .filter((one) => wordsOf(one).some((word) => word.toLowerCase().includes(wanted)))
      .toSorted((a, b) => urgencyOf(a) - urgencyOf(b) || byName.compare(a.name, b.name));
  }, [data, text]);
  const { items: shown, list } = useSteadyOrder<Cluster, HTMLTableElement>(
    sorted,
    ({ name }) => name,
  );
  return (
    <>
      <ClusterTabs here="/clusters" />
      <h1>
        Clusters <small>{data === undefined ? "" : grouped(data.length)}</small>
      </h1>
      <ProblemNote error={error} />
      {data === undefined ? <Loading /> : null}
      {data?.length === 0 ? <NoClusters /> : null}
      {data === undefined || data.length === 0 ? null : (
        <Figures label="All clusters together" figures={figuresOf(data, slow, isBad)} />
      )}
      <Orphans />
      {data === undefined || data.length === 0 ? null : (
        <>
          <div className="tools">
            <h2>All clusters</h2>
            <FilterBox label="Filter by cluster, pool, hub, state or holder" />
          </div>
          {shown.length === 0 ? (
            <NoMatch title="No cluster matches" />
          ) : (
            <ClusterTable clusters={shown.slice(0, limit)} list={list} withPools />
          )}
          <MoreButton shown={limit} of={shown.length} onMore={setLimit} />
        </>
      )}
      <Hubs />
      <ClusterCosts />
    </>
  );
}

function figuresOf(clusters: readonly Cluster[], slow: number, isBad: boolean): Figure[] {
  const counts = new Map<string, number>();
  for (const cluster of clusters) {
    const kind = kindOf(cluster);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const of = (kind: ReturnType<typeof kindOf>) => counts.get(kind) ?? 0;
  const failing = clusters.filter(isFailing).length;
  const perHour = clusters.reduce((sum, { price }) => sum + price, 0);
  const other = of("other");
  return [
    { label: "Lent", value: of("lent") },
    { label: "Free", value: of("free") },
    { label: "Hibernated", value: of("hibernated") },
    {
      label: "Changing",
      value: of("changing"),
      aside: slow === 0 ? "" : `${slow} slower than usual`,
    },
    ...(other === 0 ? [] : [{ label: "Out of service", value: other }]),
    {
      label: "Failing",
      value: failing,
      aside: failing === 0 ? "" : "of all these",
      bad: failing > 0 && isBad,
    },
    {
      label: "Cost per hour",
      value: `${grouped(perHour)} units`,
      aside: of("hibernated") === 0 ? "" : <span className="below">hibernated at full price</span>,
    },
  ];
}

const byName = new Intl.Collator("en", { numeric: true });

function wordsOf({ name, pool, state, template, lease, hub }: Cluster): readonly string[] {
  return [name, pool, state, stateName(state), template, lease?.holder ?? "", hub ?? ""];
}

function NoClusters() {
  return (
    <EmptyNote title="There are no clusters">
      A pool with a <code>template</code> makes clusters, lends each to one job and destroys it
      afterwards. See <code>berth templates</code>, and the guide to clusters.
    </EmptyNote>
  );
}

interface TableProps {
  readonly clusters: readonly Cluster[];
  readonly withPools?: boolean;
  readonly list?: Ref<HTMLTableElement>;
}

export function ClusterTable({ clusters, withPools = false, list }: TableProps) {
  const withMessages = clusters.some((cluster) => messageOf(cluster) !== "");
  const withHubs = clusters.some(({ hub }) => hub !== null);
  return (
    <table className="clusters stack" ref={list}>
      <thead>
        <tr>
          <th scope="col">Cluster</th>
          {withPools ? <th scope="col">Pool</th> : null}
          {withHubs ? (
            <th scope="col" className="optional">
              Hub
            </th>
          ) : null}
          <th scope="col">State</th>
          <th scope="col">In this state</th>
          <th scope="col" className="optional">
            Age
          </th>
          <th scope="col">Holder</th>
          {withMessages ? <th scope="col">Message</th> : null}
        </tr>
      </thead>
      <tbody>
        {clusters.map((cluster) => (
          <ClusterRow key={cluster.name} {...{ cluster, withPools, withHubs, withMessages }} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly cluster: Cluster;
  readonly withPools: boolean;
  readonly withHubs: boolean;
  readonly withMessages: boolean;
}

function ClusterRow({ cluster, withPools, withHubs, withMessages }: RowProps) {
  const { name, pool, state, lease, plannedAt, phase, hub } = cluster;
  return (
    <tr data-row>
      <th scope="row">
        <Link href={at("clusters", name)}>{name}</Link>
      </th>
      {withPools ? (
        <td data-label="Pool">
          <Link href={at("pools", pool)}>{pool}</Link>
        </td>
      ) : null}
      {withHubs ? (
        <td className={hub === null ? "optional no-hub" : "optional"} data-label="Hub">
          {hub === null ? (
            <span className="faint">–</span>
          ) : (
            <Link href={`/hubs?q=${encodeURIComponent(hub)}`}>{hub}</Link>
          )}
        </td>
      ) : null}
      <td className="state-cell">
        <StateChip state={state} />
      </td>
      <td data-label="In this state">
        <PhaseBar cluster={cluster} />
        <Reported progress={cluster.progress} /> <PhaseTime phase={phase} />
      </td>
      <td className="optional" data-label="Age">
        <Age since={plannedAt} />
      </td>
      <td className={lease === null ? "no-holder" : undefined}>
        {lease === null ? (
          <span className="faint">–</span>
        ) : (
          <Link href={at("leases", lease.id)}>{lease.holder}</Link>
        )}
      </td>
      {withMessages ? <td className="words">{messageOf(cluster)}</td> : null}
    </tr>
  );
}
