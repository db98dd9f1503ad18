import { Fragment } from "react";
import type { Hub, HubCluster } from "../../../src/api/hub-schemas.ts";
import { useAnswer } from "../data/query.ts";
import { allHubs, clustersOnHub } from "../data/questions.ts";
import { useNeedsAttention } from "../data/troubles.ts";
import { Facts } from "../parts/facts.tsx";
import { type Figure, Figures } from "../parts/figures.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { Link } from "../parts/link.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { StateChip } from "../parts/state-chip.tsx";
import { inOrder } from "../parts/state-look.ts";
import { Age, inWholeSeconds, Moment } from "../parts/times.tsx";
import { UsageBar } from "../parts/usage-bar.tsx";
import { at, useFilter } from "../router.ts";
import { onHubWords } from "./cluster-facts.ts";
import { ClusterTabs } from "./cluster-tabs.tsx";
import { GateCard } from "./gate-card.tsx";

/** Where clusters are made: one card for each hub. What the clusters do is on the page Clusters. */
export function HubsPage() {
  const { data, error } = useAnswer(allHubs);
  const [text] = useFilter("q");
  const isBad = useNeedsAttention("hub_unreachable");
  const wanted = text.toLowerCase();
  const shown = data
    ?.filter((hub) => wordsOf(hub).some((word) => word.includes(wanted)))
    .sort((a, b) => urgencyOf(a) - urgencyOf(b));
  return (
    <>
      <ClusterTabs here="/hubs" />
      <h1>
        Hubs <small>{data === undefined ? "" : grouped(data.length)}</small>
      </h1>
      <ProblemNote error={error} />
      {data === undefined ? <Loading error={error} /> : null}
      {data?.length === 0 ? (
        <EmptyNote title="There are no hubs">
          A hub is an API server on which drivers make clusters. Add one below <code>hubs:</code> in
          the configuration file. Only operators and viewers see hubs.
        </EmptyNote>
      ) : null}
      {data === undefined || data.length === 0 ? null : (
        <>
          <Figures label="All hubs together" figures={figuresOf(data, isBad)} />
          <div className="tools">
            <FilterBox label="Filter by hub, state, pool, label or version" />
          </div>
        </>
      )}
      {shown?.length === 0 && data?.length !== 0 ? <EmptyNote title="No hub matches" /> : null}
      <div className="gates">
        {shown?.map((hub) => (
          <HubCard key={hub.name} hub={hub} />
        ))}
      </div>
    </>
  );
}

function wordsOf({ name, state, pools, labels, versions }: Hub): string[] {
  const all = [name, state, ...pools, ...labelsOf(labels), ...versions];
  return all.map((word) => word.toLowerCase());
}

