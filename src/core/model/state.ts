/**
 * The state of the broker. Objects refer to each other and are changed in place, because copying a
 * map of 100,000 resources for each grant would cost a thousand times as much as the grant. Only
 * `core/apply` changes them (`apply/edit.ts`). All types here are readonly, so the compiler refuses
 * other writes. For a copy to experiment with, use `thaw(freeze(state))`.
 *
 * A field called `cache` is never written to the journal and may be dropped at any time
 * (`dropCaches`).
 */
import type { Gate } from "../gates/gate.ts";
import type { Wants } from "../queue/needs.ts";
import type { Demand } from "../shared/placement/demand.ts";
import type { Amounts, Part, Shareable, Standing } from "../shared/placement/shareable.ts";
import type { Cluster, Phase } from "./cluster.ts";
import type { Cohort } from "./cohort.ts";
import type {
  Linked,
  ReadonlyDueHeap,
  ReadonlyIdleList,
  ReadonlyTree,
  Timed,
} from "./collections.ts";
import type { Reason } from "./command.ts";
import type { Ended, FrozenEnds } from "./ended-memory.ts";
import type { KeptRoom, LeaseEnd, Move, RateCause, ResolvedAsk } from "./event.ts";
import type { ReadonlyFairQueue } from "./fair-queue.ts";
import { type Hub, isFrozen } from "./hub.ts";
import type { ClaimId, PoolName, RequestId, ResourceName, SpaceName } from "./ids.ts";
import {
  busyState,
  drainedState,
  freeState,
  hibernatedState,
  type Purpose,
  revokingState,
  unreachableState,
} from "./lifecycle.ts";
import type { OrphanCluster } from "./orphan.ts";
import type { PoolPolicy } from "./policy.ts";
import type { PrioritiesSpec } from "./priority.ts";
import type { Walk } from "./queue-walk.ts";
import type { Rank } from "./rank.ts";
import { dropMatches, type MatchIndex, type Selection } from "./selection.ts";
import type { Space, SpacePolicy } from "./space.ts";
import type { StarvingSpaces } from "./starving-spaces.ts";
import type { Instant } from "./time.ts";

export interface State {
  readonly pools: ReadonlyMap<PoolName, Pool>;
  /** Pools whose policy names a parent that does not exist now. */
  readonly orphans: ReadonlySet<Pool>;
  readonly resources: ReadonlyMap<ResourceName, Resource>;
  /** The waiting requests. */
  readonly requests: ReadonlyMap<RequestId, Request>;
  readonly leases: ReadonlyMap<RequestId, Lease>;
  /** The spaces that have a request or a lease. */
  readonly spaces: ReadonlyMap<SpaceName, Space>;
  /** The configured spaces. */
  readonly spacePolicies: ReadonlyMap<SpaceName, SpacePolicy>;
  /** The policy of all other spaces; null: requests of other spaces are refused. */
  readonly otherSpaces: SpacePolicy | null;
  /** The configured spaces that share their quotas, by the name of their cohort. */
  readonly cohorts: ReadonlyMap<string, Cohort>;
  /** The names of priorities, and how priorities rise. */
  readonly priorities: PrioritiesSpec;
  /** Requests that are granted together, by the name of their group. */
  readonly gangs: ReadonlyMap<string, Gang>;
  /** Maps a client's request id to ours, while the request or lease exists or is remembered. */
  readonly keys: ReadonlyMap<string, RequestId>;
  readonly ended: ReadonlyEnded;
  /** Everything that has a deadline. */
  readonly due: ReadonlyDueHeap<Due>;
  /** The last fence given out. */
  readonly fence: number;
  /** The last arrival number given out. */
  readonly order: number;
  /** The last number given to a dynamic resource. */
  readonly made: number;
  /** Clusters that exist outside and are not in the books, by instance. */
  readonly orphanClusters: ReadonlyMap<string, OrphanCluster>;
  /** The configured hubs, and others that still have clusters. */
  readonly hubs: ReadonlyMap<string, Hub>;
  readonly cache: StateCache;
}

export interface StateCache {
  /** Statistic: how often waiting requests were evaluated against a shared pool. */
  evaluations: number;
}

