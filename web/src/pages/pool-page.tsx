import { useMemo } from "react";
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool, WaitingRequest } from "../../../src/api/schemas.ts";
import { serverNowMs } from "../data/berth.ts";
import { whoami } from "../data/live.ts";
import { useAnswer } from "../data/query.ts";
import { leasesOf, onePool, queueOf, resourcesOf } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { usePoolTroubles } from "../data/troubles.ts";
import { NoActionsNote } from "../parts/action-button.tsx";
import { CapacityBars } from "../parts/capacity-bars.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Figures } from "../parts/figures.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { inOrder, lookOf, stateName } from "../parts/state-look.ts";
import { useSteadyBelow } from "../parts/steady-below.ts";
import { Moment } from "../parts/times.tsx";
import { UsageBar } from "../parts/usage-bar.tsx";
import { AdmissionSection } from "./admission-section.tsx";
import { CleaningSection } from "./cleaning-section.tsx";
import { ClusterStock } from "./cluster-stock.tsx";
import { EstimateAccuracyNote } from "./estimate.tsx";
import { HistoryCharts } from "./history-charts.tsx";
import { HostTable } from "./host-table.tsx";
import { inLeaseOrder } from "./lease-ends.ts";
import { LeaseTable } from "./leases.tsx";
import { LimitSection, usePoolsBeside } from "./limit-section.tsx";
import { listedPool } from "./listed-pool.ts";
import { OutNote } from "./out-note.tsx";
import { PaceSection } from "./pace-section.tsx";
import { PolicyFacts } from "./policy-facts.tsx";
import { statesOf } from "./pool-facts.ts";
import { figuresOf } from "./pool-figures.tsx";
import { QueueTable, useEmptyQueueText, useSeesAllSpaces } from "./queue-table.tsx";
import { ResourceGrid } from "./resource-grid.tsx";
import { ShareSection } from "./share-section.tsx";
import { inStartOrder, turnsIn } from "./start-order.ts";
import { WhatIf } from "./what-if.tsx";
import { whatIfTitle } from "./what-if-place.ts";
import { WhyNotFit, waitsForCapacity } from "./why-not-fit.tsx";

export function PoolPage({ name }: { name: string }) {
  const { data: pool, error } = useAnswer(onePool(name));
  return (
    <>
      <Crumbs trail={[["Pools", "/"]]} />
      <h1>{name}</h1>
      <ProblemNote error={error} />
      {pool === undefined ? <Loading error={error} /> : <PoolView read={pool} />}
    </>
  );
}

/** With the counts of the lists below, as far as all of them may be seen. */
function useListed(pool: Pool): Pool {
  const us = useStore(whoami);
  const { data: queue } = useAnswer(queueOf(pool.name));
  const { data: resources } = useAnswer(resourcesOf(pool.name));
  const pools = usePoolsBeside(pool);
  const ownQueueOnly = us?.role === "holder";
  return useMemo(() => {
    const lists = { queue: ownQueueOnly ? undefined : queue, resources, pools };
    return listedPool(pool, lists, serverNowMs());
  }, [pool, queue, resources, ownQueueOnly, pools]);
}

/** When the request came that waits longest, in seconds since 1970. */
function useWaitsSince(pool: Pool): number | null {
  return useMemo(() => {
    const { oldestWaitSeconds } = countsOf(pool);
    // Its wait was computed from this time, when the pool was read.
    return oldestWaitSeconds === null ? null : serverNowMs() / 1_000 - oldestWaitSeconds;
  }, [pool]);
}

function PoolView({ read }: { read: Pool }) {
  const pool = useListed(read);
  const { name, retiring, suspended, limit } = pool;
  const { data: queue = [] } = useAnswer(queueOf(name));
  const isWhole = useSeesAllSpaces();
  const troubles = usePoolTroubles();
  const waitsSince = useWaitsSince(pool);
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
      <OnThisPage pool={pool} queue={queue} />
      <Figures
        label={`${name} in numbers`}
        figures={figuresOf(pool, { requests: queue, isWhole }, troubles)}
      />
      {pool.usage === undefined ? <WholeBar pool={pool} /> : <CapacityBars usage={pool.usage} />}
      <OutNote pool={pool} />
      <NoActionsNote />
      <div className="gates">
        {pool.template === undefined ? null : <ClusterStock pool={pool} />}
        <PaceSection pool={pool} />
        <LimitSection pool={pool} />
        <AdmissionSection pool={pool} />
        <CleaningSection pool={pool} />
        <ShareSection pool={pool} />
      </div>
      <Waiting pool={pool} />
      {pool.usage === undefined ? null : <Members pool={pool} />}
      {limit === undefined ? null : <Holders name={name} />}
      <HistoryCharts
        pool={name}
        {...{ waitsSince }}
        useIsOfExisting={pool.template !== undefined}
      />
      <WhatIf pool={pool} />
      <PolicyFacts pool={pool} />
      {limit === undefined && pool.usage === undefined ? <Members pool={pool} /> : null}
    </>
  );
}

