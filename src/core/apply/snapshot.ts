/**
 * Converts a state to JSON and back. Omits what can be derived (indexes, counts, references). Idle
 * lists and arrivals are written in their order, because it matters.
 */

import type { Cluster, Phase } from "../model/cluster.ts";
import { parametersKeyOf } from "../model/cluster.ts";
import type { Reason } from "../model/command.ts";
import { EndedMemory, type FrozenEnds } from "../model/ended-memory.ts";
import type { KeptRoom, Move, ResolvedAsk } from "../model/event.ts";
import type { PoolName, RequestId, ResourceName, SpaceName } from "../model/ids.ts";
import { busyState } from "../model/lifecycle.ts";
import type { OrphanCluster } from "../model/orphan.ts";
import { type PoolPolicy, same } from "../model/policy.ts";
import { type PrioritiesSpec, plainPriorities } from "../model/priority.ts";
import { defaultSpacePolicy, type Elsewhere, type SpacesSpec, type Turns } from "../model/space.ts";
import {
  type AdaptiveState,
  type AdmissionState,
  type Claim,
  type ClusterStock,
  type HoldStatistic,
  type LastHolder,
  type Lease,
  must,
  noEntries,
  type PaceState,
  type PhaseStatistic,
  type Pool,
  type Request,
  type Resource,
  type Revoked,
  type State,
  type Suspension,
  unchecked,
} from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";
import { byKind } from "../shared/place.ts";
import type { CapacitySpec } from "../shared/placement/shareable.ts";
import { keepStock } from "./clusters.ts";
import { emptyState, newPool } from "./create.ts";
import { edit } from "./edit.ts";
import { keysOf, type OddKeys, oddKeys } from "./frozen-keys.ts";
import { addHub, type FrozenHub, freezeHub, linkPool } from "./hubs.ts";
import { addMember, linkParent, schedule, schedulePool, scheduleResource } from "./indexes.ts";
import { addLease, addRequest, type ClaimRecord, giveNotice, revokeLease } from "./leases.ts";
import type { Ranked } from "./priorities.ts";
import { newResource } from "./resources.ts";
import { setReservations } from "./shared.ts";
import { chargeCluster, countElsewhere, spacesDefined } from "./spaces.ts";

type Labels = Readonly<Record<string, string>>;

export interface FrozenState {
  readonly fence: number;
  readonly order: number;
  readonly made?: number;
  readonly orphanClusters?: readonly OrphanCluster[];
  readonly hubs?: readonly FrozenHub[];
  readonly spaces?: SpacesSpec;
  readonly priorities?: PrioritiesSpec;
  readonly pools: readonly FrozenPool[];
  readonly requests: readonly FrozenRequest[];
  readonly leases: readonly FrozenLease[];
  readonly ended: FrozenEnds;
  readonly turns?: readonly FrozenTurns[];
  readonly oddKeys?: OddKeys;
  /** Only in a copy of some of the pools: what its spaces hold of the others. `cost` is that of all pools. */
  readonly elsewhere?: readonly (Elsewhere & { readonly space: SpaceName })[];
}

interface FrozenTurns extends Turns {
  readonly space: SpaceName;
  readonly pool: PoolName;
}

interface FrozenPool {
  readonly name: PoolName;
  readonly policy: PoolPolicy;
  readonly retired: boolean;
  readonly holds: HoldStatistic;
  readonly pace?: PaceState;
  readonly admission?: AdmissionState;
  readonly rate?: FrozenRate;
  readonly suspended?: Suspension;
  readonly clusters?: ClusterStock;
  readonly resources: readonly FrozenResource[];
}

type FrozenPhase = PhaseStatistic | HoldStatistic;

/** As it may be in a snapshot, also of an earlier version. */
interface FrozenStock extends Omit<ClusterStock, "phases"> {
  readonly phases: Readonly<Record<Phase, FrozenPhase>>;
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
  readonly drainReason?: Reason;
  readonly restsTo?: string;
  readonly restsUntil?: Instant;
  readonly dynamic?: true;
  readonly leaving?: true;
  readonly expiresAt?: Instant;
  readonly failures?: number;
  readonly last?: LastHolder;
  readonly retired?: true;
  readonly movesTo?: Move;
  readonly room?: CapacitySpec;
  readonly lastFence?: number;
  readonly cluster?: FrozenCluster;
}

