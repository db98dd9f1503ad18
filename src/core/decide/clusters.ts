/** Carries out the plan of a pool of clusters, as events. */

import { budgetsFor, relatedPools } from "../clusters/demand.ts";
import { OpenDemand } from "../clusters/open-demand.ts";
import { placeOnHub } from "../clusters/placement.ts";
import type { Action } from "../clusters/plan.ts";
import { planPool } from "../clusters/plan.ts";
import { clustersIn, isFixed, type Snapshot, snapshotOf } from "../clusters/snapshot.ts";
import type { ClusterPolicy, Wanted } from "../model/cluster.ts";
import type { Hub } from "../model/hub.ts";
import type { ResourceName } from "../model/ids.ts";
import {
  creatingState,
  destroyingState,
  resumingState,
  stoppingState,
  tombstoneState,
} from "../model/lifecycle.ts";
import type { Pool, State } from "../model/state.ts";
import { clustersInTheWay } from "./make-room.ts";
import { Undecidable } from "./set-aside.ts";
import { emit, type Turn } from "./turn.ts";

export function planClusters(turn: Turn, pool: Pool): void {
  for (const { name, state, claim } of clustersIn(pool)) {
    if (state === tombstoneState && claim === null) {
      emit(turn, { type: "resource-removed", resource: name });
    }
  }
  if (turn.plannedAt?.get(pool) === turn.events.length) return;
  const planned = planRelated(turn, pool);
  turn.plannedAt ??= new Map();
  for (const one of planned) turn.plannedAt.set(one, turn.events.length);
  for (const resource of clustersInTheWay(turn, pool)) {
    move(turn, resource.name, "destroy", `requests of ${pool.name} wait for its place`);
  }
}

/** One decision plans a pool a few times. A plan and a grant that undo each other never end. */
const plansMax = 200;

function countPlan(turn: Turn, pool: Pool): void {
  turn.plans ??= new Map();
  const plans = (turn.plans.get(pool) ?? 0) + 1;
  if (plans > plansMax) throw new Error("the plan of its clusters does not come to an end");
  turn.plans.set(pool, plans);
}

/** What one pool needs changes what is left for the others, so all are planned together. */
function planRelated(turn: Turn, pool: Pool): readonly Pool[] {
  const members = relatedPools(pool).filter((member) => {
    return member === pool || (member.clusters !== null && member.suspended === null);
  });
  const budgets = members.length === 1 ? undefined : budgetsFor(pool, isFixed, turn.now);
  // What a later one makes may take the room in which an earlier one would replace a cluster.
  for (let before = -1; before !== turn.events.length; ) {
    before = turn.events.length;
    countPlan(turn, pool);
    planOnce(turn, pool, members, budgets);
    if (members.length === 1) break;
  }
  return members;
}

function planOnce(
  turn: Turn,
  pool: Pool,
  members: readonly Pool[],
  budgets: Together["budgets"],
): void {
  // On hubs, what requests wait for is placed first: stock could take the only place of another pool.
  if (budgets !== undefined && pool.hubs !== null) {
    const open = new OpenDemand(budgets, turn.now);
    for (const member of members) planOne(turn, member, { budgets, open, withStock: false });
    for (const member of members) planOne(turn, member, { budgets, open });
  } else {
    for (const member of members) planOne(turn, member, { budgets });
  }
}

interface Together {
  readonly budgets: ReturnType<typeof budgetsFor> | undefined;
  /** What requests of all pools wait for and has no hub yet. */
  readonly open?: OpenDemand;
  readonly withStock?: boolean;
}

function planOne(turn: Turn, pool: Pool, { budgets, open, withStock = true }: Together): void {
  try {
    const snapshot = snapshotOf(pool, turn.now, budgets);
    for (const action of planPool(snapshot)) {
      if (withStock || action.do !== "create" || !action.isStock) {
        carryOut(turn, pool, snapshot, action, open);
      }
    }
  } catch (cause) {
    // The pool that is planned is suspended, and not the one whose change made it necessary.
    throw new Undecidable({ pools: [pool.name] }, cause);
  }
}

function carryOut(
  turn: Turn,
  pool: Pool,
  { demands }: Snapshot,
  action: Action,
  open?: OpenDemand,
): void {
  const policy = pool.policy.cluster;
  if (action.do !== "create") return move(turn, action.name, action.do, action.why);
  if (policy === undefined) return;
  const parameters = demands.get(action.kind)?.parameters ?? policy.parameters;
  if (!action.isStock) open?.place(pool, action.kind);
  create(turn, pool, { ...policy, parameters }, action.why, open);
}

function create(
  turn: Turn,
  pool: Pool,
  policy: ClusterPolicy,
  why: string,
  open: OpenDemand | undefined,
): void {
  const { template, revision, parameters } = policy;
  const leftOutBy = (one: Hub) => open?.leftOutBy(one) ?? 0;
  // The choice is durable with the intent, and is never changed.
  const hub = pool.hubs === null ? null : placeOnHub(pool, policy, parameters, turn.now, leftOutBy);
  if (hub === undefined) return;
  const resource = newName(turn.state, pool);
  // The time makes it unique also after the journal was lost or replaced by an older copy.
  const instance = `${resource}.${turn.now.toString(36)}`;
  const price = pool.policy.cost ?? 0;
  const place = hub === null ? undefined : { hub: hub.name };
  const cluster = { instance, template, revision, parameters, price, ...place };
  emit(turn, {
    type: "resource-added",
    pool: pool.name,
    ...{ resource, state: creatingState, cluster, why },
  });
}

/** Numbers are never used twice, so that a name in an old log means one cluster. */
function newName(state: State, pool: Pool): ResourceName {
  let number = state.made + 1;
  while (state.resources.has(`${pool.name}-${number}` as ResourceName)) number += 1;
  return `${pool.name}-${number}` as ResourceName;
}

const targets = {
  destroy: { state: destroyingState, wanted: "destroyed" },
  wake: { state: resumingState, wanted: "ready" },
  stop: { state: stoppingState, wanted: "hibernated" },
} as const satisfies Record<string, { readonly state: string; readonly wanted: Wanted }>;

/** A cluster that a worker holds keeps its state: the worker learns what is wanted now. */
function move(turn: Turn, name: ResourceName, how: keyof typeof targets, why: string): void {
  const resource = turn.state.resources.get(name);
  if (resource?.sharing !== "exclusive" || resource.cluster === null) return;
  const { state, wanted } = targets[how];
  // Everybody may read why, but not the note of a drained resource (`noteReader`).
  const note = resource.drained ? "" : resource.note;
  const what = { resource: name, wanted, why: why || note };
  if (resource.claim === null) emit(turn, { type: "cluster-moved", state, ...what });
  else emit(turn, { type: "cluster-wanted", ...what });
}
