/** Applies the events of clusters, and keeps what only pools of clusters have. */
import {
  type Cluster,
  type ClusterBirth,
  isPhase,
  type Phase,
  parametersKeyOf,
  type Wanted,
} from "../model/cluster.ts";
import type { ClusterEvent, DurableEvent, GrantedClaim, Return } from "../model/event.ts";
import { creationsMax } from "../model/hub.ts";
import type { ResourceName } from "../model/ids.ts";
import { brokenState, creatingState, freeState, tombstoneState } from "../model/lifecycle.ts";
import {
  type ClusterStock,
  type ExclusiveClaim,
  type ExclusiveResource,
  must,
  type PhaseStatistic,
  type Pool,
  type State,
} from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import { edit } from "./edit.ts";
import { removeMember, schedule, scheduleResource, update } from "./indexes.ts";
import { chargeCluster } from "./spaces.ts";

export function newCluster(birth: ClusterBirth, at: Instant): Cluster {
  const { instance, template, revision, parameters, price, hub = null, handle = null } = birth;
  return {
    ...{ instance, template, revision, parameters, price, hub, handle },
    parametersKey: parametersKeyOf(parameters),
    plannedAt: at,
    since: at,
    reachedBy: "",
    deadlineAt: never,
    wanted: "ready",
    message: "",
    ...{ progress: null, apiUrl: null, version: null },
    ...{ stuck: null, lost: null, hold: null, space: null },
  };
}

/** A pool of clusters has a template, or clusters of a template that it had. */
export function keepStock(pool: Pool): void {
  const isOfClusters = pool.policy.cluster !== undefined || hasClusters(pool);
  if (isOfClusters === (pool.clusters !== null)) return;
  edit(pool).clusters = isOfClusters ? newStock() : null;
}

function hasClusters({ members }: Pool): boolean {
  for (const resource of members) {
    if (resource.sharing === "exclusive" && resource.cluster !== null) return true;
  }
  return false;
}

export function newStock(): ClusterStock {
  const none = (): PhaseStatistic => ({ count: 0, recentMs: [], usualMs: 0 });
  const phases = { creating: none(), stopping: none(), resuming: none(), destroying: none() };
  return { phases, arrivals: [] };
}

/** A cluster keeps its data in one object, which is replaced and never changed. */
export function setCluster(resource: ExclusiveResource, change: Partial<Cluster>): void {
  edit(resource).cluster = { ...must(resource.cluster, resource.name), ...change };
}

function clusterOf(state: State, name: ResourceName): ExclusiveResource {
  const resource = must(state.resources.get(name), name);
  if (resource.sharing === "shared" || resource.cluster === null) {
    throw new Error(`Cannot change ${name}: it is no cluster`);
  }
  return resource;
}

type OrphanEvent = Extract<ClusterEvent, { type: "orphan-found" | "orphan-gone" }>;
type OneClusterEvent = Exclude<ClusterEvent, OrphanEvent | { type: "claim-replaced" }>;

/**
 * Who caused an event is for the audit. The broker adds it after the event was applied, so a state
 * from the journal would have it and the live state not.
 */
function withoutOrigin<Event extends ClusterEvent>(event: Event): Event {
  const { from: _, ...rest } = event as Event & Pick<DurableEvent, "from">;
  return rest as unknown as Event;
}

export function orphanEvent(state: State, event: OrphanEvent, at: Instant): void {
  const orphans = edit(state.orphanClusters);
  if (event.type === "orphan-gone") return void orphans.delete(event.instance);
  const { type: _, ...found } = withoutOrigin(event);
  orphans.set(event.instance, { ...found, seenAt: at });
}