export interface ReadonlyEnded {
  readonly size: number;
  get(id: RequestId): Ended | undefined;
  has(id: RequestId): boolean;
  freeze(): FrozenEnds;
}

/** The requests that wait for one bucket, in the order of their ranks. */
export type Queue = ReadonlyFairQueue<Request>;

/** A pool's idle resources in one state, and the requests that wait for one of them. */
export interface Bucket {
  readonly pool: Pool;
  readonly state: string;
  /** Longest idle first. */
  readonly idle: ReadonlyIdleList<ExclusiveResource>;
  readonly queue: Queue;
  /** The number of requests in the queue that select resources by label or name. */
  readonly selecting: number;
  readonly cache: BucketCache;
}

export interface BucketCache {
  readonly matches: MatchIndex;
}

export interface Pool extends Timed {
  readonly kind: "pool";
  readonly name: PoolName;
  readonly policy: PoolPolicy;
  /** No longer in the configuration. The pool is removed when its last resource is released. */
  readonly retired: boolean;
  /** If set, the pool lends nothing, because a decision on it failed. */
  readonly suspended: Suspension | null;
  /** The number of resources, held or not, without retired ones. */
  readonly size: number;
  /** All resources, with retired ones. */
  readonly members: ReadonlySet<Resource>;
  /** By state. Empty buckets without waiting requests are removed. */
  readonly buckets: ReadonlyMap<string, Bucket>;
  /** The usable shared resources, in the order of the pool's strategy. */
  readonly shared: ReadonlyTree<SharedResource, Standing>;
  /** Parts of shared resources that are lent exclusively, by kind and name. */
  readonly parts: ReadonlyMap<string, Part>;
  /** Impatient requests without a reservation so far. */
  readonly impatient: ReadonlySet<Request>;
  /** The number of members in each shown state. */
  readonly shown: ReadonlyMap<string, number>;
  /** The number of members that are held for use. Cleaning is no use. */
  readonly held: number;
  /** The number of requests in the pool's queues. */
  readonly waiting: number;
  /** The number of dynamic members, and how many of these are marked for deletion. */
  readonly dynamic: number;
  readonly leaving: number;
  /** How long recent leases held resources of this pool and of its descendants. */
  readonly holds: HoldStatistic;
  /** The limit and the pace of the parent also apply to this pool. */
  readonly parent: Pool | null;
  readonly children: ReadonlySet<Pool>;
  /** The number of claims on this pool and its descendants, without cleaning. */
  readonly used: number;
  /** Not used while the pool has no pace. */
  readonly pace: PaceState;
  /** Not used while the policy has no admission. */
  readonly admission: AdmissionState;
  /** Credits that a client needed that did not wait. Lost at a restart. */
  readonly unmetDemand: { readonly count: number; readonly until: Instant } | null;
  /** The state of the adaptive rate; null if the rate is not adaptive. */
  readonly adaptive: AdaptiveState | null;
  /** The rate that an operator has pinned. */
  readonly pin: Pin | null;
  /** The last rate changes, oldest first. */
  readonly rateHistory: readonly RateChange[];
  readonly signals: { readonly throttled: number; readonly ok: number };
  /** What only a pool of clusters has; null while it has neither a template nor clusters. */
  readonly clusters: ClusterStock | null;
  /** The hubs that its clusters may be made on; null if its template needs none. */
  readonly hubs: ReadonlySet<Hub> | null;
  readonly cache: PoolCache;
}

/** The state of a pool that makes its resources. */
export interface ClusterStock {
  /** How long recent clusters took for each phase. */
  readonly phases: Readonly<Record<Phase, PhaseStatistic>>;
  /** When the last clusters were lent, oldest first. At most `arrivalsMax`. */
  readonly arrivals: readonly Instant[];
}

/** Why and when a decision on the pool failed. */
export interface Suspension {
  readonly why: string;
  readonly at: Instant;
}

export interface PoolCache {
  /** The gates that can delay its requests; null if not computed yet. */
  gates: readonly Gate[] | null;
  /** Shared resources that have more room than at the last evaluation of the waiting requests. */
  readonly freed: Set<Shareable>;
  /** The sum of each dimension of its shared resources; null if not computed yet. */
  capacities: ReadonlyMap<string, number> | null;
  /** No reservation was possible for impatient requests, and nothing has changed since. */
  triedReservations: boolean;
  /** Waiting requests for which a decision had no time left to search room, the first one first. */
  readonly passedOver: Set<Request>;
  /** The spaces that may starve here; null if not computed yet. */
  starving: StarvingSpaces | null;
}

