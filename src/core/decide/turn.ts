/** The decision on one command: the state, the time, and the events so far. */
import { apply } from "../apply/apply.ts";
import { cohortOf, descendants, hasCohort } from "../gates/limits.ts";
import type { BrokerEvent, EventOf, HubEvent } from "../model/event.ts";
import type { RequestId, ResourceName, SpaceName } from "../model/ids.ts";
import { spaceCohort } from "../model/space.ts";
import { isShared, type Pool, type Request, type State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { overtakenMax } from "../queue/leftover.ts";
import { hasChoice, leaderOf } from "../queue/needs.ts";
import type { DecisionBudget } from "../shared/place.ts";
import { searchMax } from "../shared/placement/plan.ts";

export interface Turn {
  readonly state: State;
  readonly now: Instant;
  readonly events: BrokerEvent[];
  /**
   * Pools in which a request may now be granted, or which need upkeep. `settle` empties the set.
   */
  readonly touched: Set<Pool>;
  /** Pools whose leases may be ended for a waiting request. `preempt` empties the set. */
  readonly preempting: Set<Pool>;
  /** The number of events when a pool of clusters was planned last. */
  plannedAt: Map<Pool, number> | null;
  /** How often this decision has planned a pool of clusters. */
  plans: Map<Pool, number> | null;
  /** Events among the command's own that only follow from these, if `settle` ran early. */
  following: Set<BrokerEvent> | null;
  /** How many more spaces this decision may look at that may be starved. */
  starvedLeft: number;
  /** What the searches for room of this decision may still use together. */
  readonly search: DecisionBudget;
  /** The waiting request that is being evaluated. A failure is attributed to it. */
  evaluating: RequestId | null;
}

export function newTurn(state: State, now: Instant): Turn {
  return {
    state,
    now,
    events: [],
    touched: new Set(),
    preempting: new Set(),
    plannedAt: null,
    plans: null,
    following: null,
    starvedLeft: 100,
    search: { left: searchMax, wasCut: false },
    evaluating: null,
  };
}

/**
 * Applies an event at once, so that the rest of the decision sees it, and records the pools that it
 * touches. `settle` then checks these pools, so no command has to.
 */
export function emit(turn: Turn, event: BrokerEvent): void {
  // Find these pools before `apply`, which removes the request or resource.
  const leaving = leavingBy(turn.state, event);
  apply(turn.state, event, turn.now);
  turn.events.push(event);
  for (let index = 0; index < leaving.length; index++) turn.touched.add(leaving[index] as Pool);
  touch(turn, event);
  if (turn.state.spaces.size > 0) touchSpace(turn, event);
}

/** The pools that a request or a resource leaves with this event. */
function leavingBy(state: State, event: BrokerEvent): readonly Pool[] {
  switch (event.type) {
    case "request-left": {
      const request = state.requests.get(event.id);
      return request === undefined ? none : leaderOf(request).needs.map(({ pool }) => pool);
    }
    case "lease-granted":
    case "claim-replaced": {
      const request = state.requests.get(
        event.type === "claim-replaced" ? event.request : event.id,
      );
      return request === undefined ? none : queuesThatMove(leaderOf(request));
    }
    case "resource-moved":
    case "resource-removed":
    case "cluster-abandoned":
      return poolsThatGain(state, event.resource);
    case "pool-removed":
      return listed(state.pools.get(event.pool)?.parent);
    default:
      return none;
  }
}

const none: readonly Pool[] = [];

/**
 * Pools of clusters share limits: what one no longer uses, another may make. And the quotas of the
 * space that had the cluster may be open now.
 */
function poolsThatGain(state: State, name: ResourceName): readonly Pool[] {
  const resource = state.resources.get(name);
  if (resource?.sharing !== "exclusive" || resource.cluster === null) return listed(resource?.pool);
  const { cluster, pool } = resource;
  const gaining = hasCohort(pool) ? [...cohortOf(pool)] : [pool];
  const space = cluster.space === null ? undefined : state.spaces.get(cluster.space);
  for (const { queue } of space?.lines ?? []) if (queue.pool !== null) gaining.push(queue.pool);
  if (resource.hub !== null) gaining.push(...resource.hub.pools);
  return gaining;
}

function listed(pool: Pool | null | undefined): readonly Pool[] {
  return pool === null || pool === undefined ? none : [pool];
}

/**
 * Pools in which a grant lets other requests move up: only the first part of a queue is evaluated,
 * or the granted request also waited for an alternative here.
 */
function queuesThatMove(request: Request): readonly Pool[] {
  let pools: Pool[] | undefined;
  for (const { pool, sharing } of request.needs) {
    const moves = hasChoice(request) || sharing === "shared" || pool.waiting >= overtakenMax;
    if (!moves) continue;
    pools ??= [];
    pools.push(pool);
  }
  return pools ?? none;
}

/** Touches the pools in which an event frees resources or queues a request that may be granted. */
function touch(turn: Turn, event: BrokerEvent): void {
  switch (event.type) {
    case "lease-ended":
      return touchReturned(turn, event.back);
    case "claim-ended":
      return touchResource(turn, event.back.resource);
    case "lease-granted":
    case "claim-replaced":
      return touchCohorts(turn, "granted" in event ? [event.granted] : event.claims);
    case "priority-changed":
      return touchMoved(turn, turn.state.requests.get(event.id));
    case "request-queued":
      return touchQueued(turn, turn.state.requests.get(event.id));
    case "resource-added":
    case "resource-adopted":
    case "resource-changed":
    case "resource-kept":
    case "resource-moved":
    case "resource-relabelled":
    case "resource-resized":
    case "resource-rested":
    case "resource-retired":
    case "cluster-held":
    case "cluster-lost":
    case "cluster-moved":
    case "cluster-wanted":
      return touchResource(turn, event.resource);
    case "pool-admitted":
    case "pool-attended":
    case "pool-resumed":
    case "pool-withheld":
    case "rate-changed":
      return touchPool(turn, turn.state.pools.get(event.pool));
    case "pool-defined":
    case "pool-retired":
    case "spaces-defined":
      return touchAll(turn);
    case "deadline-postponed":
    case "demand-unmet":
    case "grace-given":
    case "lease-delivered":
    case "event-skipped":
    case "lease-renewed":
    case "lease-revoked":
    case "notice-given":
    case "pool-removed":
    case "pool-signalled":
    case "pool-suspended":
    case "priorities-defined":
    case "request-left":
    case "request-seen":
    case "resource-removed":
    case "room-kept":
    case "cluster-abandoned":
    case "cluster-reported":
    case "cluster-stuck":
    case "orphan-found":
    case "orphan-gone":
      return;
    default:
      return touchHubs(turn, event);
  }
}

function touchHubs(turn: Turn, event: HubEvent): void {
  switch (event.type) {
    case "hub-probed":
    case "hub-set":
      return touchHub(turn, event.name);
    case "hub-defined":
    case "hub-retired":
      return touchAll(turn);
    default:
      return unreachable(event);
  }
}

/** Touches the pools of a request that stands elsewhere in their queues now. */
function touchMoved({ touched }: Turn, request: Request | undefined): void {
  if (request?.inLine !== true) return;
  for (const { pool, sharing } of request.needs) {
    touched.add(pool);
    if (sharing !== "shared") continue;
    forgetReserved(pool);
    pool.cache.triedReservations = false;
  }
}

/**
 * Touches the pools in which a space waits, when it holds more or less: it may stand elsewhere in
 * their queues now, and its quotas may be open.
 */
function touchSpace(turn: Turn, event: BrokerEvent): void {
  const { state, touched } = turn;
  switch (event.type) {
    case "request-queued":
      // A request within its quota may hold back one that borrows and that kept resources so far.
      if (event.ask.space !== undefined) touchCohort(turn, event.ask.space);
      return;
    case "request-left":
    case "lease-granted":
    case "lease-ended":
    case "claim-replaced":
    case "claim-ended": {
      const lease = state.leases.get(event.id);
      const name = lease === undefined ? state.ended.get(event.id)?.space : lease.ask.space;
      if (name === undefined) return;
      touchCohort(turn, name);
      const space = event.type === "request-left" ? undefined : state.spaces.get(name);
      for (const { queue } of space?.lines ?? []) {
        if (queue.pool === null) continue;
        touched.add(queue.pool);
        if (isShared(queue.pool)) forgetReserved(queue.pool);
      }
      return;
    }
    default:
      return;
  }
}

/** Touches the pools whose quotas the cohort of a space shares: others may borrow more now. */
function touchCohort({ state, touched }: Turn, name: SpaceName): void {
  if (state.cohorts.size === 0) return;
  for (const { pool: quoted } of spaceCohort(state, name)?.quotas.values() ?? []) {
    const pool = state.pools.get(quoted);
    if (pool === undefined) continue;
    for (const below of descendants(pool)) if (below.waiting > 0) touched.add(below);
  }
}

/**
 * Reservations count against other requests than before, because the order has changed. So all
 * requests that did not fit beside them are evaluated again.
 */
function forgetReserved({ shared, cache }: Pool): void {
  for (const { reservations } of shared) {
    if (reservations.length === 0) continue;
    for (const resource of shared) cache.freed.add(resource);
    return;
  }
}

/** Touches all pools, because requests with alternatives may now wait in other queues. */
function touchAll({ state, touched }: Turn): void {
  for (const pool of state.pools.values()) touched.add(pool);
}

/** Touches the pools that may use a hub, and those that have clusters there. */
function touchHub({ state, touched }: Turn, name: string): void {
  const hub = state.hubs.get(name);
  for (const pool of hub?.pools ?? []) touched.add(pool);
  for (const { pool } of hub?.clusters ?? []) touched.add(pool);
}

function touchPool({ touched }: Turn, pool: Pool | undefined): void {
  if (pool !== undefined) touched.add(pool);
}

function touchReturned(turn: Turn, back: EventOf<"lease-ended">["back"]): void {
  for (const { resource } of back) touchResource(turn, resource);
}

function touchResource({ state, touched }: Turn, name: ResourceName): void {
  const pool = state.resources.get(name)?.pool;
  if (pool !== undefined) touched.add(pool);
}

/**
 * Touches pools with shared limits, and pools of clusters, which make another. A request ahead that now finds nothing free no longer keeps the
 * limit from others.
 */
function touchCohorts(
  { state, touched }: Turn,
  claims: readonly { readonly resource: ResourceName }[],
): void {
  for (const { resource } of claims) {
    const pool = state.resources.get(resource)?.pool;
    if (pool !== undefined && (hasCohort(pool) || pool.clusters !== null)) touched.add(pool);
  }
}

/**
 * Touches the pools of a new request only if a dynamic resource may be made for it or its gang is
 * complete. In all other cases `acquire` has found that it does not fit.
 */
function touchQueued({ touched, preempting }: Turn, request: Request | undefined): void {
  if (request === undefined) return;
  const isWhole = request.gang !== null && request.inLine;
  for (const { pool } of request.needs) {
    if (isWhole || pool.policy.dynamic !== undefined || pool.clusters !== null) touched.add(pool);
    if (pool.policy.preempt === true) preempting.add(pool);
  }
}

function unreachable(event: never): never {
  throw new Error(`Cannot find the pools that an event touches: ${JSON.stringify(event)}`);
}