export function clusterEvent(state: State, event: OneClusterEvent, at: Instant): void {
  const resource = clusterOf(state, event.resource);
  switch (event.type) {
    case "cluster-moved":
      if (resource.state === creatingState && event.state === brokenState) {
        creationEnded(resource, true, at);
      }
      setCluster(resource, { ...freshPhase(resource.state, at), wanted: event.wanted });
      edit(resource).failures = 0;
      update(resource, { state: event.state, note: event.why, restsUntil: never }, at);
      return scheduleResource(state, resource);
    case "cluster-wanted":
      return setCluster(resource, { wanted: event.wanted });
    case "cluster-reported": {
      const { type: _, resource: __, ...report } = withoutOrigin(event);
      return setCluster(resource, report);
    }
    case "cluster-stuck":
      setCluster(resource, { stuck: resource.cluster?.stuck ?? [], deadlineAt: never });
      return scheduleResource(state, resource);
    case "cluster-lost":
      return setCluster(resource, { lost: event.why, message: event.why });
    case "cluster-held":
      setCluster(resource, { hold: event.hold });
      return scheduleResource(state, resource);
    case "cluster-abandoned":
      clusterRemoved(state, resource);
      schedule(state, resource, never);
      removeMember(state, resource);
      return keepStock(resource.pool);
  }
}

function freshPhase(reachedBy: string, at: Instant): Partial<Cluster> {
  return { since: at, reachedBy, deadlineAt: never, progress: null, message: "", stuck: null };
}

/** A worker begins or continues a phase, or a space gets the cluster and is charged for it. */
export function clusterGranted(state: State, claim: ExclusiveClaim, granted: GrantedClaim): void {
  const { resource, lease, purpose } = claim;
  const { cluster, pool } = resource;
  if (cluster === null) return;
  if (purpose === "provision") {
    if (granted.deadlineAt !== undefined) setCluster(resource, { deadlineAt: granted.deadlineAt });
    return;
  }
  const { space = null } = lease.ask;
  if (cluster.space !== null || space === null) return;
  setCluster(resource, { space, price: pool.policy.cost ?? 0 });
  chargeCluster(state, resource, 1);
}

/** The last loans count for `running: auto`. */
export const arrivalsMax = 256;

/** The cluster has a holder now. */
export function clusterArrived(resource: ExclusiveResource, at: Instant): void {
  const { clusters } = resource.pool;
  if (clusters === null || resource.cluster === null) return;
  setCluster(resource, { since: at, reachedBy: "free" });
  edit(clusters).arrivals = [...clusters.arrivals.slice(1 - arrivalsMax), at];
}

/** A worker or a holder has released the cluster. */
export function clusterReturned(
  state: State,
  resource: ExclusiveResource,
  was: string,
  back: Return,
  at: Instant,
): void {
  const { cluster, pool } = resource;
  if (cluster === null) return;
  if (back.unused === true) clusterUncharged(state, resource);
  if (back.state === was) {
    if (back.note !== undefined) setCluster(resource, { message: back.note });
    return;
  }
  if (isPhase(was) && pool.clusters !== null && isDone(was, back.state)) {
    learnPhase(pool.clusters.phases[was], at - cluster.since);
  }
  if (was === creatingState && (back.state === freeState || back.state === brokenState)) {
    creationEnded(resource, back.state === brokenState, at);
  }
  const message = back.note ?? "";
  setCluster(resource, { ...freshPhase(was, at), message, wanted: wantedIn(back.state) });
}

export const recentMax = 15;

function learnPhase(statistic: PhaseStatistic, valueMs: number): void {
  const writable = edit(statistic);
  writable.count += 1;
  writable.recentMs = [...statistic.recentMs.slice(1 - recentMax), valueMs];
  writable.usualMs = medianOf(writable.recentMs);
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** What is wanted of a cluster in a state that nobody has changed since. */
function wantedIn(state: string): Wanted {
  switch (state) {
    case "hibernated":
    case "stopping":
      return "hibernated";
    case "free":
    case "creating":
    case "resuming":
      return "ready";
    default:
      return "destroyed";
  }
}

function isDone(phase: Phase, reached: string): boolean {
  if (phase === "destroying") return reached === tombstoneState;
  return reached === (phase === "stopping" ? "hibernated" : "free");
}

function clusterUncharged(state: State, resource: ExclusiveResource): void {
  if (resource.cluster?.space == null) return;
  chargeCluster(state, resource, -1);
  setCluster(resource, { space: null });
}

export function clusterRemoved(state: State, resource: ExclusiveResource): void {
  if (resource.cluster !== null) clusterUncharged(state, resource);
}

/** How the creation of a cluster on its hub has ended. */
function creationEnded({ hub }: ExclusiveResource, failed: boolean, at: Instant): void {
  if (hub === null) return;
  edit(hub).creations = [...hub.creations.slice(1 - creationsMax), { at, failed }];
}
