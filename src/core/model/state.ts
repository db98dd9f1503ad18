/**
 * The broker's memory, as everybody reads it. Objects point at each other and are changed in place,
 * because copying a map of 100,000 resources per grant would cost a thousand times what the grant
 * does. Only `core/apply` changes them (`apply/edit.ts`); here everything is readonly, so that the
 * compiler refuses any other write. For a state to experiment with: `thaw(freeze(state))`.
 *
 * What is called `cache` is never journalled and may be dropped at any time (`dropCaches`).
 */
import type { Gate } from "../gates/gate.ts";
import type { Wants } from "../queue/needs.ts";
import type { Demand } from "../shared/placement/demand.ts";
import type { Amounts, Part, Shareable, Standing } from "../shared/placement/shareable.ts";
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
import type { ClaimId, PoolName, RequestId, ResourceName } from "./ids.ts";
import { busyState, drainedState, freeState, type Purpose, revokingState } from "./lifecycle.ts";
import type { PoolPolicy } from "./policy.ts";
import type { Rank } from "./rank.ts";
import type { Instant } from "./time.ts";

export interface State {
  readonly pools: ReadonlyMap<PoolName, Pool>;
  /** Pools whose policy names a parent that does not exist now. */
  readonly orphans: ReadonlySet<Pool>;
  readonly resources: ReadonlyMap<ResourceName, Resource>;
  /** Those that wait. */
  readonly requests: ReadonlyMap<RequestId, Request>;
  readonly leases: ReadonlyMap<RequestId, Lease>;
  /** Requests that are granted together, by the name of their group. */
  readonly gangs: ReadonlyMap<string, Gang>;
  /** From a client's own request id to ours, while the request or lease lives or is remembered. */
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
  readonly cache: StateCache;
}

export interface StateCache {
  /** How often a waiting request was evaluated against a shared pool. A statistic. */
  evaluations: number;
}

export interface ReadonlyEnded {
  readonly size: number;
  get(id: RequestId): Ended | undefined;
  has(id: RequestId): boolean;
  freeze(): FrozenEnds;
}

/** The requests that wait for one bucket, in the order of their ranks. */
export type Queue = ReadonlyTree<Request, Rank>;

/** A pool's idle resources in one state, and the requests that wait for one of them. */
export interface Bucket {
  readonly pool: Pool;
  readonly state: string;
  /** Longest untouched first. */
  readonly idle: ReadonlyIdleList<ExclusiveResource>;
  readonly queue: Queue;
}

export interface Pool extends Timed {
  readonly kind: "pool";
  readonly name: PoolName;
  readonly policy: PoolPolicy;
  /** Gone from the configuration; lives on until its last resource has come back. */
  readonly retired: boolean;
  /** Nothing of it is lent; null: all is well. */
  readonly suspended: Suspension | null;
  /** How many resources it has, held or not, without the retired ones. */
  readonly size: number;
  /** All of its resources, the retired ones included. */
  readonly members: ReadonlySet<Resource>;
  /** By state. A bucket that is empty and that nobody waits for is removed. */
  readonly buckets: ReadonlyMap<string, Bucket>;
  /** Its usable shared resources, in the order of its strategy. */
  readonly shared: ReadonlyTree<SharedResource, Standing>;
  /** What is lent whole with them, by kind and name. */
  readonly parts: ReadonlyMap<string, Part>;
  /** Requests out of patience for which nothing could be reserved so far. */
  readonly starved: ReadonlySet<Request>;
  /** How many of its members are shown in which state. */
  readonly shown: ReadonlyMap<string, number>;
  /** How many of its members are held. */
  readonly held: number;
  /** How many requests stand in its queues. */
  readonly waiting: number;
  /** How many of its members are dynamic, and how many of those are to be deleted. */
  readonly dynamic: number;
  readonly leaving: number;
  /** How long leases have held recently, of this pool and of all below it. */
  readonly holds: HoldStatistic;
  /** The pool whose limit and pace hold for this one too, and the pools for which its own do. */
  readonly parent: Pool | null;
  readonly children: ReadonlySet<Pool>;
  /** How many claims use it and all below it. Cleaning is no use. */
  readonly used: number;
  /** Meaningless while it has no pace. */
  readonly pace: PaceState;
  /** Meaningless while its policy has no admission. */
  readonly admission: AdmissionState;
  /** Credits that a client lacked that did not wait. Lost at a restart. */
  readonly unmetDemand: { readonly count: number; readonly until: Instant } | null;
  /** Where its search for a start rate stands; null while it does not search. */
  readonly adaptive: AdaptiveState | null;
  /** The rate that an operator has set. */
  readonly pin: Pin | null;
  /** The last changes of its rate, oldest first. */
  readonly rateHistory: readonly RateChange[];
  readonly signals: { readonly throttled: number; readonly ok: number };
  readonly cache: PoolCache;
}

