import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { leasesOf, onePool, queueOf, resourcesOf } from "../data/questions.ts";
import { NoActionsNote } from "../parts/action-button.tsx";
import { CapacityBars } from "../parts/capacity-bars.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { type Figure, Figures } from "../parts/figures.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped, percent } from "../parts/numbers.ts";
import { inWholeSeconds, inWords, Moment } from "../parts/times.tsx";
import { UsageBar } from "../parts/usage-bar.tsx";
import { AdmissionSection } from "./admission-section.tsx";
import { ClusterStock } from "./cluster-stock.tsx";
import { FlowSection } from "./flow-section.tsx";
import { HistoryCharts } from "./history-charts.tsx";
import { LeaseTable } from "./leases.tsx";
import { PolicyFacts } from "./policy-facts.tsx";
import { coolingAside, outOf, statesOf, waitsTooLong } from "./pool-facts.ts";
import { QueueTable, useEmptyQueueText } from "./queue-table.tsx";
import { ResourceGrid } from "./resource-grid.tsx";
import { WhatIf } from "./what-if.tsx";

export function PoolPage({ name }: { name: string }) {
  const { data: pool, error } = useAnswer(onePool(name));
  return (
    <>
      <Crumbs trail={[["Pools", "/"]]} />
      <h1>{name}</h1>
      <ProblemNote error={error} />
      {pool === undefined ? error === undefined && <Loading /> : <PoolView pool={pool} />}
    </>
  );
}

function PoolView({ pool }: { pool: Pool }) {
  const { name, retiring, suspended, limit } = pool;
  return (
    <>
      {suspended === null ? null : (
        <p className="aside-note">
          Suspended since <Moment at={suspended.since} />: {suspended.why}. Nothing is lent. Reload
          the configuration to try again, and report this as a bug.
        </p>
      )}
      {retiring ? (
        <p className="aside-note">
          Removed from the configuration. It disappears when its last resource is released.
        </p>
      ) : null}
      <Figures label={`${name} in numbers`} figures={figuresOf(pool)} />
      {pool.usage === undefined ? (
        <div className="big-bar">
          <UsageBar states={statesOf(pool)} total={countsOf(pool).total} />
        </div>
      ) : (
        <CapacityBars usage={pool.usage} />
      )}
      {pool.template === undefined ? null : <ClusterStock pool={pool} />}
      <NoActionsNote />
      <PolicyFacts policy={pool.policy} />
      <FlowSection pool={pool} />
      <AdmissionSection pool={pool} />
      <Waiting name={name} withPools={limit !== undefined} />
      <HistoryCharts pool={name} />
      <WhatIf pool={pool} />
      {limit === undefined ? <Members name={name} /> : <Holders name={name} />}
    </>
  );
}

function figuresOf(pool: Pool): Figure[] {
  const { total, held, free, waiting, oldestWaitSeconds } = countsOf(pool);
  const { meanHoldSeconds } = pool;
  return [
    { label: pool.limit === undefined ? "Resources" : "Limit", value: total },
    {
      label: "Held",
      value: held,
      aside: total === 0 ? "" : percent(held / total),
    },
    { label: "Free", value: free },
    ...(pool.limit === undefined
      ? [{ label: "Out of service", value: outOf(pool), aside: coolingAside([pool]) }]
      : []),
    { label: "Waiting", value: waiting },
    { label: "Longest wait", value: inWholeSeconds(oldestWaitSeconds), bad: waitsTooLong(pool) },
    { label: "Mean hold", value: inWords(meanHoldSeconds) },
  ];
}

function Waiting({ name, withPools }: { name: string; withPools: boolean }) {
  const { data } = useAnswer(queueOf(name));
  const emptyText = useEmptyQueueText();
  return (
    <section aria-labelledby="queue-title">
      <h2 id="queue-title">
        Queue <small>{data === undefined ? "" : grouped(data.length)}</small>
      </h2>
      {data === undefined ? (
        <Loading />
      ) : data.length === 0 ? (
        <p className="calm">{emptyText}.</p>
      ) : (
        <QueueTable requests={data} withPools={withPools} shownAtFirst={8} />
      )}
    </section>
  );
}

/** The leases that use a pool which is only a limit. */
function Holders({ name }: { name: string }) {
  const { data: leases, error } = useAnswer(leasesOf(name));
  return (
    <section aria-labelledby="leases-title">
      <h2 id="leases-title">
        Leases <small>{leases === undefined ? "" : grouped(leases.length)}</small>
      </h2>
      <ProblemNote error={error} />
      {leases === undefined ? (
        <Loading />
      ) : leases.length === 0 ? (
        <p className="calm">No lease of the pools below uses this limit.</p>
      ) : (
        <LeaseTable leases={leases} />
      )}
    </section>
  );
}

function Members({ name }: { name: string }) {
  const { data: resources, error } = useAnswer(resourcesOf(name));
  return (
    <section aria-labelledby="resources-title">
      <h2 id="resources-title">
        Resources <small>{resources === undefined ? "" : grouped(resources.length)}</small>
      </h2>
      <ProblemNote error={error} />
      {resources === undefined ? <Loading /> : <ResourceGrid resources={resources} />}
    </section>
  );
}
