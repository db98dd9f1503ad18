/** What the plan sees of a pool of clusters. */
import { limitOf, limitsFor } from "../gates/limits.ts";
import { type Cluster, limitOfPhase, parametersKeyOf } from "../model/cluster.ts";
import {
  brokenState,
  creatingState,
  destroyingState,
  freeState,
  hibernatedState,
  resumingState,
  stoppingState,
  usedState,
} from "../model/lifecycle.ts";
import type { ExclusiveResource, Pool } from "../model/state.ts";
import { earliest, type Instant, never } from "../model/time.ts";
import { type Demand, demandIn } from "./demand.ts";
import { isUsable, type PlannedCluster, type PoolSnapshot, type Role } from "./plan.ts";
import { arrivalEndsAt, awakeOf } from "./running.ts";

export interface Snapshot extends PoolSnapshot {
  readonly demands: ReadonlyMap<string, Demand>;
}

const unlimited = Number.POSITIVE_INFINITY;

export function snapshotOf(pool: Pool, now: Instant): Snapshot {
  const policy = pool.policy.cluster;
  const clusters = clustersIn(pool).map((resource) => plannedOf(resource, now));
  const closed = closedBecause(pool);
  const usable = clusters.filter(isUsable).length;
  const max = policy?.max ?? unlimited;
  const most = usable + Math.max(0, max - clusters.length);
  const demands = closed === null ? demandIn(pool, most) : noDemand;
  return {
    size: policy?.size ?? 0,
    running: policy === undefined ? 0 : awakeOf(pool, policy, now),
    max,
    concurrent: policy?.concurrent ?? unlimited,
    hibernates: policy?.hibernates ?? false,
    stock: parametersKeyOf(policy?.parameters ?? {}),
    clusters,
    demands,
    demand: new Map(Array.from(demands, ([kind, { count }]) => [kind, count])),
    accepted: new Map(Array.from(demands, ([kind, { accepted }]) => [kind, accepted])),
    ...roomFor(pool),
    closed,
  };
}

const noDemand: ReadonlyMap<string, Demand> = new Map();

function closedBecause({ retired, policy }: Pool): string | null {
  if (retired) return "the pool was removed";
  return policy.cluster === undefined ? "the pool has no template any longer" : null;
}

export function clustersIn({ members }: Pool): (ExclusiveResource & { cluster: Cluster })[] {
  const found: (ExclusiveResource & { cluster: Cluster })[] = [];
  for (const resource of members) if (isCluster(resource)) found.push(resource);
  return found;
}

export function isCluster(
  resource: Pool["members"] extends ReadonlySet<infer R> ? R : never,
): resource is ExclusiveResource & { cluster: Cluster } {
  return resource.sharing === "exclusive" && resource.cluster !== null;
}

function plannedOf(
  resource: ExclusiveResource & { readonly cluster: Cluster },
  now: Instant,
): PlannedCluster {
  const { name, cluster, pool } = resource;
  const role = roleOf(resource, cluster);
  return {
    name,
    role,
    kind: cluster.parametersKey,
    isStale: cluster.revision !== pool.policy.cluster?.revision,
    isLate: role === "resuming" && now >= lateAt(resource),
    age: ageOf(name),
  };
}

/** Names end in the number of the cluster, and later ones have larger numbers. */
function ageOf(name: string): number {
  return Number(name.slice(name.lastIndexOf("-") + 1)) || 0;
}

function roleOf(resource: ExclusiveResource, { wanted, hold }: Cluster): Role {
  const { claim, state } = resource;
  if (claim?.purpose === "use") return "lent";
  if (state === destroyingState) return "destroying";
  if (hold !== null || resource.drained) {
    return state === creatingState ? "kept in creation" : "kept";
  }
  if (state === brokenState || state === usedState) return "doomed";
  if (claim !== null && wanted === "destroyed") return "destroying";
  switch (state) {
    case stoppingState:
      return claim !== null && wanted === "ready" ? "resuming" : "stopping";
    case resumingState:
      return claim !== null && wanted === "hibernated" ? "stopping" : "resuming";
    case creatingState:
    case freeState:
    case hibernatedState:
      return state;
    default:
      return "kept";
  }
}

/**
 * When another cluster is woken beside this one: after its first failure, or when half of the time
 * that it has is over.
 */
export function lateAt({ cluster, failures, state, pool }: ExclusiveResource): Instant {
  if (cluster === null || state !== resumingState) return never;
  if (failures > 0) return cluster.since;
  const { limits } = pool.policy.cluster ?? {};
  if (limits === undefined || cluster.deadlineAt === never) return never;
  return (cluster.deadlineAt - limitOfPhase(limits, resumingState) / 2) as Instant;
}

/** What the limits of the pool and of those above it leave. */
function roomFor(pool: Pool): Pick<PoolSnapshot, "room" | "wantedByOthers"> {
  let [room, left] = [unlimited, unlimited];
  for (const limit of limitsFor(pool)) {
    const here = limitOf(limit) - limit.used;
    room = Math.min(room, here);
    left = Math.min(left, here - wantedBelow(limit, pool));
  }
  return { room, wantedByOthers: room === unlimited ? 0 : room - left };
}

/** How many clusters the waiting requests of the other pools below a limit still need. */
function wantedBelow(limit: Pool, except: Pool): number {
  let wanted = limit === except ? 0 : unmetIn(limit);
  for (const child of limit.children) if (child !== except) wanted += wantedBelow(child, except);
  return wanted;
}

function unmetIn(pool: Pool): number {
  const { cluster } = pool.policy;
  if (cluster === undefined || pool.retired || pool.waiting === 0) return 0;
  const clusters = clustersIn(pool);
  const capacity = (cluster.max ?? unlimited) - clusters.length;
  if (capacity <= 0) return 0;
  const usable = clusters.filter((resource) => {
    return isUsable({ role: roleOf(resource, resource.cluster) });
  });
  let wanted = 0;
  for (const { count } of demandIn(pool, usable.length + capacity).values()) wanted += count;
  return Math.max(0, Math.min(capacity, wanted - usable.length));
}

/** When the plan may change although nothing happens; `never` if it cannot. */
export function planDueAt(pool: Pool, now: Instant): Instant {
  let at = arrivalEndsAt(pool, now);
  if (pool.waiting === 0) return at;
  for (const resource of clustersIn(pool)) {
    const late = lateAt(resource);
    if (late > now) at = earliest(at, late);
  }
  return at;
}
