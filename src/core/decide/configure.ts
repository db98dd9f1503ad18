/**
 * Applies a new configuration without ending any lease. A resource that is no longer in the file
 * leaves at once if it is not held, otherwise when its holder releases it. A request that the new
 * configuration can never satisfy is removed.
 */
import { isCluster } from "../clusters/snapshot.ts";
import { ratesToConfigure } from "../gates/adaptive.ts";
import type { Command } from "../model/command.ts";
import type { DurableEvent, Move } from "../model/event.ts";
import type { PoolName, ResourceName } from "../model/ids.ts";
import { freeState } from "../model/lifecycle.ts";
import { done, type Outcome } from "../model/outcome.ts";
import { type MemberSpec, type PoolSpec, same, samePolicy } from "../model/policy.ts";
import { plainPriorities } from "../model/priority.ts";
import { anySpace, type SpacesSpec } from "../model/space.ts";
import { isHeld, type Resource, type State } from "../model/state.ts";
import { goneItem, impossible } from "./acquire.ts";
import { defineHubs } from "./hubs.ts";
import { resumePools } from "./set-aside.ts";
import { refuseSpace } from "./space-rules.ts";
import { emit, type Turn } from "./turn.ts";

interface Wanted extends MemberSpec {
  readonly pool: PoolName;
}

/** What stands in the configuration beside the pools. */
export type Tenancy = Pick<
  Extract<Command, { type: "configure" }>,
  "spaces" | "priorities" | "hubs"
>;

export function configure(
  turn: Turn,
  pools: readonly PoolSpec[],
  { spaces = anySpace, priorities = plainPriorities, hubs = [] }: Tenancy = {},
): Outcome {
  const { state } = turn;
  defineSpaces(turn, spaces);
  if (!same(priorities, state.priorities))
    emit(turn, { type: "priorities-defined", ...priorities });
  defineHubs(turn, hubs);
  const wanted = new Map<ResourceName, Wanted>();
  for (const pool of parentsFirst(pools)) {
    definePool(turn, pool);
    for (const member of pool.members) wanted.set(member.name, { ...member, pool: pool.name });
  }
  const dynamic = dynamicPools(pools);
  for (const resource of [...state.resources.values()]) {
    // The plan destroys clusters that are no longer wanted.
    if (isCluster(resource)) continue;
    const want = wanted.get(resource.name);
    if (want === undefined && (resource.dynamic || dynamic.has(resource.pool.name))) {
      if (!resource.dynamic) emit(turn, adopted(resource, true));
    } else {
      reconcile(turn, resource, want);
    }
  }
  for (const member of wanted.values()) {
    if (!state.resources.has(member.name)) addMember(turn, member);
  }
  const names = new Set(pools.map(({ name }) => name));
  for (const pool of state.pools.values()) {
    if (!names.has(pool.name) && !pool.retired)
      emit(turn, { type: "pool-retired", pool: pool.name });
  }
  resumePools(turn);
  for (const change of ratesToConfigure(state)) emit(turn, change);
  dismissImpossible(turn);
  return done;
}

function defineSpaces(turn: Turn, { spaces, others }: SpacesSpec): void {
  const { spacePolicies, otherSpaces } = turn.state;
  const isSame =
    spaces.length === spacePolicies.size &&
    same(others, otherSpaces) &&
    spaces.every(({ name, policy }) => same(policy, spacePolicies.get(name)));
  if (!isSame) emit(turn, { type: "spaces-defined", spaces, others });
}

function dynamicPools(pools: readonly PoolSpec[]): ReadonlySet<PoolName> {
  return new Set(pools.filter(({ policy }) => policy.dynamic).map(({ name }) => name));
}

/** The resources that `configure` would remove or retire, because no pool lists them. */
export function unlistedResources(state: State, pools: readonly PoolSpec[]): ResourceName[] {
  const wanted = new Set<ResourceName>();
  for (const { members } of pools) for (const { name } of members) wanted.add(name);
  const dynamic = dynamicPools(pools);
  const unlisted: ResourceName[] = [];
  for (const resource of state.resources.values()) {
    if (wanted.has(resource.name) || resource.dynamic || isCluster(resource)) continue;
    if (!dynamic.has(resource.pool.name)) unlisted.push(resource.name);
  }
  return unlisted;
}

/** Does with each of them what `configure` does with a resource that no pool lists. */
export function removeResources(turn: Turn, names: readonly ResourceName[]): Outcome {
  for (const name of names) {
    const resource = turn.state.resources.get(name);
    // A resource may have become dynamic since the caller has read the state.
    if (resource !== undefined && !resource.dynamic && !isCluster(resource))
      reconcile(turn, resource, undefined);
  }
  return done;
}

