/**
 * State as JSON and back. What can be derived (indexes, counts, references) is left out, and what
 * has an order that matters (idle lists, arrivals) is written in that order.
 */

import { linkParent } from "../gates/limits.ts";
import { EndedMemory, type FrozenEnds } from "../model/ended-memory.ts";
import type { KeptRoom, Move, ResolvedAsk } from "../model/event.ts";
import type { PoolName, RequestId, ResourceName } from "../model/ids.ts";
import { must } from "../model/must.ts";
import type { PoolPolicy } from "../model/policy.ts";
import {
  type AdmissionState,
  busyState,
  type Claim,
  emptyState,
  type HoldStatistic,
  type LastHolder,
  type Lease,
  newPool,
  newResource,
  type PaceState,
  type Pool,
  type Resource,
  type State,
  unchecked,
} from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import { setCapacity, setReservations } from "../shared/capacity.ts";
import { byKind } from "../shared/place.ts";
import type { RoomSpec } from "../shared/placement/room.ts";
import { schedulePool, scheduleResource } from "./deadlines.ts";
import { addRequest, type ClaimRecord, newLease } from "./leases.ts";
import { addMember } from "./membership.ts";

type Labels = Readonly<Record<string, string>>;

export interface FrozenState {
  readonly fence: number;
  readonly order: number;
  readonly made?: number;
  readonly pools: readonly FrozenPool[];
  readonly requests: readonly FrozenRequest[];
  readonly leases: readonly FrozenLease[];
  readonly ended: FrozenEnds;
}

interface FrozenPool {
  readonly name: PoolName;
  readonly policy: PoolPolicy;
  readonly retired: boolean;
  readonly holds: HoldStatistic;
  readonly pace?: PaceState;
  readonly admission?: AdmissionState;
  readonly rate?: FrozenRate;
  readonly resources: readonly FrozenResource[];
}

interface FrozenRate extends Pick<Pool, "adaptive" | "pin" | "rateHistory" | "signals"> {}

interface FrozenResource {
  readonly name: ResourceName;
  readonly state: string;
  readonly changedAt: Instant;
  readonly labels?: Labels;
  readonly specLabels?: Labels;
  readonly userData?: Labels;
  readonly note?: string;
  readonly drained?: true;
  readonly restsTo?: string;
  readonly restsUntil?: Instant;
  readonly dynamic?: true;
  readonly leaving?: true;
  readonly expiresAt?: Instant;
  readonly failures?: number;
  readonly last?: LastHolder;
  readonly retired?: true;
  readonly movesTo?: Move;
  readonly room?: RoomSpec;
  readonly lastFence?: number;
}

interface FrozenRequest {
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly queuedAt: Instant;
  readonly order: number;
  readonly kept?: readonly KeptRoom[];
}

interface FrozenLease {
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly queuedAt: Instant;
  readonly grantedAt: Instant;
  readonly endsAt?: Instant;
  readonly claims: readonly ClaimRecord[];
  readonly undelivered?: true;
}

export function freeze(state: State): FrozenState {
  return {
    fence: state.fence,
    order: state.order,
    made: state.made,
    pools: Array.from(state.pools.values(), freezePool),
    requests: Array.from(state.requests.values(), ({ id, ask, queuedAt, order, reservations }) => {
      return {
        id,
        ask,
        queuedAt,
        order,
        ...(reservations === null ? undefined : { kept: reservations }),
      };
    }),
    leases: Array.from(state.leases.values(), freezeLease),
    ended: state.ended.freeze(),
  };
}

/** Lists and strangers to any list in an order of their own, so that equal states freeze equally. */
function freezePool(pool: Pool): FrozenPool {
  const { name, policy, retired, holds } = pool;
  const shelves = [...pool.buckets.values()].sort((a, b) => (a.state < b.state ? -1 : 1));
  const listed = shelves.flatMap(({ idle }) => [...idle]);
  const others = [...pool.members].filter(({ bucket }) => bucket === null);
  others.sort((a, b) => (a.name < b.name ? -1 : 1));
  const resources = [...listed, ...others].map(freezeResource);
  const pace = pool.pace.ticks === 0 ? undefined : { pace: pool.pace };
  const admission = pool.admission === unchecked ? undefined : { admission: pool.admission };
  const flow = { ...pace, ...admission, ...freezeRate(pool) };
  return { name, policy, retired, holds: { ...holds }, ...flow, resources };
}

function freezeRate(pool: Pool): { readonly rate: FrozenRate } | undefined {
  const { adaptive, pin, rateHistory, signals } = pool;
  const { throttled, ok } = signals;
  if (rateHistory.length === 0 && throttled + ok === 0) return undefined;
  return {
    rate: { adaptive: adaptive && { ...adaptive }, pin, rateHistory, signals: { ...signals } },
  };
}