export interface AdmissionState {
  /** The number of further claims that the check allows, and until when. */
  readonly credits: number;
  readonly until: Instant;
  /** Why the check allows none, in its own words; null if no check has refused. */
  readonly why: string | null;
}

export const unchecked: AdmissionState = { credits: 0, until: 0 as Instant, why: null };

export interface AdaptiveState {
  /** Starts per minute. */
  readonly rate: number;
  /**
   * The start of the current window, and the grants in it. Windows count from the last report or
   * rate change.
   */
  readonly windowAt: Instant;
  readonly starts: number;
  readonly cutAt: Instant;
}

export interface Pin {
  readonly rate: number;
  readonly by: string;
  readonly why: string;
  readonly at: Instant;
}

export interface RateChange {
  readonly at: Instant;
  readonly rate: number | null;
  readonly was: number | null;
  readonly cause: RateCause;
  readonly advised: boolean;
}

/** The time of the last grant in the pace. The next grant comes `ticks` intervals later. */
export interface PaceState {
  readonly baseAt: Instant;
  /** The number of claims of the last grant. */
  readonly ticks: number;
  readonly everyMs: number;
  /** The part of the jitter that delays the next grant, from 0 to 1. */
  readonly share: number;
}

export interface HoldStatistic {
  readonly count: number;
  readonly meanMs: number;
}

/** How long a phase of a pool's clusters takes. */
export interface PhaseStatistic {
  readonly count: number;
  /** The last times, oldest first. At most `recentMax`. */
  readonly recentMs: readonly number[];
  /** Their median: one cluster that took an hour does not change what is usual. */
  readonly usualMs: number;
}

/** Exclusive: lent to one claim at a time. Shared: lent in amounts to many claims. */
export type Resource = ExclusiveResource | SharedResource;

interface AnyResource extends Timed {
  readonly kind: "resource";
  readonly name: ResourceName;
  readonly pool: Pool;
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The configured labels, without an operator's changes. */
  readonly specLabels: Readonly<Record<string, string>>;
  readonly userData: Readonly<Record<string, string>>;
  /** The reason for its state, if known. */
  readonly note: string;
  readonly drained: boolean;
  /** Who drained it and why; null if it is not drained, or if an old journal does not say. */
  readonly drainReason: Reason | null;
  /** The state after the cooldown, and when the cooldown ends; `never` if it is not cooling. */
  readonly restsTo: string;
  readonly restsUntil: Instant;
  /** Made by the pool on demand, not listed in the configuration. */
  readonly dynamic: boolean;
  /** Marked for deletion (dynamic resources only), also while it is held in another state. */
  readonly leaving: boolean;
  /** When it is marked for deletion, if it is not held then. */
  readonly expiresAt: Instant;
  /** The number of failed cleanings in a row. */
  readonly failures: number;
  /** The last holder and how its lease ended, to answer a holder that releases twice. */
  readonly last: LastHolder | null;
  /** No longer in the configuration. Removed as soon as it is not held. */
  readonly retired: boolean;
  readonly movesTo: Move | null;
  readonly changedAt: Instant;
}

export interface ExclusiveResource extends AnyResource, Linked<ExclusiveResource> {
  readonly sharing: "exclusive";
  readonly claim: ExclusiveClaim | null;
  /** Null unless Berth makes and destroys the resource. */
  readonly cluster: Cluster | null;
  /** The hub of a cluster, if it is known. */
  readonly hub: Hub | null;
  /** The bucket while it can be lent. */
  readonly bucket: Bucket | null;
}

export interface SharedResource extends AnyResource, Shareable {
  readonly sharing: "shared";
  readonly name: ResourceName;
  /** Oldest first. */
  readonly claims: ReadonlySet<SharedClaim>;
  /** Whether it is in its pool's index of usable resources. */
  readonly listed: boolean;
}