function adopted({ name }: Resource, dynamic: boolean): DurableEvent {
  return { type: "resource-adopted", resource: name, dynamic };
}

/**
 * Makes a dynamic resource a listed one. If it was marked for deletion, it returns as after a
 * release.
 */
function adopt(turn: Turn, resource: Resource): void {
  const returns = resource.leaving && !isHeld(resource);
  emit(turn, adopted(resource, false));
  if (!returns) return;
  const { onRelease } = resource.pool.policy;
  emit(turn, { type: "resource-changed", resource: resource.name, state: onRelease });
}

function definePool(turn: Turn, { name, policy }: PoolSpec): void {
  const known = turn.state.pools.get(name);
  if (known !== undefined && !known.retired && samePolicy(known.policy, policy)) return;
  emit(turn, { type: "pool-defined", pool: name, policy });
}

/** Keeps, resizes, relabels, moves or removes an existing resource. */
function reconcile(turn: Turn, resource: Resource, wanted: Wanted | undefined): void {
  const { name } = resource;
  const isSameKind = (resource.sharing === "exclusive") === (wanted?.room === undefined);
  if (wanted !== undefined && wanted.pool === resource.pool.name && isSameKind) {
    if (resource.retired) emit(turn, { type: "resource-kept", resource: name });
    if (resource.dynamic) adopt(turn, resource);
    const spec = resource.sharing === "shared" ? resource.spec : undefined;
    if (wanted.room !== undefined && !same(spec, wanted.room)) {
      emit(turn, { type: "resource-resized", resource: name, room: wanted.room });
    }
    if (!sameEntries(resource.specLabels, wanted.labels)) {
      emit(turn, { type: "resource-relabelled", resource: name, labels: wanted.labels });
    }
    return;
  }
  const movesTo = wanted === undefined ? undefined : moveTo(wanted);
  if (!isHeld(resource)) {
    if (movesTo === undefined) emit(turn, { type: "resource-removed", resource: name });
    else emit(turn, { type: "resource-moved", resource: name, ...movesTo });
    return;
  }
  if (resource.retired && sameMove(resource.movesTo, movesTo)) return;
  emit(turn, {
    type: "resource-retired",
    resource: name,
    ...(movesTo === undefined ? undefined : { movesTo }),
  });
}

function moveTo({ pool, labels, room }: Wanted): Move {
  return { pool, labels, ...(room === undefined ? undefined : { room }) };
}

function addMember(turn: Turn, member: Wanted): void {
  const { pool, name, labels, room, userData, state = freeState } = member;
  const bare = Object.keys(labels).length === 0;
  emit(turn, {
    type: "resource-added",
    pool,
    resource: name,
    ...(bare ? undefined : { labels }),
    ...(state === freeState ? undefined : { state }),
    ...(room === undefined ? undefined : { room }),
  });
  if (userData !== undefined) emit(turn, { type: "resource-changed", resource: name, userData });
}

function dismissImpossible(turn: Turn): void {
  const { state } = turn;
  for (const request of [...state.requests.values()]) {
    const { ask, alternatives } = request;
    const refusal = refuseSpace(state, request.space, ask);
    if (refusal ?? goneItem(state, ask) ?? impossible(state, ask, alternatives)) {
      emit(turn, { type: "request-left", id: request.id, why: "unsatisfiable" });
    }
  }
}

type Labels = Readonly<Record<string, string>>;

function sameEntries(a: Labels, b: Labels): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

function sameMove(a: Resource["movesTo"], b: Move | undefined): boolean {
  if (a === null || b === undefined) return a === null && b === undefined;
  return a.pool === b.pool && sameEntries(a.labels ?? {}, b.labels ?? {}) && same(a.room, b.room);
}

/**
 * Sorts parents ahead of their children. In this order, pools that swap places never form a circle
 * of parents in between.
 */
function parentsFirst(pools: readonly PoolSpec[]): readonly PoolSpec[] {
  if (pools.every(({ policy }) => policy.parent === undefined)) return pools;
  const specs = new Map(pools.map((pool) => [pool.name, pool]));
  const depth = ({ policy }: PoolSpec): number => {
    let steps = 0;
    for (let up = policy.parent; up !== undefined && steps < pools.length; steps++) {
      up = specs.get(up)?.policy.parent;
    }
    return steps;
  };
  return pools.toSorted((a, b) => depth(a) - depth(b));
}