/** A decision on the pool failed. */
export interface Suspension {
  readonly why: string;
  readonly at: Instant;
}

export interface PoolCache {
  /** The gates that guard it; null: not looked up yet. */
  gates: readonly Gate[] | null;
  /** Shared resources with more room than when the waiting requests were last evaluated. */
  readonly freed: Set<Shareable>;
  /** Nothing has changed since nothing could be reserved for those who starve. */
  triedReservations: boolean;
}

export interface AdmissionState {
  /** How many more claims may be lent, and until when. */
  readonly credits: number;
  readonly until: Instant;
  /** Why none are, in the words of the check; null: no check has said no. */
  readonly why: string | null;
}

export const unchecked: AdmissionState = { credits: 0, until: 0 as Instant, why: null };

export interface AdaptiveState {
  /** Starts per minute. */
  readonly rate: number;
  /** Since when there was no report and no change, in whole windows, and the starts in this one. */
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

/** The last grant's place on the time line: the next one comes `ticks` intervals after it. */
export interface PaceState {
  readonly baseAt: Instant;
  /** As many as the last grant had claims. */
  readonly ticks: number;
  readonly everyMs: number;
  /** How much of the pace's jitter delays the next grant; 0 to 1. */
  readonly share: number;
}

export interface HoldStatistic {
  readonly count: number;
  readonly meanMs: number;
}

/** Lent whole to one claim at a time, or by amount to many. */
export type Resource = ExclusiveResource | SharedResource;

interface AnyResource extends Timed {
  readonly kind: "resource";
  readonly name: ResourceName;
  readonly pool: Pool;
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Its labels as configured, before an operator changed any. */
  readonly specLabels: Readonly<Record<string, string>>;
  readonly userData: Readonly<Record<string, string>>;
  /** Why it is in its state, if known. */
  readonly note: string;
  readonly drained: boolean;
  /** The state after its cooldown, and when that ends; `never`: it is not cooling. */
  readonly restsTo: string;
  readonly restsUntil: Instant;
  /** Made on demand. */
  readonly dynamic: boolean;
  /** Dynamic and marked for deletion, even while it is held in another state. */
  readonly leaving: boolean;
  /** When it is marked for deletion, if nobody holds it then. */
  readonly expiresAt: Instant;
  /** How often in a row its cleaning has failed. */
  readonly failures: number;
  /** Who had it last and how that ended, for holders that ask twice. */
  readonly last: LastHolder | null;
  /** Gone from the configuration: removed as soon as nobody holds it. */
  readonly retired: boolean;
  readonly movesTo: Move | null;
  readonly changedAt: Instant;
}

export interface ExclusiveResource extends AnyResource, Linked<ExclusiveResource> {
  readonly sharing: "exclusive";
  readonly claim: ExclusiveClaim | null;
  /** The bucket that it is in while it can be lent. */
  readonly bucket: Bucket | null;
}

export interface SharedResource extends AnyResource, Shareable {
  readonly sharing: "shared";
  readonly name: ResourceName;
  /** Oldest first. */
  readonly claims: ReadonlySet<SharedClaim>;
  /** In its pool's index of usable ones. */
  readonly listed: boolean;
}

export interface LastHolder {
  readonly holder: string;
  readonly how: LeaseEnd;
  /** The state that it went to. */
  readonly state: string;
  readonly at: Instant;
}

/** What a request needs of one pool in one state: its items, added up. */
export type Need = ExclusiveNeed | SharedNeed;

interface AnyNeed {
  readonly pool: Pool;
  readonly state: string;
  /** Their state while they are held. */
  readonly heldState: string;
  readonly purpose: Purpose;
  readonly count: number;
}

export interface ExclusiveNeed extends AnyNeed {
  readonly sharing: "exclusive";
}

export interface SharedNeed extends AnyNeed {
  readonly sharing: "shared";
  /** What exactly: each item on its own, all placed together. */
  readonly demands: readonly Demand[];
  /** Whose parts it may share. */
  readonly owner: string;
}

export interface Request extends Rank, Timed {
  readonly kind: "request";
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  /** What it wants itself. */
  readonly own: Wants;
  /** The same, or what all of its gang want if it leads the gang. */
  readonly needs: Wants["needs"];
  readonly alternatives: Wants["alternatives"];
  readonly queuedAt: Instant;
  /** Those that it is granted together with. */
  readonly gang: Gang | null;
  /** Stands in the queues. Of a gang only the leader does, once all are there. */
  readonly inLine: boolean;
  readonly patience: Patience;
  /** What is reserved for it; null while it has patience. */
  readonly reservations: readonly KeptRoom[] | null;
  readonly cache: RequestCache;
}

export interface RequestCache {
  /** It was found not to fit: only what has come free since can change that. */
  evaluated: boolean;
}

/** Comes due when a request for shared resources has waited long enough. */
export interface Patience extends Timed {
  readonly kind: "patience";
  readonly request: RequestId;
}

/** Requests that are granted at one moment. */
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
  /** Moved on by every heartbeat. */
  readonly expiresAt: Instant;
  /** When its holder was last heard of. */
  readonly seenAt: Instant;
  /** False while nobody has come for it. */
  readonly delivered: boolean;
  /** How often a reply with it was sent, as far as this process knows. */
  readonly sent: number;
  /** Its holder has shown since that it knows of it. */
  readonly confirmed: boolean;
  /** `never` where no lifetime is set. */
  readonly endsAt: Instant;
  /** Taken back by an operator; its holder may not know yet. */
  readonly revoked: Revoked | null;
  /** Those not given back yet. Replaced, never changed in place: replies may still refer to it. */
  readonly claims: readonly Claim[];
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
  /** The user data that its holder was given with it. */
  readonly given: Readonly<Record<string, string>>;
  readonly parts: readonly Part[];
}