function labelsOf(labels: Hub["labels"]): string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`);
}

function figuresOf(hubs: readonly Hub[], isBad: boolean): Figure[] {
  const sum = (of: (hub: Hub) => number) => hubs.reduce((all, hub) => all + of(hub), 0);
  const away = hubs.filter(({ state }) => state === "unreachable").length;
  const failed = sum(({ failures }) => failures.recent);
  return [
    { label: "Active", value: hubs.filter(isActive).length, aside: `of ${hubs.length}` },
    { label: "Unreachable", value: away, bad: away > 0 && isBad },
    { label: "Clusters of Berth", value: sum(({ clusters }) => clusters.total) },
    { label: "Changing", value: sum(({ clusters }) => clusters.inFlight) },
    { label: "Room for", value: leftOn(hubs) ?? "no limit", aside: "more clusters" },
    {
      label: "Failed to install",
      value: failed,
      aside: `of the last ${sum(({ failures }) => failures.of)}`,
    },
  ];
}

/** Lower comes first: what needs attention, then hubs that get no new clusters, then the others. */
function urgencyOf(hub: Hub): number {
  if (hub.outage !== null) return 0;
  return isActive(hub) ? 2 : 1;
}

function isActive({ state }: Hub): boolean {
  return state === "active";
}

/** How many more clusters may be made on all of them; null: one of them has no limit. */
function leftOn(hubs: readonly Hub[]): number | null {
  return hubs.reduce<number | null>((all, { left }) => {
    return all === null || left === null ? null : all + left;
  }, 0);
}

function HubCard({ hub }: { hub: Hub }) {
  const { name, state, clusters, limit, failures, pools, labels, kinds, versions, ready } = hub;
  const { total, states } = clusters;
  const readyWords = Object.entries(ready).map(([template, count]) => `${count} of ${template}`);
  return (
    <GateCard
      title={name}
      status={{ open: isActive(hub), words: state, bad: state === "unreachable" }}
      buttons={<Link href={clustersOf(name)}>Clusters of Berth</Link>}
      isRow
    >
      <p className="hub-state">
        <HubState hub={hub} />
      </p>
      <div className="big-bar hub-bar">
        <p className="hub-use">
          <b>
            {grouped(total)}
            {limit === null ? "" : ` of ${grouped(limit)}`}
          </b>{" "}
          {(limit ?? total) === 1 ? "cluster" : "clusters"} of Berth
          {limit === null ? ", no limit" : ""}
        </p>
        <UsageBar states={states} total={limit ?? total} drawsFree />
        <p className="legend" aria-hidden="true">
          {inOrder(states).map(([word, count]) => (
            <StateChip key={word} state={word} count={count} />
          ))}
          {limit === null ? null : <FreeCapacity hub={hub} />}
        </p>
      </div>
      <Facts
        label={`About ${name}`}
        facts={[
          ["Failed to install", failedWords(failures)],
          pools.length > 0 && ["Pools", <PoolLinks key="pools" pools={pools} />],
          Object.keys(labels).length > 0 && ["Labels", labelsOf(labels).join(", ")],
          versions.length > 0 && ["Versions", versions.join(", ")],
          kinds.length > 0 && ["Serves", <Kinds key="kinds" kinds={kinds} />],
          readyWords.length > 0 && ["Ready in its back end", readyWords.join(", ")],
        ]}
      />
      <OnHub hub={hub} />
    </GateCard>
  );
}

/** How many more clusters may be made there: none on a hub that is not active. */
function FreeCapacity({ hub: { limit, left, clusters } }: { hub: Hub }) {
  const empty = Math.max(0, (limit ?? 0) - clusters.total);
  return (
    <span className="chip look-track">
      <i /> room for <b>{grouped(left ?? 0)}</b>
      {empty === left ? "" : ` (${grouped(empty)} when it is active)`}
    </span>
  );
}

function failedWords({ recent, of }: Hub["failures"]) {
  if (of === 0) return "none made yet";
  const words = `${recent} of the last ${of}`;
  return recent === 0 ? words : <span className="late">{words}</span>;
}

function PoolLinks({ pools }: { pools: readonly string[] }) {
  return pools.map((pool, index) => (
    <Fragment key={pool}>
      {index === 0 ? "" : ", "}
      <Link href={at("pools", pool)}>{pool}</Link>
    </Fragment>
  ));
}

/** `HostedCluster`; its group, `hypershift.openshift.io`, is in the title. */
function Kinds({ kinds }: { kinds: readonly string[] }) {
  return <span title={kinds.join(", ")}>{kinds.map((kind) => kind.split(".")[0]).join(", ")}</span>;
}

function clustersOf(hub: string): string {
  return `/clusters?q=${encodeURIComponent(hub)}`;
}

/**
 * On the page of the clusters: how many hubs there are, and those that need somebody. Nothing while
 * the configuration has no hubs.
 */
export function Hubs() {
  const { data } = useAnswer(allHubs);
  if (data === undefined || data.length === 0) return null;
  const special = data.filter((hub) => !isActive(hub) || hub.failures.recent > 0);
  const active = data.filter(isActive);
  return (
    <section aria-labelledby="hubs-title">
      <h2 id="hubs-title">
        <Link href="/hubs">Hubs</Link> <small>{grouped(data.length)}</small>
      </h2>
      <p className="calm">
        {grouped(active.length)} {active.length === 1 ? "is" : "are"} active, {leftWords(active)}.{" "}
        <Link href="/hubs" className="plain-link">
          What each hub has and serves
        </Link>
      </p>
      {special.length === 0 ? null : (
        <ul className="rows hub-rows">
          {special.map((hub) => (
            <li key={hub.name}>
              <Link href={`/hubs?q=${encodeURIComponent(hub.name)}`}>{hub.name}</Link>
              <span>
                <HubState hub={hub} withState />
              </span>
              {hub.failures.recent === 0 ? null : (
                <span>failed to install: {failedWords(hub.failures)}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function leftWords(active: readonly Hub[]): string {
  const left = leftOn(active);
  if (left === null) return "without a limit";
  return left === 0
    ? "without room for more clusters"
    : `with room for ${grouped(left)} more ${left === 1 ? "cluster" : "clusters"}`;
}

const looks: Readonly<Record<Hub["state"], string>> = {
  active: "free",
  cordoned: "drained",
  draining: "dirty",
  unreachable: "bad",
};

/** The last error stands there in full: whoever reads it has to find its cause. */
function HubState({ hub, withState = false }: { hub: Hub; withState?: boolean }) {
  const { state, setState, set, outage, isProbed, isRetired, missingKinds } = hub;
  return (
    <>
      {withState && (state !== setState || isActive(hub)) ? (
        <span className={`chip look-${looks[state]}`}>
          <i aria-hidden="true" />
          {state}
        </span>
      ) : null}
      {outage === null ? null : (
        <>
          {" "}
          {withState ? "for" : "Unreachable for"} <Age since={outage.since} />:{" "}
          <code>{outage.error}</code>
        </>
      )}
      {set === null ? null : (
        <>
          {` ${setState} by `}
          {set.by} at <Moment at={set.at} />
          {set.why === "" ? "" : `: ${set.why}`}
        </>
      )}
      {set === null && setState !== "active" ? ` ${setState} by the configuration` : null}
      {set === null && setState === "cordoned" ? ": gets no new clusters" : null}
      {missingKinds.length === 0 ? null : ` does not serve ${missingKinds.join(", ")}`}
      {isProbed || outage !== null ? null : " no probe has answered yet"}
      {isRetired ? " no longer in the configuration" : null}
    </>
  );
}

/** All clusters on a hub, whoever has made them, if the hub is to show them. */
function OnHub({ hub: { name } }: { hub: Hub }) {
  const { data } = useAnswer(clustersOnHub(name));
  if (data === undefined || data.items.length === 0) return null;
  return (
    <details className="on-hub">
      <summary>
        {data.foundAt === null ? (
          "On the hub itself: "
        ) : (
          <>
            On the hub itself, <Age since={data.foundAt} /> ago:{" "}
          </>
        )}
        {onHubWords(data.items)}
      </summary>
      <table className="hub-clusters">
        <thead>
          <tr>
            <th scope="col">Cluster</th>
            <th scope="col" className="optional">
              State
            </th>
            <th scope="col" className="number">
              Age
            </th>
            <th scope="col">Owner</th>
            <th scope="col">In Berth</th>
            <th scope="col" className="optional">
              Holder
            </th>
          </tr>
        </thead>
        <tbody>
          {data.items.map((each) => (
            <ClusterRow key={`${each.kind} ${each.namespace} ${each.name}`} cluster={each} />
          ))}
        </tbody>
      </table>
    </details>
  );
}

function ClusterRow({ cluster: each }: { cluster: HubCluster }) {
  return (
    <tr>
      <th scope="row">
        {each.namespace}/{each.name}
      </th>
      <td className="optional">{each.state}</td>
      <td className="number">{each.ageSeconds === null ? "–" : inWholeSeconds(each.ageSeconds)}</td>
      <td>{each.owner ?? "–"}</td>
      <td>
        {each.cluster === null ? (
          "–"
        ) : (
          <Link href={at("clusters", each.cluster)}>{each.cluster}</Link>
        )}
      </td>
      <td className="optional">
        {each.lease === null ? (
          "–"
        ) : (
          <Link href={at("leases", each.lease.id)}>{each.lease.holder}</Link>
        )}
      </td>
    </tr>
  );
}