/** JSON has no infinity, so `deadlineAt` is absent while the phase has no deadline. */
type FrozenCluster = Omit<Cluster, "deadlineAt" | "parametersKey"> & {
  readonly deadlineAt?: Instant;
};

interface FrozenRequest {
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly queuedAt: Instant;
  readonly order: number;
  /** If it has changed since the arrival. */
  readonly ranked?: Ranked;
  readonly kept?: readonly KeptRoom[];
}

interface FrozenLease {
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly queuedAt: Instant;
  readonly grantedAt: Instant;
  /** If it is not that of the ask. */
  readonly priority?: number;
  readonly endsAt?: Instant;
  readonly claims: readonly ClaimRecord[];
  readonly undelivered?: true;
  readonly revoked?: Revoked;
  readonly notice?: Revoked;
}

export function freeze(state: State): FrozenState {
  const known = {
    requests: Array.from(state.requests.values(), freezeRequest),
    leases: Array.from(state.leases.values(), freezeLease),
    ended: state.ended.freeze(),
  };
  const odd = oddKeys(state.keys, known);
  return {
    fence: state.fence,
    order: state.order,
    made: state.made,
    ...freezeOrphans(state),
    ...(state.hubs.size === 0 ? undefined : { hubs: Array.from(state.hubs.values(), freezeHub) }),
    ...freezeSpaces(state),
    ...(same(state.priorities, plainPriorities) ? undefined : { priorities: state.priorities }),
    pools: Array.from(state.pools.values(), freezePool),
    ...known,
    ...freezeTurns(state),
    ...(odd.length === 0 ? undefined : { oddKeys: odd }),
  };
}

function freezeOrphans({ orphanClusters }: State): Pick<FrozenState, "orphanClusters"> {
  return orphanClusters.size === 0 ? {} : { orphanClusters: [...orphanClusters.values()] };
}