export interface ExclusiveClaim extends AnyClaim {
  readonly resource: ExclusiveResource;
  /** All of it. */
  readonly amount: null;
}

export interface SharedClaim extends AnyClaim {
  readonly resource: SharedResource;
  /** How much of each dimension. */
  readonly amount: Amounts;
}

export type Due = Resource | Request | Lease | Claim | Pool | Patience;

export const noEntries: Readonly<Record<string, string>> = Object.freeze({});

/** Whether its resources are lent by amount. */
export function isShared({ policy }: Pool): boolean {
  return policy.placement !== undefined;
}

/**
 * The state that people are shown: a drained resource that nobody holds is `drained`, one that is
 * being taken from its holder is `revoking`.
 */
export function shownState(resource: Resource): string {
  if (isHeld(resource)) {
    if (resource.sharing === "shared") return busyState;
    return resource.claim?.lease.revoked ? revokingState : resource.state;
  }
  return resource.drained ? drainedState : resource.state;
}

/** Whether a lease has it, or a share of it. */
export function isHeld(resource: Resource): boolean {
  return resource.sharing === "shared" ? resource.claims.size > 0 : resource.claim !== null;
}

/** The claim on an exclusive resource; null for a shared one. */
export function wholeClaim(resource: Resource | undefined): ExclusiveClaim | null {
  return resource?.sharing === "exclusive" ? resource.claim : null;
}

/** All claims on it, oldest first. */
export function claimsOn(resource: Resource): Iterable<Claim> {
  if (resource.sharing === "shared") return resource.claims;
  return resource.claim === null ? [] : [resource.claim];
}

/** How many of a pool could be lent at this moment. */
export function freeCount(pool: Pool): number {
  return idleCount(pool, freeState);
}

export function idleCount(pool: Pool, state: string): number {
  return pool.buckets.get(state)?.idle.size ?? 0;
}

/** Where something is to be had: a need, or a bucket. */
export type Place = Pick<Need, "pool" | "state">;

/** The queue at a place; nobody stands in it where there is no bucket. */
export function queueAt({ pool, state }: Place): Queue {
  return pool.buckets.get(state)?.queue ?? emptyQueue;
}

const emptyQueue: Queue = {
  size: 0,
  at: () => undefined,
  countBefore: () => 0,
  [Symbol.iterator]: () => [][Symbol.iterator](),
};

/** Forgets all that can be found out again. Whatever is decided next must not depend on it. */
export function dropCaches({ pools, requests, cache }: State): void {
  cache.evaluations = 0;
  for (const pool of pools.values()) {
    pool.cache.gates = null;
    pool.cache.freed.clear();
    pool.cache.triedReservations = false;
  }
  for (const request of requests.values()) request.cache.evaluated = false;
}

/** What an event names must be there: otherwise the journal is damaged, or there is a bug. */
export function must<Value>(value: Value | null | undefined, name: string): Value {
  if (value === undefined || value === null) {
    throw new Error(`Cannot apply an event: there is no "${name}"`);
  }
  return value;
}
