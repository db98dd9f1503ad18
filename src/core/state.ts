import type { Ask } from "./command.ts";
import { DueHeap, type Timed } from "./due-heap.ts";
import { EndedMemory } from "./ended-memory.ts";
import type { ResolvedAsk } from "./event.ts";
import type { IdleList, Linked } from "./idle-list.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "./ids.ts";
import type { PoolPolicy } from "./policy.ts";
import { type Ranked, RankedQueue } from "./ranked-queue.ts";
import { type Instant, never } from "./time.ts";

/** The one state from which a resource is lent. Every other state is out of the rotation. */
export const freeState = "free";
/** What a resource is while somebody holds it. */
export const busyState = "busy";
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
  readonly resources: Map<ResourceName, Resource>;
  /** Those that wait. */
  readonly requests: Map<RequestId, Request>;
  readonly leases: Map<RequestId, Lease>;
  /** From a client's own request id to ours, while the request or lease lives or is remembered. */
  readonly keys: Map<string, RequestId>;
  ended: EndedMemory;
  /** Everything that will need attention at a known time. */
  readonly due: DueHeap<Due>;
  /** The last fence given out. */
  fence: number;
  /** The last arrival number given out. */
  order: number;
}

export interface Pool {
  readonly name: PoolName;
  policy: PoolPolicy;
  /** Gone from the configuration; lives on until its last resource has come back. */
  retired: boolean;
  /** Every resource of the pool, whoever holds it, without those that are to go. */
  size: number;
  /** All of its resources, those that are to go included. */
  readonly members: Set<Resource>;
  /** Resources that nobody holds and that may be used, by state, longest idle first. */
  readonly idle: Map<string, IdleList<Resource>>;
  /** How many of its members are shown in which state; zero where there were some once. */
  readonly shown: Map<string, number>;
  readonly queue: RankedQueue<Request>;
  /** What holding times have been lately; the base of a first estimate. */
  readonly holds: HoldStatistic;
}

export interface HoldStatistic {
  count: number;
  meanMs: number;
}

export interface Resource extends Timed, Linked<Resource> {
  readonly kind: "resource";
  readonly name: ResourceName;
  pool: Pool;
  state: string;
  claim: Claim | null;
  labels: Readonly<Record<string, string>>;
  /** Its labels as configured, before an operator changed any. */
  specLabels: Readonly<Record<string, string>>;
  userData: Readonly<Record<string, string>>;
  /** Why it is in its state, where somebody said so. */
  note: string;
  drained: boolean;
  /** Where it goes once it has rested. Meaningful in the state `cooling` only. */
  restsTo: string;
  /** Gone from the configuration: removed as soon as nobody holds it. */
  retired: boolean;
  movesTo: { readonly pool: PoolName; readonly labels?: Readonly<Record<string, string>> } | null;
  changedAt: Instant;
}

/** So many of a pool: an item of a request, added up by pool. */
export interface Need {
  readonly pool: Pool;
  readonly count: number;
}

export interface Request extends Ranked, Timed {
  readonly kind: "request";
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly needs: readonly Need[];
  readonly queuedAt: Instant;
}

export interface Lease extends Timed {
  readonly kind: "lease";
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly queuedAt: Instant;
  readonly grantedAt: Instant;
  /** Moved on by every heartbeat. */
  expiresAt: Instant;
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
}

export type Due = Resource | Request | Lease | Claim;

export function emptyState(): State {
  return {
    pools: new Map(),
    resources: new Map(),
    requests: new Map(),
    leases: new Map(),
    keys: new Map(),
    ended: new EndedMemory(),
    due: new DueHeap(),
    fence: 0,
    order: 0,
  };
}

export function newPool(name: PoolName, policy: PoolPolicy): Pool {
  return {
    name,
    policy,
    retired: false,
    size: 0,
    members: new Set(),
    idle: new Map(),
    shown: new Map(),
    queue: new RankedQueue(),
    holds: { count: 0, meanMs: 0 },
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
    labels,
    specLabels: labels,
    userData: noEntries,
    note: "",
    drained: false,
    restsTo: freeState,
    retired: false,
    movesTo: null,
    changedAt: at,
    dueAt: never,
    heapIndex: -1,
    previous: null,
    next: null,
    list: null,
  };
}

export const noEntries: Readonly<Record<string, string>> = Object.freeze({});

/** The state that people are shown: a drained resource that nobody holds is `drained`. */
export function shownState(resource: Resource): string {
  return resource.drained && resource.claim === null ? "drained" : resource.state;
}

/** How many of a pool could be lent at this moment. */
export function freeCount(pool: Pool): number {
  return pool.idle.get(freeState)?.size ?? 0;
}

/** An ask's items added up by pool, in the order of their first mention. */
export function needsOf(state: State, ask: Ask): Need[] {
  const [only] = ask.items;
  if (only !== undefined && ask.items.length === 1) {
    const pool = state.pools.get(only.pool);
    return pool === undefined ? [] : [{ pool, count: only.count }];
  }
  const counts = new Map<Pool, number>();
  for (const item of ask.items) {
    const pool = state.pools.get(item.pool);
    if (pool !== undefined) counts.set(pool, (counts.get(pool) ?? 0) + item.count);
  }
  return [...counts].map(([pool, count]) => ({ pool, count }));
}
