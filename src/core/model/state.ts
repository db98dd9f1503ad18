import type { Wants } from "../queue/alternatives.ts";
import { type Ranked, RankedQueue } from "../queue/ranked-queue.ts";
import { type Demand, demandOf } from "../shared/placement/demand.ts";
import type { Amounts, Part, Room } from "../shared/placement/room.ts";
import type { Ask } from "./command.ts";
import { DueHeap, type Timed } from "./due-heap.ts";
import { EndedMemory } from "./ended-memory.ts";
import type { KeptRoom, LeaseEnd, Move, RateCause, ResolvedAsk } from "./event.ts";
import { IdleList, type Linked } from "./idle-list.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "./ids.ts";
import type { PoolPolicy } from "./policy.ts";
import { type Instant, never } from "./time.ts";

/** The state from which a resource is lent, unless one in another state is asked for. */
export const freeState = "free";
/** What a resource is while somebody holds it, unless they call it otherwise. */
export const busyState = "busy";
/** To be cleaned before it is lent again; and being cleaned. */
export const dirtyState = "dirty";
export const cleaningState = "cleaning";
/** A dynamic resource on its way out, and one whose end has come. */
export const toBeDeletedState = "toBeDeleted";
export const tombstoneState = "tombstone";
/** Given back and resting, until its cooldown or lock-delay is over. */
export const coolingState = "cooling";
/** Taken out of the rotation because something is wrong with it. */
export const quarantinedState = "quarantined";

/** States that only the broker itself puts a resource into; elsewhere they would be a lie. */
export const reservedStates: readonly string[] = [busyState, coolingState, "drained"];

/**
 * The broker's memory. Objects point at each other and are changed in place, by `apply` alone:
 * copying a map of 100,000 resources per grant would cost a thousand times what the grant does.
 * Whoever needs a state of their own to play with makes one with `thaw(freeze(state))`.
 */
export interface State {
  readonly pools: Map<PoolName, Pool>;
  /** Those that would draw on a pool that there is not, now. */
  readonly orphans: Set<Pool>;
  readonly resources: Map<ResourceName, Resource>;
  /** Those that wait. */
  readonly requests: Map<RequestId, Request>;
  readonly leases: Map<RequestId, Lease>;
  /** Requests that are granted together, by the name of their group. */
  readonly gangs: Map<string, Gang>;
  /** From a client's own request id to ours, while the request or lease lives or is remembered. */
  readonly keys: Map<string, RequestId>;
  ended: EndedMemory;
  /** Everything that will need attention at a known time. */
  readonly due: DueHeap<Due>;
  /** The last fence given out. */
  fence: number;
  /** The last arrival number given out. */
  order: number;
  /** The last number given to a dynamic resource. */
  made: number;
  /** How often one that waits was weighed up against a pool that is lent by amount. A statistic. */
  evaluations: number;
}

/** A pool's resources in one state that nobody holds, and those who wait for one of them. */
export interface Bucket {
  readonly pool: Pool;
  readonly state: string;
  /** Longest untouched first. */
  readonly idle: IdleList<Resource>;
  readonly queue: RankedQueue<Request>;
}

