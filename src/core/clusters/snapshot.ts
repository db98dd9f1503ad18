/** What the plan sees of a pool of clusters. */
import { limitOf, limitsFor } from "../gates/limits.ts";
import { type Cluster, limitOfPhase, parametersKeyOf } from "../model/cluster.ts";
import { hubStateOf, isFrozen } from "../model/hub.ts";
import type { ResourceName } from "../model/ids.ts";
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
import { type Budget, budgetsFor, type Demand } from "./demand.ts";
import { roomOnHubs } from "./placement.ts";
import { isUsable, type PlannedCluster, type PoolSnapshot, type Role } from "./plan.ts";
import { arrivalEndsAt, awakeOf } from "./running.ts";

export interface Snapshot extends PoolSnapshot {
  /** How many more clusters are wanted than the limits allow. */
  readonly lacking: number;
  readonly demands: ReadonlyMap<string, Demand>;
}

const unlimited = Number.POSITIVE_INFINITY;

type Budgets = ReadonlyMap<Pool, Budget>;

export function snapshotOf(
  pool: Pool,
  now: Instant,
  budgets: Budgets = budgetsFor(pool, isFixed, now),
): Snapshot {
  const policy = pool.policy.cluster;
  const { demand: demands, stock: size, lacking } = budgets.get(pool) ?? noBudget;
  return {
    lacking,
    size,
    configuredSize: policy?.size ?? 0,
    running: policy === undefined ? 0 : Math.min(size, awakeOf(pool, policy, now)),
    max: policy?.max ?? unlimited,
    concurrent: policy?.concurrent ?? unlimited,
    hibernates: policy?.hibernates ?? false,
    stock: parametersKeyOf(policy?.parameters ?? {}),
    clusters: clustersIn(pool).map((resource) => plannedOf(resource, now)),
    demands,
    demand: new Map(Array.from(demands, ([kind, { count }]) => [kind, count])),
    accepted: new Map(Array.from(demands, ([kind, { accepted }]) => [kind, accepted])),
    ...roomFor(pool, budgets, now),
    closed: closedBecause(pool),
  };
}

const noBudget: Budget = { demand: new Map(), stock: 0, lacking: 0 };

/** Whether the cluster is lent or kept, so that no plan can change it. */
export function isFixed(resource: ExclusiveResource): boolean {
  if (resource.cluster === null) return true;
  const role = roleOf(resource, resource.cluster);
  return role === "lent" || role === "kept" || role === "kept in creation";
}

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
    isStale: cluster.revision !== pool.policy.cluster?.revision || isOnLeavingHub(resource),
    mustLeave: isOnLeavingHub(resource),
    isLate: role === "resuming" && (isFrozen(resource) || now >= lateAt(resource)),
    isFrozen: isFrozen(resource),
    age: ageOf(name),
  };
}

/** A cluster that is not in the pool yet, as the plan would see it. */
export function candidateOf(name: ResourceName, parameters: Cluster["parameters"]): PlannedCluster {
  const kind = parametersKeyOf(parameters);
  const plain = { isStale: false, mustLeave: false, isLate: false, isFrozen: false };
  return { name, role: "resuming", kind, ...plain, age: ageOf(name) };
}

/** Names end in the number of the cluster, and later ones have larger numbers. */
function ageOf(name: string): number {
  return Number(name.slice(name.lastIndexOf("-") + 1)) || 0;
}

function roleOf(resource: ExclusiveResource, cluster: Cluster): Role {
  const role = roleOnHub(resource, cluster);
  return isOutOfReach(resource, role) ? "kept" : role;
}

/** What it is while its hub can be reached. */
function roleOnHub(resource: ExclusiveResource, { wanted, hold }: Cluster): Role {
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

const idleRoles: ReadonlySet<Role> = new Set<Role>(["free", "stopping", "hibernated"]);

/**
 * Idle clusters of a hub that cannot be reached are neither lent nor given up. What is begun there is
 * waited for: it is not made a second time elsewhere, unless an operator drains the hub.
 */
function isOutOfReach(resource: ExclusiveResource, role: Role): boolean {
  if (!isFrozen(resource) || !isUsable({ role })) return false;
  return idleRoles.has(role) || isOnLeavingHub(resource);
}

/** Its hub is given up: what nobody holds is made elsewhere. */
function isOnLeavingHub({ hub }: ExclusiveResource): boolean {
  return hub !== null && (hub.retired || hubStateOf(hub) === "draining");
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

/** What the limits of the pool, of those above it and of its hubs leave now. */
function roomFor(
  pool: Pool,
  budgets: Budgets,
  now: Instant,
): Pick<PoolSnapshot, "room" | "wantedByOthers"> {
  const room = Math.min(roomBelowLimits(pool), roomOnHubs(pool, now));
  if (room === unlimited || room <= 0) return { room, wantedByOthers: 0 };
  let wantedByOthers = 0;
  for (const [other, { demand }] of budgets) {
    if (other !== pool && isRival(pool, other)) wantedByOthers += missingIn(other, demand);
  }
  return { room, wantedByOthers };
}

/** Whether what one of them has is taken from the other: they have a limit or a hub in common. */
function isRival(pool: Pool, other: Pool): boolean {
  const hubs = pool.hubs ?? new Set();
  if ([...(other.hubs ?? [])].some((hub) => hubs.has(hub))) return true;
  const limits = new Set(limitsFor(pool));
  return [...limitsFor(other)].some((limit) => limits.has(limit));
}

/** What the limits of the pool and of those above it leave now. */
export function roomBelowLimits(pool: Pool): number {
  let room = unlimited;
  for (const limit of limitsFor(pool)) room = Math.min(room, limitOf(limit) - limit.used);
  return room;
}

/** How many clusters the requests of a pool still need. */
export function missingIn(pool: Pool, demand: Budget["demand"]): number {
  let missing = 0;
  for (const [kind, { count }] of demand) missing += missingOfKind(pool, kind, count);
  return missing;
}

export function missingOfKind(pool: Pool, kind: string, count: number): number {
  return count > 0 ? Math.max(0, count - usableIn(pool, kind)) : 0;
}

function usableIn(pool: Pool, kind: string): number {
  return clustersIn(pool).filter((resource) => {
    const { cluster } = resource;
    return cluster.parametersKey === kind && isUsable({ role: roleOf(resource, cluster) });
  }).length;
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