function freezeResource(resource: Resource): FrozenResource {
  const { name, state, changedAt, labels, specLabels, userData, note, movesTo } = resource;
  const { restsTo, restsUntil, expiresAt, failures, last, room } = resource;
  return {
    name,
    state,
    changedAt,
    ...(isEmpty(labels) ? undefined : { labels }),
    ...(labels === specLabels ? undefined : { specLabels }),
    ...(isEmpty(userData) ? undefined : { userData }),
    ...(note === "" ? undefined : { note }),
    ...(resource.drained ? { drained: true as const } : undefined),
    ...(restsUntil === never ? undefined : { restsTo, restsUntil }),
    ...(resource.dynamic ? { dynamic: true as const } : undefined),
    ...(resource.leaving ? { leaving: true as const } : undefined),
    ...(expiresAt === never ? undefined : { expiresAt }),
    ...(failures === 0 ? undefined : { failures }),
    ...(last === null ? undefined : { last }),
    ...(resource.retired ? { retired: true as const } : undefined),
    ...(movesTo === null ? undefined : { movesTo }),
    ...(room === null ? undefined : { room: room.spec, lastFence: room.lastFence }),
  };
}

function freezeLease(lease: Lease): FrozenLease {
  const { id, ask, queuedAt, grantedAt, endsAt } = lease;
  return {
    id,
    ask,
    queuedAt,
    grantedAt,
    ...(endsAt === never ? undefined : { endsAt }),
    claims: lease.claims.map(freezeClaim),
    ...(lease.delivered ? undefined : { undelivered: true as const }),
  };
}

function freezeClaim(claim: Claim): ClaimRecord {
  const { id, resource, fence, heldUntil, amount, parts, given } = claim;
  const shared = amount === null ? undefined : { amount };
  return {
    id,
    resource: resource.name,
    fence,
    ...(heldUntil === never ? undefined : { heldUntil }),
    ...(amount !== null || resource.state === busyState ? undefined : { into: resource.state }),
    ...(given === resource.userData ? undefined : { given }),
    ...shared,
    ...(parts.length === 0 ? undefined : { parts: byKind(parts) }),
  };
}

/**
 * A state that behaves as the frozen one did. Nobody in it is expected to be heard from at any
 * time yet: the shell gives grace first, as after every restart.
 */
export function thaw(frozen: FrozenState): State {
  const state = emptyState();
  state.fence = frozen.fence;
  state.order = frozen.order;
  state.made = frozen.made ?? 0;
  for (const frozenPool of frozen.pools) {
    const { name, policy, retired, holds, pace, rate, admission, resources } = frozenPool;
    const pool = newPool(name, policy);
    pool.retired = retired;
    if (admission !== undefined) pool.admission = admission;
    if (pace !== undefined) pool.pace = pace;
    if (rate !== undefined) Object.assign(pool, rate);
    Object.assign(pool.holds, holds);
    state.pools.set(name, pool);
    for (const resource of resources) thawResource(state, pool, resource);
  }
  for (const pool of state.pools.values()) linkParent(state, pool);
  state.ended = EndedMemory.thaw(frozen.ended);
  const { older, recent } = frozen.ended.keyed;
  for (const { id, key } of [...older, ...recent]) {
    if (key !== undefined) state.keys.set(key, id);
  }
  for (const lease of frozen.leases) thawLease(state, lease);
  for (const { id, ask, queuedAt, order } of frozen.requests) {
    addRequest(state, id, ask, queuedAt, order);
  }
  for (const pool of state.pools.values()) schedulePool(state, pool, longAgo);
  for (const { id, kept } of frozen.requests) if (kept !== undefined) thawKept(state, id, kept);
  return state;
}

/** No time is known here: what has opened meanwhile is found at the first tick. */
const longAgo = Number.NEGATIVE_INFINITY as Instant;

function thawResource(state: State, pool: Pool, frozen: FrozenResource): void {
  const { room, lastFence = 0, ...facts } = frozen;
  const resource = newResource(pool, facts.name, facts.labels ?? {}, facts.changedAt);
  Object.assign(resource, facts);
  if (room !== undefined) setCapacity(resource, room);
  if (resource.room !== null) resource.room.lastFence = lastFence;
  addMember(state, resource);
  scheduleResource(state, resource);
}

function thawLease(state: State, frozen: FrozenLease): void {
  const delivered = frozen.undelivered !== true;
  newLease(state, { ...frozen, endsAt: frozen.endsAt ?? never, delivered });
  if (frozen.ask.key !== undefined) state.keys.set(frozen.ask.key, frozen.id);
}

function thawKept(state: State, id: RequestId, kept: readonly KeptRoom[]): void {
  const request = must(state.requests.get(id), id);
  state.due.clear(request.patience);
  setReservations(request, kept, (name) => must(state.resources.get(name), name));
}

function isEmpty(entries: Labels): boolean {
  for (const _ in entries) return false;
  return true;
}