export interface Pool extends Timed {
  readonly kind: "pool";
  readonly name: PoolName;
  policy: PoolPolicy;
  /** Gone from the configuration; lives on until its last resource has come back. */
  retired: boolean;
  /** Every resource of the pool, whoever holds it, without those that are to go. */
  size: number;
  /** All of its resources, those that are to go included. */
  readonly members: Set<Resource>;
  /** By state. A shelf that is empty and that nobody waits at is taken down. */
  readonly buckets: Map<string, Bucket>;
  /** Those of its resources that are lent by amount and are usable, in the order of its strategy. */
  readonly rooms: RankedQueue<SharedRoom>;
  /** What is lent whole with them, by kind and name. */
  readonly parts: Map<string, Part>;
  /** Rooms that have become roomier since those who wait were last looked at. */
  readonly freed: Set<Room>;
  /** Those out of patience for whom nothing could be kept so far. */
  readonly starved: Set<Request>;
  /** Something may be kept for them now. */
  retryReservations: boolean;
  /** How many of its members are shown in which state; zero where there were some once. */
  readonly shown: Map<string, number>;
  /** How many of its members somebody holds. */
  held: number;
  /** How many stand in its queues. */
  waiting: number;
  /** How many of its members are dynamic, and how many of those are on their way out. */
  dynamic: number;
  leaving: number;
  /** What holding times have been lately, of it and of all that draws on it. */
  readonly holds: HoldStatistic;
  /** What it draws on, and what draws on it. */
  parent: Pool | null;
  readonly children: Set<Pool>;
  /** How many are lent of it and of all that draws on it; those that are being cleaned are not. */
  used: number;
  /** Where its pace stands; of no meaning while it has none. */
  pace: PaceState;
  /** What was said outside of whether there is room; of no meaning while nobody is asked. */
  admission: AdmissionState;
  /** Who came lately for a credit and did not wait. A note, which no journal has. */
  unmetDemand: { readonly count: number; readonly until: Instant } | null;
  /** Where its search for a start rate stands; null while it does not look for one. */
  adaptive: AdaptiveState | null;
  /** What an operator has set it to. */
  pin: Pin | null;
  /** The last changes of its rate, oldest first. Replaced, never changed in place. */
  rateHistory: readonly RateChange[];
  readonly signals: { throttled: number; ok: number };
}

export interface AdmissionState {
  /** So many more may be lent, and until when. */
  readonly credits: number;
  readonly until: Instant;
  /** Why none are, in the words of whoever looked; null: nobody said no. */
  readonly why: string | null;
}

export const unchecked: AdmissionState = { credits: 0, until: 0 as Instant, why: null };