/** A phone shows one part of it at a time. */
function OnThisPage({ pool, queue }: { pool: Pool; queue: readonly WaitingRequest[] }) {
  const { usage, limit } = pool;
  const isShared = usage !== undefined;
  const parts = [
    ["queue-title", "Queue"],
    isShared && queue.some(waitsForCapacity) && ["fit-title", "Why it does not fit"],
    limit !== undefined && ["leases-title", "Leases"],
    isShared && ["resources-title", "Hosts"],
    ["history-title", "Over time"],
    [whatIfTitle, "What if?"],
    ["policy-title", "Policy"],
    !isShared && limit === undefined && ["resources-title", membersWord(pool)],
  ] as const;
  return (
    <nav className="on-page on-phone" aria-label="On this page">
      {parts.map((part) =>
        part === false ? null : (
          <a key={part[0]} href={`#${part[0]}`}>
            {part[1]}
          </a>
        ),
      )}
    </nav>
  );
}

function membersWord({ usage, template }: Pick<Pool, "usage" | "template">): string {
  if (usage !== undefined) return "Hosts";
  return template === undefined ? "Resources" : "Clusters";
}

/** A limit has its bar below, with who uses it. */
function WholeBar({ pool }: { pool: Pool }) {
  if (pool.limit !== undefined) return null;
  return (
    <div className="big-bar">
      <UsageBar states={statesOf(pool)} total={countsOf(pool).total} />
      <p className="legend" aria-hidden="true">
        {inOrder(statesOf(pool)).map(([state, count]) => (
          <span key={state}>
            <i className={`look-${lookOf(state)}`} /> {stateName(state)} <b>{grouped(count)}</b>
          </span>
        ))}
        {/* It has no size: more can be made. */}
        {pool.template === undefined ? null : <span>of the clusters there are</span>}
      </p>
    </div>
  );
}

function Waiting({ pool }: { pool: Pool }) {
  const { name, limit } = pool;
  const { data } = useAnswer(queueOf(name));
  const emptyText = useEmptyQueueText();
  const seesAll = useSeesAllSpaces();
  const section = useSteadyBelow<HTMLElement>();
  return (
    <section aria-labelledby="queue-title" ref={section}>
      <h2 id="queue-title">
        Queue <small>{data === undefined || data.length === 0 ? "" : grouped(data.length)}</small>
      </h2>
      {data === undefined || data.length === 0 ? null : <EstimateAccuracyNote pool={name} />}
      {data === undefined ? (
        <Loading />
      ) : data.length === 0 ? (
        <p className="calm">{emptyText}.</p>
      ) : (
        <QueueTable
          {...oneQueue(data, limit === undefined ? name : undefined, seesAll)}
          withPools={limit !== undefined}
          pool={name}
          shownAtFirst={8}
          withOldest
        />
      )}
      {pool.usage === undefined ? null : <WhyNotFit requests={data ?? []} pool={name} />}
    </section>
  );
}

/** In the order of the starts. Requests that wait for another pool first come last; below a limit none does. */
function oneQueue(requests: readonly WaitingRequest[], pool: string | undefined, seesAll: boolean) {
  const isHere = ({ reason }: WaitingRequest) =>
    pool === undefined || reason.pool === null || reason.pool === pool;
  const here = requests.filter(isHere);
  const elsewhere = requests.filter((request) => !isHere(request));
  return {
    groups: [{ name: "", rows: [...inStartOrder(here), ...elsewhere] }],
    turns: turnsIn(here, seesAll ? elsewhere.length : 0),
  };
}

/** The leases that use a pool which is only a limit. */
function Holders({ name }: { name: string }) {
  const { data: leases, error } = useAnswer(leasesOf(name));
  return (
    <section aria-labelledby="leases-title">
      <h2 id="leases-title">
        Leases <small>{leases === undefined ? "" : grouped(leases.length)}</small>{" "}
        <small className="about">The oldest first.</small>
      </h2>
      <ProblemNote error={error} />
      {leases === undefined ? (
        <Loading />
      ) : leases.length === 0 ? (
        <p className="calm">No lease of the pools below uses this limit.</p>
      ) : (
        <LeaseTable groups={[{ name: "", rows: inLeaseOrder(leases, "", serverNowMs()) }]} />
      )}
    </section>
  );
}

function Members({ pool }: { pool: Pool }) {
  const { name, usage } = pool;
  const { data: resources, error } = useAnswer(resourcesOf(name));
  return (
    <section aria-labelledby="resources-title">
      <h2 id="resources-title">
        {membersWord(pool)}{" "}
        <small>{resources === undefined ? "" : grouped(resources.length)}</small>
      </h2>
      <ProblemNote error={error} />
      {resources === undefined ? (
        <Loading />
      ) : usage === undefined ? (
        <ResourceGrid resources={resources} />
      ) : (
        <HostTable resources={resources} />
      )}
    </section>
  );
}
