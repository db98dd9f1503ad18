import type { Hub, HubCluster } from "../../../src/api/hub-schemas.ts";
import { useAnswer } from "../data/query.ts";
import { allHubs, clustersOnHub } from "../data/questions.ts";
import { Crumbs } from "../parts/crumbs.tsx";
import { Link } from "../parts/link.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, inWholeSeconds, Moment } from "../parts/times.tsx";
import { UsageBar } from "../parts/usage-bar.tsx";
import { at } from "../router.ts";
import { onHubWords } from "./cluster-facts.ts";

export function HubsPage() {
  const { data, error } = useAnswer(allHubs);
  return (
    <>
      <Crumbs trail={[["Clusters", "/clusters"]]} />
      <h1>
        Hubs <small>{data === undefined ? "" : grouped(data.length)}</small>
      </h1>
      <ProblemNote error={error} />
      {data === undefined ? <Loading error={error} /> : <HubList hubs={data} />}
      {data?.length === 0 ? (
        <EmptyNote title="There are no hubs">
          A hub is an API server on which drivers make clusters. Add one below <code>hubs:</code> in
          the configuration file. Only operators and viewers see hubs.
        </EmptyNote>
      ) : null}
    </>
  );
}

/** On the page of the clusters. Nothing while the configuration has no hubs. */
export function Hubs() {
  const { data } = useAnswer(allHubs);
  if (data === undefined || data.length === 0) return null;
  return (
    <section aria-labelledby="hubs-title">
      <h2 id="hubs-title">
        Hubs <small>{grouped(data.length)}</small>
      </h2>
      <HubList hubs={data} />
    </section>
  );
}

function HubList({ hubs }: { hubs: readonly Hub[] }) {
  if (hubs.length === 0) return null;
  return (
    <>
      <table className="hubs">
        <thead>
          <tr>
            <th scope="col">Hub</th>
            <th scope="col">State</th>
            <th scope="col" className="optional">
              In use
            </th>
            <Figure title="Clusters of Berth" />
            <Figure title="Lent" optional />
            <Figure title="Stock" optional />
            <Figure title="On their way" optional />
            <Figure title="Failed to install" />
          </tr>
        </thead>
        <tbody>
          {hubs.map((hub) => (
            <Row key={hub.name} hub={hub} />
          ))}
        </tbody>
      </table>
      {hubs.map((hub) => (
        <OnHub key={hub.name} hub={hub} />
      ))}
    </>
  );
}

/** `optional`: not on a phone. */
function Figure({ title, optional = false }: { title: string; optional?: boolean }) {
  return (
    <th scope="col" className={optional ? "number optional" : "number"}>
      {title}
    </th>
  );
}

function Row({ hub }: { hub: Hub }) {
  const { name, clusters, failures, limit } = hub;
  const { lent, stock, inFlight } = clusters;
  return (
    <tr data-row>
      <th scope="row">
        <Link href={`/clusters?q=${encodeURIComponent(name)}`} title="Show its clusters">
          {name}
        </Link>
      </th>
      <td className="words">
        <HubState hub={hub} />
      </td>
      <td className="bar-cell optional">
        <UsageBar states={statesOf(clusters)} total={limit ?? clusters.total} />
      </td>
      <td className="number">
        {grouped(clusters.total)}
        {limit === null ? null : ` of ${grouped(limit)}`}
      </td>
      <Count of={lent} />
      <Count of={stock} />
      <Count of={inFlight} />
      <td className={failures.recent === 0 ? "number faint" : "number late"}>
        {failures.of === 0 ? "none made yet" : `${failures.recent} of the last ${failures.of}`}
      </td>
    </tr>
  );
}

function statesOf({ lent, stock, inFlight }: Hub["clusters"]): Record<string, number> {
  const all = { leased: lent, hibernated: stock, creating: inFlight };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}

function Count({ of }: { of: number }) {
  return <td className={`number optional${of === 0 ? " faint" : ""}`}>{grouped(of)}</td>;
}

const looks: Readonly<Record<Hub["state"], string>> = {
  active: "free",
  cordoned: "drained",
  draining: "dirty",
  unreachable: "bad",
};

/** The last error stands there in full: whoever reads it has to find its cause. */
function HubState({ hub }: { hub: Hub }) {
  const { state, setState, set, outage, isProbed, isRetired, missingKinds } = hub;
  return (
    <>
      <span className={`chip look-${looks[state]}`}>
        <i aria-hidden="true" />
        {state}
      </span>
      {outage === null ? null : (
        <>
          {" "}
          for <Age since={outage.since} />: <code>{outage.error}</code>
        </>
      )}
      {set === null ? null : (
        <>
          {state === setState ? " by " : ` ${setState} by `}
          {set.by} at <Moment at={set.at} />
          {set.why === "" ? "" : `: ${set.why}`}
        </>
      )}
      {set === null && setState !== "active" ? " in the configuration" : null}
      {missingKinds.length === 0 ? null : ` does not serve ${missingKinds.join(", ")}`}
      {isProbed || outage !== null ? null : " no probe has answered yet"}
      {isRetired ? " no longer in the configuration" : null}
    </>
  );
}

/** All clusters on a hub, whoever has made them, if the hub is to show them. */
function OnHub({ hub }: { hub: Hub }) {
  const { data } = useAnswer(clustersOnHub(hub.name));
  if (data === undefined || data.items.length === 0) return null;
  return (
    <details className="on-hub">
      <summary>{onHubWords(hub, data)}</summary>
      <table className="hub-clusters">
        <thead>
          <tr>
            <th scope="col">Cluster</th>
            <th scope="col" className="optional">
              State
            </th>
            <Figure title="Age" />
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