export interface AdaptiveState {
  /** Starts per minute. */
  rate: number;
  /** Since when there was no report and no change, in whole windows, and the starts in this one. */
  windowAt: Instant;
  starts: number;
  cutAt: Instant;
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

/** The last grant's place on the time line: the next one comes so many intervals after it. */
export interface PaceState {
  readonly baseAt: Instant;
  /** As many as the last grant had claims. */
  readonly ticks: number;
  readonly everyMs: number;
  /** How much of the pace's jitter the next grant is put off by; 0 to 1. */
  readonly share: number;
}

const unpaced: PaceState = { baseAt: 0 as Instant, ticks: 0, everyMs: 0, share: 0 };

export interface HoldStatistic {
  count: number;
  meanMs: number;
}

export interface Resource extends Timed, Linked<Resource> {
  readonly kind: "resource";
  readonly name: ResourceName;
  pool: Pool;
  state: string;
  /** Whoever has all of it. Null where it is lent by amount. */
  claim: Claim | null;
  /** Where it is lent by amount. */
  room: SharedRoom | null;
  labels: Readonly<Record<string, string>>;
  /** Its labels as configured, before an operator changed any. */
  specLabels: Readonly<Record<string, string>>;
  userData: Readonly<Record<string, string>>;
  /** Why it is in its state, where somebody said so. */
  note: string;
  drained: boolean;
  /** Where it goes once it has rested, and when; `never`: it does not rest. */
  restsTo: string;
  restsUntil: Instant;
  /** Made on demand. */
  dynamic: boolean;
  /** Dynamic and marked to be deleted, whoever has it and whatever state they call it. */
  leaving: boolean;
  /** When it is marked to be deleted, if nobody holds it then. */
  expiresAt: Instant;
  /** How often in a row its cleaning has failed. */
  failures: number;
  /** Who had it last and how that ended: whoever asks twice is told the truth. */
  last: LastHolder | null;
  /** Gone from the configuration: removed as soon as nobody holds it. */
  retired: boolean;
  movesTo: Move | null;
  changedAt: Instant;
  /** The one that it is on, ready to be lent. */
  bucket: Bucket | null;
}

/** A room with those who share it. */
export interface SharedRoom extends Room {
  readonly at: Resource;
  /** Oldest first. */
  readonly claims: Set<Claim>;
  /** In its pool's index. */
  listed: boolean;
}

export interface LastHolder {
  readonly holder: string;
  readonly how: LeaseEnd;
  /** What it went to. */
  readonly state: string;
  readonly at: Instant;
}

/** So many of a pool's in one state: the items of a request, added up. */
export interface Need {
  readonly pool: Pool;
  readonly state: string;
  /** What they are in while they are held. */
  readonly into: string;
  readonly count: number;
  /** Where the pool's resources are lent by amount: what exactly. */
  readonly demands: readonly Demand[] | null;
  /** Whose parts it may share. */
  readonly owner: string;
}

export interface Request extends Ranked, Timed {
  readonly kind: "request";
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  /** What it wants itself. */
  own: Wants;
  /** The same, or for all of its company if it stands in line for them. */
  needs: Wants["needs"];
  alternatives: Wants["alternatives"];
  readonly queuedAt: Instant;
  /** Those that it is granted together with. */
  gang: Gang | null;
  /** Stands in the queues. Of a company only the last does, once all are there. */
  inLine: boolean;
  /** It has been found that it cannot go: only what has come free since can change that. */
  evaluated: boolean;
  readonly patience: Patience;
  /** What is kept for it; null while it has patience. */
  reservations: readonly KeptRoom[] | null;
}

/** Comes due when a request that wants room has waited for long enough. */
export interface Patience extends Timed {
  readonly kind: "patience";
  readonly request: RequestId;
}

/** Requests that are granted at one moment. */
export interface Gang {
  readonly name: string;
  readonly size: number;
  /** In the order of their arrival. */
  readonly members: Request[];
}

export interface Lease extends Timed {
  readonly kind: "lease";
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly queuedAt: Instant;
  readonly grantedAt: Instant;
  /** Moved on by every heartbeat. */
  expiresAt: Instant;
  /** When its holder was last heard of. */
  seenAt: Instant;
  /** False while nobody has come for it. */
  delivered: boolean;
  /** How often its asker has been told of it, as far as this process knows. */
  sent: number;
  /** Its holder has shown since that it knows of it. */
  confirmed: boolean;
  /** `never` where no lifetime is set. */
  readonly endsAt: Instant;
  /** Those not given back yet. Replaced, never changed in place: replies may still refer to it. */
  claims: readonly Claim[];
}

export interface Claim extends Timed {
  readonly kind: "claim";
  readonly id: ClaimId;
  readonly lease: Lease;
  readonly resource: Resource;
  readonly fence: number;
  readonly heldUntil: Instant;
  /** Where it is a share: how much of each dimension, and which parts. */
  readonly amount: Amounts | null;
  readonly parts: readonly Part[];
  /** The user data that its holder was given with it. */
  readonly given: Readonly<Record<string, string>>;
}

export type Due = Resource | Request | Lease | Claim | Pool | Patience;

export function emptyState(): State {
  return {
    pools: new Map(),
    orphans: new Set(),
    resources: new Map(),
    requests: new Map(),
    leases: new Map(),
    gangs: new Map(),
    keys: new Map(),
    ended: new EndedMemory(),
    due: new DueHeap(),
    fence: 0,
    order: 0,
    made: 0,
    evaluations: 0,
  };
}

export function newPool(name: PoolName, policy: PoolPolicy): Pool {
  return {
    kind: "pool",
    name,
    policy,
    retired: false,
    size: 0,
    members: new Set(),
    buckets: new Map(),
    rooms: new RankedQueue(),
    parts: new Map(),
    freed: new Set(),
    starved: new Set(),
    retryReservations: false,
    shown: new Map(),
    held: 0,
    waiting: 0,
    dynamic: 0,
    leaving: 0,
    holds: { count: 0, meanMs: 0 },
    parent: null,
    children: new Set(),
    used: 0,
    pace: unpaced,
    admission: unchecked,
    unmetDemand: null,
    adaptive: null,
    pin: null,
    rateHistory: [],
    signals: { throttled: 0, ok: 0 },
    dueAt: never,
    heapIndex: -1,
  };
}

export function newResource(
  pool: Pool,
  name: ResourceName,
  labels: Readonly<Record<string, string>>,
  at: Instant,
): Resource {
  return {
    kind: "resource",
    name,
    pool,
    state: freeState,
    claim: null,
    room: null,
    labels,
    specLabels: labels,
    userData: noEntries,
    note: "",
    drained: false,
    restsTo: freeState,
    restsUntil: never,
    dynamic: false,
    leaving: false,
    expiresAt: never,
    failures: 0,
    last: null,
    retired: false,
    movesTo: null,
    changedAt: at,
    dueAt: never,
    heapIndex: -1,
    previous: null,
    next: null,
    bucket: null,
  };
}

export const noEntries: Readonly<Record<string, string>> = Object.freeze({});

/** The state that people are shown: a drained resource that nobody holds is `drained`. */
export function shownState(resource: Resource): string {
  if (resource.drained && !isHeld(resource)) return "drained";
  return resource.room !== null && resource.room.claims.size > 0 ? busyState : resource.state;
}

/** Whether somebody has it, or a share of it. */
export function isHeld({ claim, room }: Resource): boolean {
  return claim !== null || (room !== null && room.claims.size > 0);
}

/** Everybody who has it, or a share of it, oldest first. */
export function claimsOn({ claim, room }: Resource): Iterable<Claim> {
  if (room !== null) return room.claims;
  return claim === null ? [] : [claim];
}

/** How many of a pool could be lent at this moment. */
export function freeCount(pool: Pool): number {
  return idleCount(pool, freeState);
}

export function idleCount(pool: Pool, state: string): number {
  return pool.buckets.get(state)?.idle.size ?? 0;
}

/** Where something is to be had: a need, or a shelf. */
export type Place = Pick<Need, "pool" | "state">;

/** The line at a place; nobody stands in it where there is no shelf. */
export function queueAt({ pool, state }: Place): RankedQueue<Request> {
  return pool.buckets.get(state)?.queue ?? nobody;
}

const nobody = new RankedQueue<Request>();

/** The shelf, put up if there is none. Only `apply` puts shelves up. */
export function bucketFor(pool: Pool, state: string): Bucket {
  let shelf = pool.buckets.get(state);
  if (shelf === undefined) {
    shelf = { pool, state, idle: new IdleList(), queue: new RankedQueue() };
    pool.buckets.set(state, shelf);
  }
  return shelf;
}

/** States are whatever people make of them: what is not used any more must not pile up. */
export function removeIfEmpty({ pool, state, idle, queue }: Bucket): void {
  if (idle.size === 0 && queue.size === 0 && state !== freeState) pool.buckets.delete(state);
}

/**
 * An ask's items added up by pool and state, in the order of their first mention. Shares of a pool
 * are not added up, but they are one need: they are placed together.
 */
export function needsOf(state: State, ask: Pick<Ask, "items" | "group">): Need[] {
  const needs: Need[] = [];
  for (const item of ask.items) {
    const pool = state.pools.get(item.pool);
    if (pool === undefined) continue;
    const { count, state: from = freeState, into = busyState } = item;
    const demands = pool.policy.placement === undefined ? null : [demandOf(count, item)];
    addNeed(needs, { pool, state: from, into, count, demands, owner: sharerOf(ask) });
  }
  return needs;
}

/** Whose parts a new request may share: those of its group, or nobody's. */
function sharerOf({ group }: Pick<Ask, "group">): string {
  return group === undefined ? "" : gangOwner(group.name);
}

export function gangOwner(name: string): string {
  return `group ${name}`;
}

export function addNeed(needs: Need[], need: Need): void {
  const index = needs.findIndex(({ pool, state }) => pool === need.pool && state === need.state);
  const known = needs[index];
  if (known === undefined) needs.push(need);
  else {
    const demands = known.demands === null ? null : [...known.demands, ...(need.demands ?? [])];
    needs[index] = { ...known, count: known.count + need.count, demands };
  }
}
