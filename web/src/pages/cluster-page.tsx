import type { Cluster } from "../../../src/api/cluster-schemas.ts";
import { Problem } from "../../../src/api/problem.ts";
import { useAnswer } from "../data/query.ts";
import { clusterLogs, eventsAbout, oneCluster, planOf } from "../data/questions.ts";
import { ActionButton, NoActionsNote } from "../parts/action-button.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { PhaseBar, PhaseTime } from "../parts/phase-bar.tsx";
import { StateChip } from "../parts/state-chip.tsx";
import { inWholeSeconds, Left, Moment } from "../parts/times.tsx";
import { at } from "../router.ts";
import { actionsFor } from "./cluster-actions.ts";
import { messageOf } from "./cluster-facts.ts";
import { EventsAbout } from "./event-list.tsx";
import { PhaseTimeline } from "./phase-timeline.tsx";

export function ClusterPage({ name }: { name: string }) {
  const { data: cluster, error } = useAnswer(oneCluster(name));
  const pool = cluster?.pool;
  return (
    <>
      <Crumbs
        trail={[["Clusters", "/clusters"], ...(pool ? [[pool, at("pools", pool)] as const] : [])]}
      />
      <h1>
        {name} {cluster === undefined ? null : <StateChip state={cluster.state} />}
      </h1>
      {isGone(error) ? (
        <p className="aside-note">
          There is no such cluster now. Below is what is still known about it.
        </p>
      ) : (
        <ProblemNote error={error} />
      )}
      {cluster === undefined ? error === undefined && <Loading /> : <View cluster={cluster} />}
      <Phases name={name} pool={pool} />
      <Logs name={name} />
      <EventsAbout key={name} subject={{ resource: name }} />
    </>
  );
}

/** Most links to a cluster are older than its destruction. */
function isGone(error: unknown): boolean {
  return error instanceof Problem && error.code === "resource_not_found";
}

function View({ cluster }: { cluster: Cluster }) {
  const { lease, phase, hold, parameters, apiUrl, version, space, price, stuck } = cluster;
  const message = messageOf(cluster);
  return (
    <>
      <NoActionsNote />
      <div className="buttons start">
        {actionsFor(cluster).map((action) => (
          <ActionButton key={action.verb} action={action} />
        ))}
      </div>
      <p className="phase-line">
        <PhaseBar cluster={cluster} />
        <span>
          {cluster.state} for <PhaseTime phase={phase} />
        </span>
        {message === "" ? null : <span className="words">{message}</span>}
      </p>
      <Facts
        label="About it"
        facts={[
          lease && [
            "Held by",
            <Link key="l" href={at("leases", lease.id)}>
              {lease.holder}
            </Link>,
          ],
          ["Age", inWholeSeconds(cluster.ageSeconds)],
          ["Wanted", cluster.wanted],
          phase.deadlineAt !== null && ["Time left", <Left key="d" until={phase.deadlineAt} />],
          cluster.nextTryAt !== null && [
            "Next attempt in",
            <Left key="n" until={cluster.nextTryAt} />,
          ],
          hold && ["Held for debugging until", <Moment key="h" at={hold.until} />],
          apiUrl !== null && ["API server", apiUrl],
          version !== null && ["Version", version],
          ["Template", `${cluster.template}, revision ${cluster.revision}`],
          space !== null && ["Charged to", space],
          ["Price", `${price} per hour`],
          ["Instance", cluster.instance],
          ...Object.entries(parameters).map(([key, value]): [string, string] => [
            key,
            String(value),
          ]),
        ]}
      />
      {stuck === null || stuck.length === 0 ? null : (
        <section aria-labelledby="stuck-title">
          <h2 id="stuck-title">What blocks its destruction</h2>
          <ul className="plain-list">
            {stuck.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Phases({ name, pool }: { name: string; pool: string | undefined }) {
  const { data } = useAnswer(eventsAbout({ resource: name }));
  if (data === undefined || data.items.length === 0) return null;
  return pool === undefined ? (
    <PhaseTimeline name={name} events={data.items} usual={undefined} />
  ) : (
    <WithUsual name={name} pool={pool} events={data.items} />
  );
}

function WithUsual({ name, pool, events }: { name: string; pool: string; events: EventItems }) {
  const { data: plan } = useAnswer(planOf(pool));
  return <PhaseTimeline name={name} events={events} usual={plan?.usualSeconds} />;
}

type EventItems = Parameters<typeof PhaseTimeline>[0]["events"];

function Logs({ name }: { name: string }) {
  const { data, error } = useAnswer(clusterLogs(name));
  if (data === undefined || data.entries.length === 0) return <ProblemNote error={error} />;
  return (
    <section aria-labelledby="logs-title">
      <h2 id="logs-title">Logs</h2>
      {data.entries.map(({ at: when, instance, why, text }) => (
        <details key={`${when} ${instance}`} className="cluster-log">
          <summary>
            <Moment at={when} /> {why}
          </summary>
          <pre>{text}</pre>
        </details>
      ))}
    </section>
  );
}