export interface LastHolder {
  readonly holder: string;
  /** Absent: its lease had no space, or an older version has recorded it. */
  readonly space?: SpaceName;
  readonly how: LeaseEnd;
  /** The state of the resource after that lease. */
  readonly state: string;
  readonly at: Instant;
}

/** The items of a request for one pool in one state, added up. */
export type Need = ExclusiveNeed | SharedNeed;

interface AnyNeed {
  readonly pool: Pool;
  readonly state: string;
  /** The state of the resources while they are held. */
  readonly heldState: string;
  readonly purpose: Purpose;
  readonly count: number;
}

export interface ExclusiveNeed extends AnyNeed {
  readonly sharing: "exclusive";
  /** The items one by one, if one of them has a selector or names a resource; else null. */
  readonly selections: readonly Selection[] | null;
}

export interface SharedNeed extends AnyNeed {
  readonly sharing: "shared";
  /** The items one by one. All are placed together. */
  readonly demands: readonly Demand[];
  /** The owner of the parts that it may share. */
  readonly owner: string;
}

export interface Request extends Rank, Timed {
  readonly kind: "request";
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  /** The request's own needs. */
  readonly own: Wants;
  /** The same as `own`; for the leader of a gang, the needs of all members. */
  readonly needs: Wants["needs"];
  readonly alternatives: Wants["alternatives"];
  readonly queuedAt: Instant;
  /** The priority that its client or an operator has set, without what it gained by waiting. */
  readonly ownPriority: number;
  readonly isStarved: boolean;
  /** Its arrival, or the last change of its priority. */
  readonly rankedAt: Instant;
  /** The deadline at which its priority rises; null if it does not. */
  readonly rise: Rise | null;
  /** The gang that it is granted together with. */
  readonly gang: Gang | null;
  /** Whether it is in the queues. Of a gang only the leader is, once all members have arrived. */
  readonly inLine: boolean;
  readonly patience: Patience;
  /** The reservations for it; null while its patience lasts. */
  readonly reservations: readonly KeptRoom[] | null;
  readonly cache: RequestCache;
}

export interface RequestCache {
  /** The request did not fit. Only resources that were freed since can change this. */
  evaluated: boolean;
}

/** The deadline after which a request for shared resources counts as impatient. */
export interface Patience extends Timed {
  readonly kind: "patience";
  readonly request: RequestId;
}

/** The deadline at which the priority of a waiting request rises. */
export interface Rise extends Timed {
  readonly kind: "rise";
  readonly request: RequestId;
}

/** Requests that are granted together. */
export interface Gang {
  readonly name: string;
  readonly size: number;
  /** In the order of their arrival. */
  readonly members: readonly Request[];
}

export interface Lease extends Timed {
  readonly kind: "lease";
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly queuedAt: Instant;
  readonly grantedAt: Instant;
  /** The own priority of its request at the grant. */
  readonly priority: number;
  /** Extended by every heartbeat. */
  readonly expiresAt: Instant;
  /** When the holder last sent something. */
  readonly seenAt: Instant;
  /** The last heartbeat that this process knows; null: none yet. A grace is none, and no journal has it. */
  readonly heartbeatAt: Instant | null;
  /** False until a reply with the lease was sent to its client. */
  readonly delivered: boolean;
  /** How often a reply with the lease was sent, as far as this process knows. */
  readonly sent: number;
  /** The holder has used the lease since, so it has received it. */
  readonly confirmed: boolean;
  /** `never` if no lifetime is set. */
  readonly endsAt: Instant;
  /** Revoked by an operator. The holder may not know it yet. */
  readonly revoked: Revoked | null;
  /** The pool takes it back for a waiting request. It is revoked at `until`. */
  readonly notice: Revoked | null;
  /**
   * Claims that are not released yet. The array is replaced, never changed, because replies may
   * still refer to it.
   */
  readonly claims: readonly Claim[];
  /** The requests that wait for another cluster in place of one of its claims. */
  readonly replacements: readonly RequestId[];
}

export interface Revoked {
  readonly at: Instant;
  readonly until: Instant;
  readonly reason: Reason;
}

export type Claim = ExclusiveClaim | SharedClaim;

interface AnyClaim extends Timed {
  readonly kind: "claim";
  readonly id: ClaimId;
  readonly lease: Lease;
  readonly fence: number;
  readonly heldUntil: Instant;
  readonly purpose: Purpose;
  /** The user data that the holder got with the claim. */
  readonly given: Readonly<Record<string, string>>;
  readonly parts: readonly Part[];
}