/** By name, so that equal states give equal JSON. */
function freezeTurns({ spaces, pools }: State): Pick<FrozenState, "turns"> {
  const all: FrozenTurns[] = [];
  for (const { name: space, turns } of spaces.values()) {
    for (const [{ name: pool }, times] of turns) {
      if (pools.has(pool)) all.push({ space, pool, ...times });
    }
  }
  const keyOf = ({ space, pool }: FrozenTurns) => `${space} ${pool}`;
  return all.length === 0 ? {} : { turns: all.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
}

function freezeRequest(request: Request): FrozenRequest {
  const { id, ask, queuedAt, order, reservations, priority, ownPriority, rankedAt } = request;
  const { isStarved } = request;
  const isRanked = isStarved || rankedAt !== queuedAt || priority !== (ask.priority ?? 0);
  const starved = isStarved ? { starved: true as const } : undefined;
  return {
    ...{ id, ask, queuedAt, order },
    ...(isRanked
      ? { ranked: { priority, own: ownPriority, at: rankedAt, ...starved } }
      : undefined),
    ...(reservations === null ? undefined : { kept: reservations }),
  };
}

function freezeSpaces({ spacePolicies, otherSpaces }: State): { readonly spaces?: SpacesSpec } {
  if (spacePolicies.size === 0 && same(otherSpaces, defaultSpacePolicy)) return {};
  const spaces = Array.from(spacePolicies, ([name, policy]) => ({ name, policy }));
  return { spaces: { spaces, others: otherSpaces } };
}

/**
 * Writes idle resources in the order of their lists and all others by name, so that equal states
 * give equal JSON.
 */
function freezePool(pool: Pool): FrozenPool {
  const { name, policy, retired, holds } = pool;
  const buckets = [...pool.buckets.values()].sort((a, b) => (a.state < b.state ? -1 : 1));
  const listed: Resource[] = buckets.flatMap(({ idle }) => [...idle]);
  const others = [...pool.members].filter(isNotIdle);
  others.sort((a, b) => (a.name < b.name ? -1 : 1));
  const resources = [...listed, ...others].map(freezeResource);
  const { ticks, everyMs } = pool.pace;
  const pace = ticks === 0 && everyMs === 0 ? undefined : { pace: pool.pace };
  const admission = pool.admission === unchecked ? undefined : { admission: pool.admission };
  const flow = { ...pace, ...admission, ...freezeRate(pool) };
  const suspended = pool.suspended === null ? undefined : { suspended: pool.suspended };
  const clusters = pool.clusters === null ? undefined : { clusters: copyOf(pool.clusters) };
  const rest = { ...flow, ...suspended, ...clusters };
  return { name, policy, retired, holds: { ...holds }, ...rest, resources };
}

function copyOf({ phases, arrivals }: FrozenStock): ClusterStock {
  const { creating, stopping, resuming, destroying } = phases;
  const copy = { creating: phaseOf(creating), stopping: phaseOf(stopping) };
  return {
    phases: { ...copy, resuming: phaseOf(resuming), destroying: phaseOf(destroying) },
    arrivals,
  };
}

/** Earlier snapshots have a mean. It stands for one recent time. */
function phaseOf(phase: FrozenPhase): PhaseStatistic {
  if ("recentMs" in phase) return { ...phase };
  const { count, meanMs } = phase;
  return { count, recentMs: count === 0 ? [] : [meanMs], usualMs: meanMs };
}

function isNotIdle(resource: Resource): boolean {
  return resource.sharing === "shared" || resource.bucket === null;
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
  const { restsTo, restsUntil, expiresAt, failures, last, drainReason } = resource;
  return {
    name,
    state,
    changedAt,
    ...(isEmpty(labels) ? undefined : { labels }),
    ...(labels === specLabels ? undefined : { specLabels }),
    ...(isEmpty(userData) ? undefined : { userData }),
    ...(note === "" ? undefined : { note }),
    ...(resource.drained ? { drained: true as const } : undefined),
    ...(drainReason === null ? undefined : { drainReason }),
    ...(restsUntil === never ? undefined : { restsTo, restsUntil }),
    ...(resource.dynamic ? { dynamic: true as const } : undefined),
    ...(resource.leaving ? { leaving: true as const } : undefined),
    ...(expiresAt === never ? undefined : { expiresAt }),
    ...(failures === 0 ? undefined : { failures }),
    ...(last === null ? undefined : { last }),
    ...(resource.retired ? { retired: true as const } : undefined),
    ...(movesTo === null ? undefined : { movesTo }),
    ...(resource.sharing === "exclusive"
      ? undefined
      : { room: resource.spec, lastFence: resource.lastFence }),
    ...(resource.sharing === "shared" || resource.cluster === null
      ? undefined
      : { cluster: freezeCluster(resource.cluster) }),
  };
}

function freezeCluster({ parametersKey: _, deadlineAt, ...rest }: Cluster): FrozenCluster {
  return deadlineAt === never ? rest : { ...rest, deadlineAt };
}

function thawCluster(frozen: FrozenCluster): Cluster {
  const parametersKey = parametersKeyOf(frozen.parameters);
  return { ...frozen, deadlineAt: frozen.deadlineAt ?? never, parametersKey };
}

function freezeLease(lease: Lease): FrozenLease {
  const { id, ask, queuedAt, grantedAt, endsAt, priority } = lease;
  return {
    ...{ id, ask, queuedAt, grantedAt },
    ...(priority === (ask.priority ?? 0) ? undefined : { priority }),
    ...(endsAt === never ? undefined : { endsAt }),
    claims: lease.claims.map(freezeClaim),
    ...(lease.delivered ? undefined : { undelivered: true as const }),
    ...(lease.revoked === null ? undefined : { revoked: lease.revoked }),
    ...(lease.notice === null ? undefined : { notice: lease.notice }),
  };
}

function freezeClaim(claim: Claim): ClaimRecord {
  const { id, resource, fence, heldUntil, amount, parts, given, purpose } = claim;
  const shared = amount === null ? undefined : { amount };
  return {
    id,
    resource: resource.name,
    fence,
    ...(heldUntil === never ? undefined : { heldUntil }),
    ...(amount !== null || resource.state === busyState ? undefined : { into: resource.state }),
    ...(purpose === "provision" ? { purpose } : undefined),
    ...(given === resource.userData ? undefined : { given }),
    ...shared,
    ...(parts.length === 0 ? undefined : { parts: byKind(parts) }),
  };
}

/**
 * Restores a state that behaves like the frozen one. Deadlines of holders and clients are not valid
 * yet: the caller must send `give-grace` first, as after every restart.
 */
export function thaw(frozen: FrozenState): State {
  const state = emptyState();
  const writable = edit(state);
  writable.fence = frozen.fence;
  writable.order = frozen.order;
  writable.made = frozen.made ?? 0;
  for (const one of frozen.orphanClusters ?? []) edit(state.orphanClusters).set(one.instance, one);
  if (frozen.spaces !== undefined)
    spacesDefined(state, { type: "spaces-defined", ...frozen.spaces });
  if (frozen.priorities !== undefined) writable.priorities = frozen.priorities;
  for (const hub of frozen.hubs ?? []) addHub(state, hub);
  for (const pool of frozen.pools) thawPool(state, pool);
  for (const pool of state.pools.values()) linkPool(state, pool);
  for (const pool of state.pools.values()) linkParent(state, pool);
  for (const resource of state.resources.values()) {
    if (resource.sharing === "exclusive" && resource.cluster !== null) {
      chargeCluster(state, resource, 1);
    }
  }
  writable.ended = EndedMemory.thaw(frozen.ended);
  for (const lease of frozen.leases) thawLease(state, lease);
  for (const { id, ask, queuedAt, order, ranked } of frozen.requests) {
    addRequest(state, id, ask, queuedAt, order, ranked);
  }
  for (const { space, pool, ...times } of frozen.turns ?? []) {
    const [known, of] = [state.spaces.get(space), state.pools.get(pool)];
    if (known !== undefined && of !== undefined) edit(known.turns).set(of, times);
  }
  for (const { space: name, ...elsewhere } of frozen.elsewhere ?? []) {
    const space = state.spaces.get(name);
    if (space !== undefined) countElsewhere(space, elsewhere);
  }
  writable.keys = keysOf(frozen, frozen.oddKeys);
  for (const pool of state.pools.values()) schedulePool(state, pool, longAgo);
  for (const { id, kept } of frozen.requests) {
    if (kept !== undefined) thawReservations(state, id, kept);
  }
  return state;
}

/** The current time is unknown here. The first tick finds the gates that have opened since. */
const longAgo = Number.MIN_SAFE_INTEGER as Instant;

function thawPool(state: State, frozen: FrozenPool): void {
  const { name, policy, retired, holds, pace, rate, admission, suspended, resources } = frozen;
  const pool = newPool(name, policy);
  const writable = edit(pool);
  writable.retired = retired;
  if (suspended !== undefined) writable.suspended = suspended;
  if (admission !== undefined) writable.admission = admission;
  if (pace !== undefined) writable.pace = pace;
  if (rate !== undefined) {
    Object.assign(writable, rate);
    writable.adaptive = rate.adaptive && thawAdaptive(rate.adaptive);
  }
  Object.assign(writable.holds, holds);
  if (frozen.clusters !== undefined) writable.clusters = copyOf(frozen.clusters);
  else keepStock(pool);
  edit(state.pools).set(name, pool);
  for (const resource of resources) thawResource(state, pool, resource);
}

/** JSON has no infinity, so `cutAt` is absent if the rate was never cut. */
function thawAdaptive(adaptive: AdaptiveState): AdaptiveState {
  return { ...adaptive, cutAt: adaptive.cutAt ?? (-never as Instant) };
}

function thawResource(state: State, pool: Pool, frozen: FrozenResource): void {
  const { room, lastFence = 0, cluster, ...facts } = frozen;
  const { name, labels = noEntries, changedAt } = facts;
  const resource = newResource({ pool, name, labels, at: changedAt }, room);
  Object.assign(edit(resource), facts);
  if (resource.sharing === "shared") edit(resource).lastFence = lastFence;
  else if (cluster !== undefined) edit(resource).cluster = thawCluster(cluster);
  addMember(state, resource);
  scheduleResource(state, resource);
}

function thawLease(state: State, frozen: FrozenLease): void {
  const delivered = frozen.undelivered !== true;
  const { endsAt = never, priority = frozen.ask.priority ?? 0 } = frozen;
  const lease = addLease(state, { ...frozen, endsAt, priority, delivered });
  if (frozen.notice !== undefined) giveNotice(state, lease, frozen.notice);
  if (frozen.revoked !== undefined) revokeLease(state, lease, frozen.revoked);
}

function thawReservations(state: State, id: RequestId, reservations: readonly KeptRoom[]): void {
  const request = must(state.requests.get(id), id);
  schedule(state, request.patience, never);
  setReservations(request, reservations, (name) => must(state.resources.get(name), name));
}

function isEmpty(entries: Labels): boolean {
  for (const _ in entries) return false;
  return true;
}
