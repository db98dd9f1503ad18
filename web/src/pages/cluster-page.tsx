import { Fragment } from "react";
import type { Cluster } from "../../../src/api/cluster-schemas.ts";
import { Problem } from "../../../src/api/problem.ts";
import { useAnswer } from "../data/query.ts";
import { clusterLogs, eventsAbout, oneCluster, planOf } from "../data/questions.ts";
import { ActionButtons, NoActionsNote } from "../parts/action-button.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Facts } from "../parts/facts.tsx";
import { type Figure, Figures } from "../parts/figures.tsx";
import { Link } from "../parts/link.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { PhaseBar } from "../parts/phase-bar.tsx";
import { StateChip } from "../parts/state-chip.tsx";
import { stateName } from "../parts/state-look.ts";
import { usualTime } from "../parts/time-words.ts";
import { Age, Left, Moment } from "../parts/times.tsx";
import { OrSearch } from "../parts/what-next.tsx";
import { at } from "../router.ts";
import { actionsFor } from "./cluster-actions.ts";
import { isFailing, messageOf } from "./cluster-facts.ts";
import { EventsAbout } from "./event-list.tsx";
import { PhaseTimeline } from "./phase-timeline.tsx";

export function ClusterPage({ name }: { name: string }) {
  const { data: cluster, error } = useAnswer(oneCluster(name));
  const isUnknown = useHasNoEvents(name) && isGone(error);
  const pool = cluster?.pool;
  return (
    <>
      <Crumbs
        trail={[["Clusters", "/clusters"], ...(pool ? [[pool, at("pools", pool)] as const] : [])]}
      />
      <PageHead
        title={name}
        chip={cluster === undefined ? null : <StateChip state={cluster.state} />}
      >
        {cluster === undefined ? null : <ActionButtons actions={actionsFor(cluster)} />}
      </PageHead>
      {isGone(error) ? <Gone name={name} /> : <ProblemNote error={error} />}
      {cluster === undefined ? <Loading error={error} /> : <View cluster={cluster} />}
      {isUnknown ? null : (
        <>
          <Phases name={name} pool={pool} />
          <Logs name={name} />
          <EventsAbout key={name} subject={{ resource: name }} />
        </>
      )}
    </>
  );
}

/** Whether nothing was ever heard of it: it is a name that somebody has mistyped. */
function useHasNoEvents(name: string): boolean {
  const { data } = useAnswer(eventsAbout({ resource: name }));
  return data !== undefined && data.items.length === 0 && data.next === null;
}

function Gone({ name }: { name: string }) {
  if (useHasNoEvents(name)) {
    return (
      <EmptyNote title={`Cannot find cluster "${name}"`}>
        Start from <Link href="/clusters">all clusters</Link>
        <OrSearch />.
      </EmptyNote>
    );
  }
  return (
    <p className="aside-note">
      There is no such cluster now. Below is what is still known about it.
    </p>
  );
}

/** Most links to a cluster are older than its destruction. */
function isGone(error: unknown): boolean {
  return error instanceof Problem && error.code === "resource_not_found";
}

function View({ cluster }: { cluster: Cluster }) {
  const { hold, parameters, apiUrl, version, space, stuck } = cluster;
  const message = messageOf(cluster);
  return (
    <>
      <NoActionsNote />
      {message === "" ? null : (
        <p className={isFailing(cluster) ? "callout" : "callout calm-callout"}>{message}</p>
      )}
      <Figures label={`${cluster.name} in numbers`} figures={figuresOf(cluster)} />
      {cluster.progress === null ? null : (
        <div className="phase-line">
          <PhaseBar cluster={cluster} />
          <small>{Math.round(cluster.progress * 100)} % done, as its driver says</small>
        </div>
      )}
      <section aria-labelledby="about-title">
        <h2 id="about-title">About it</h2>
        <Facts
          label="About it"
          facts={[
            ["Should be", cluster.wanted],
            hold && ["Kept for debugging until", <Moment key="h" at={hold.until} />],
            apiUrl !== null && ["API server", <Address key="api" url={apiUrl} />],
            version !== null && ["Version", version],
            ["Template", `${cluster.template}, revision ${cluster.revision}`],
            cluster.hub !== null && [
              "Hub",
              <Link key="hub" href={`/hubs?q=${encodeURIComponent(cluster.hub)}`}>
                {cluster.hub}
              </Link>,
            ],
            space !== null && ["Charged to", space],
            ["Instance", cluster.instance],
            ...Object.entries(parameters)
              // It may be the version above, which is that of the cluster itself.
              .filter(([key, value]) => key !== "version" || String(value) !== version)
              .map(([key, value]): [string, string] => [labelOf(key), String(value)]),
          ]}
        />
      </section>
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

/** What its pool or its request asked for. */
function labelOf(parameter: string): string {
  return parameter === "version" ? "Version asked for" : `Parameter ${parameter}`;
}

/** It breaks at its dots, and not inside a name or its port. */
function Address({ url }: { url: string }) {
  return url.split(/(?=\.)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an address do not move.
    <Fragment key={index}>
      {index === 0 ? null : <wbr />}
      {part}
    </Fragment>
  ));
}

function figuresOf({ state, phase, lease, nextTryAt, plannedAt, price }: Cluster): Figure[] {
  const { usualSeconds, deadlineAt } = phase;
  return [
    {
      label: `${capital(stateName(state))} for`,
      value: <Age since={phase.since} />,
      aside: usualSeconds === null ? "" : `usually ${usualTime(usualSeconds)}`,
    },
    ...(deadlineAt === null ? [] : [{ label: "Gives up in", value: <Left until={deadlineAt} /> }]),
    ...(nextTryAt === null
      ? []
      : [{ label: "Next attempt in", value: <Left until={nextTryAt} /> }]),
    { label: "Age", value: <Age since={plannedAt} /> },
    {
      label: "Cost per hour",
      value: price,
      aside: state === "hibernated" ? "units, also asleep" : "units",
    },
    {
      label: "Held by",
      value: lease === null ? "nobody" : <Link href={at("leases", lease.id)}>{lease.holder}</Link>,
    },
  ];
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

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