export interface ExclusiveClaim extends AnyClaim {
  readonly resource: ExclusiveResource;
  /** Null, because the claim has the whole resource. */
  readonly amount: null;
}

export interface SharedClaim extends AnyClaim {
  readonly resource: SharedResource;
  /** The amount of each dimension. */
  readonly amount: Amounts;
}

export type Due = Resource | Request | Lease | Claim | Pool | Patience | Rise;

export const noEntries: Readonly<Record<string, string>> = Object.freeze({});

/** Whether the pool's resources are shared. */
export function isShared({ policy }: Pool): boolean {
  return policy.placement !== undefined;
}

/**
 * The state that people see: `drained` for a drained resource that is not held, `revoking` while a
 * revoked lease still has it.
 */
export function shownState(resource: Resource): string {
  if (isHeld(resource)) {
    if (resource.sharing === "shared") return busyState;
    return resource.claim?.lease.revoked ? revokingState : resource.state;
  }
  if (resource.drained) return drainedState;
  const { state } = resource;
  if (resource.sharing === "shared" || !isFrozen(resource)) return state;
  // Work that waits for the hub is shown as such.
  return state === freeState || state === hibernatedState ? unreachableState : state;
}

/** Whether a lease has the resource or a part of it. */
export function isHeld(resource: Resource): boolean {
  return resource.sharing === "shared" ? resource.claims.size > 0 : resource.claim !== null;
}

/** As `isHeld`, but not for a resource that is being cleaned. */
export function isHeldForUse(resource: Resource): boolean {
  return resource.sharing === "shared"
    ? resource.claims.size > 0
    : resource.claim?.purpose === "use";
}

/** The claim on an exclusive resource; null for a shared one, and if it is not held. */
export function exclusiveClaim(resource: Resource | undefined): ExclusiveClaim | null {
  return resource?.sharing === "exclusive" ? resource.claim : null;
}

/** All claims on the resource, oldest first. */
export function claimsOn(resource: Resource): Iterable<Claim> {
  if (resource.sharing === "shared") return resource.claims;
  return resource.claim === null ? [] : [resource.claim];
}

/** The number of resources in the state `free` that could be lent now. */
export function freeCount(pool: Pool): number {
  return idleCount(pool, freeState);
}

export function idleCount(pool: Pool, state: string): number {
  return pool.buckets.get(state)?.idle.size ?? 0;
}

/** A pool and a state: a need or a bucket. */
export type Place = Pick<Need, "pool" | "state">;

/** The queue of a bucket; empty if there is no bucket. */
export function queueAt({ pool, state }: Place): Queue {
  return pool.buckets.get(state)?.queue ?? emptyQueue;
}

const emptyWalk: Walk<Request> = {
  next: () => undefined,
  skipSpace: () => {},
  goOn: () => true,
};

const emptyQueue: Queue = {
  size: 0,
  isShared: false,
  walk: () => emptyWalk,
  at: () => undefined,
  countBefore: () => 0,
  countBeforeIn: () => 0,
  countBeforeInSpace: () => 0,
  spaces: () => [],
  linesOf: () => [],
  [Symbol.iterator]: () => [][Symbol.iterator](),
};

/** Drops all caches. Decisions must not depend on them, but for what a decision had no time for (`passedOver`). */
export function dropCaches({ pools, requests, cache }: State): void {
  cache.evaluations = 0;
  for (const pool of pools.values()) {
    pool.cache.gates = null;
    pool.cache.freed.clear();
    pool.cache.triedReservations = false;
    pool.cache.passedOver.clear();
    pool.cache.capacities = null;
    pool.cache.starving = null;
    for (const bucket of pool.buckets.values()) dropMatches(bucket);
  }
  for (const request of requests.values()) request.cache.evaluated = false;
}

/**
 * Throws if an event names something that does not exist: the journal is damaged, or there is a
 * bug.
 */
export function must<Value>(value: Value | null | undefined, name: string): Value {
  if (value === undefined || value === null) {
    throw new Error(`Cannot apply an event: there is no "${name}"`);
  }
  return value;
}
