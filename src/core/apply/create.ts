/** Creates an empty state, a pool, a bucket and a resource. */
import { DueHeap, IdleList, OrderedTree } from "../model/collections.ts";
import { EndedMemory } from "../model/ended-memory.ts";
import { FairQueue } from "../model/fair-queue.ts";
import type { PoolName, ResourceName } from "../model/ids.ts";
import { freeState } from "../model/lifecycle.ts";
import type { PoolPolicy } from "../model/policy.ts";
import { plainPriorities } from "../model/priority.ts";
import { defaultSpacePolicy } from "../model/space.ts";
import {
  type Bucket,
  type Due,
  type ExclusiveResource,
  noEntries,
  type PaceState,
  type Pool,
  type Request,
  type SharedResource,
  type State,
  unchecked,
} from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import {
  type CapacitySpec,
  compareStanding,
  type Standing,
} from "../shared/placement/shareable.ts";

export function emptyState(): State {
  return {
    pools: new Map(),
    orphans: new Set(),
    resources: new Map(),
    requests: new Map(),
    leases: new Map(),
    spaces: new Map(),
    spacePolicies: new Map(),
    otherSpaces: defaultSpacePolicy,
    cohorts: new Map(),
    priorities: plainPriorities,
    gangs: new Map(),
    keys: new Map(),
    ended: new EndedMemory(),
    due: new DueHeap<Due>(),
    fence: 0,
    order: 0,
    made: 0,
    orphanClusters: new Map(),
    hubs: new Map(),
    cache: { evaluations: 0 },
  };
}

const unpaced: PaceState = { baseAt: 0 as Instant, ticks: 0, everyMs: 0, share: 0 };

export function newPool(name: PoolName, policy: PoolPolicy): Pool {
  const buckets = new Map<string, Bucket>();
  const pool: Pool = {
    kind: "pool",
    name,
    policy,
    retired: false,
    size: 0,
    members: new Set(),
    buckets,
    shared: new OrderedTree<SharedResource, Standing>(compareStanding),
    parts: new Map(),
    impatient: new Set(),
    shown: new Map(),
    held: 0,
    waiting: 0,
    dynamic: 0,
    suspended: null,
    leaving: 0,
    clusters: null,
    hubs: null,
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
    cache: {
      ...{
        gates: null,
        freed: new Set(),
        capacities: null,
        triedReservations: false,
        passedOver: new Set(),
      },
      starving: null,
    },
    dueAt: never,
    heapIndex: -1,
  };
  buckets.set(freeState, newBucket(pool, freeState));
  return pool;
}

export function newBucket(pool: Pool, state: string): Bucket {
  return {
    pool,
    state,
    idle: new IdleList<ExclusiveResource>(),
    queue: new FairQueue<Request>(pool),
    selecting: 0,
    cache: { matches: { bySelection: new Map(), byName: null } },
  };
}

/** The values of a new resource. */
export interface Birth {
  readonly pool: Pool;
  readonly name: ResourceName;
  readonly labels: Readonly<Record<string, string>>;
  readonly at: Instant;
}

export function newExclusive(birth: Birth): ExclusiveResource {
  return {
    sharing: "exclusive",
    ...plain(birth),
    claim: null,
    cluster: null,
    hub: null,
    bucket: null,
    previous: null,
    next: null,
  };
}

/** Has no levels and parts yet: `setCapacity` adds them. */
export function newShared(birth: Birth, spec: CapacitySpec): SharedResource {
  return {
    sharing: "shared",
    ...plain(birth),
    spec,
    levels: [],
    parts: new Map(),
    reservations: [],
    lastFence: 0,
    claims: new Set(),
    listed: false,
    standing: 0,
    order: spec.index,
  };
}

function plain({ pool, name, labels, at }: Birth) {
  return {
    kind: "resource" as const,
    name,
    pool,
    state: freeState as string,
    labels,
    specLabels: labels,
    userData: noEntries,
    note: "",
    drained: false,
    drainReason: null,
    restsTo: freeState as string,
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
  };
}
