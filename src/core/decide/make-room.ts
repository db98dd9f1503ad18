/** Stock that nobody waits for gives way on full hubs to clusters that requests wait for. */
import { budgetsFor } from "../clusters/demand.ts";
import { openHubs, roomOnHubs } from "../clusters/placement.ts";
import { busyIn, isUsable, type PlannedCluster } from "../clusters/plan.ts";
import {
  isCluster,
  isFixed,
  missingIn,
  roomBelowLimits,
  snapshotOf,
} from "../clusters/snapshot.ts";
import { destroyingState } from "../model/lifecycle.ts";
import type { ExclusiveResource, Pool } from "../model/state.ts";
import type { Turn } from "./turn.ts";

/** Which clusters shall be destroyed so that those that requests of the pool wait for can be made. */
export function clustersInTheWay(turn: Turn, pool: Pool): readonly ExclusiveResource[] {
  if (pool.hubs === null || pool.waiting === 0 || pool.retired) return [];
  const hubs = new Set(openHubs(pool, turn.now));
  const onHubs = [...hubs].flatMap(({ clusters }) => [...clusters]);
  const leaving = onHubs.filter(({ state, cluster }) => {
    return state === destroyingState || cluster?.wanted === "destroyed";
  });
  const count = blockedIn(turn, pool) - roomOnHubs(pool, turn.now) - leaving.length;
  if (count <= 0) return [];
  const pools = new Set(onHubs.map((resource) => resource.pool));
  const spare = [...pools].flatMap((each) => spareIn(turn, each, hubs));
  return spare
    .sort((a, b) => orderOf(a) - orderOf(b))
    .slice(0, count)
    .map(({ resource }) => resource);
}

/** How many clusters the requests of the pool need that nothing but the hubs holds up. */
function blockedIn({ now }: Turn, pool: Pool): number {
  const { demands, clusters, max, concurrent, closed } = snapshotOf(pool, now);
  if (closed !== null) return 0;
  const allowed = Math.min(
    max - clusters.length,
    concurrent - busyIn(clusters),
    roomBelowLimits(pool),
  );
  return Math.min(missingIn(pool, demands), allowed);
}

interface Spare {
  readonly resource: ExclusiveResource;
  readonly planned: PlannedCluster;
}

/** Usable clusters on these hubs, more than the requests of their own pool need. */
function spareIn(turn: Turn, pool: Pool, hubs: ReadonlySet<ExclusiveResource["hub"]>): Spare[] {
  const { clusters, concurrent } = snapshotOf(pool, turn.now);
  const demand = budgetsFor(pool, isFixed, turn.now).get(pool)?.demand;
  const needed = new Map(Array.from(demand ?? [], ([kind, { accepted }]) => [kind, accepted]));
  let destroyable = concurrent - busyIn(clusters);
  const spare: Spare[] = [];
  for (const planned of inOrder(clusters.filter(isUsable))) {
    const isNeeded = (needed.get(planned.kind) ?? 0) >= usableOf(clusters, planned.kind, spare);
    const resource = turn.state.resources.get(planned.name);
    const isThere = resource !== undefined && isCluster(resource) && hubs.has(resource.hub);
    if (isNeeded || !isThere) continue;
    // Whatever is being created already counts against `concurrent`.
    if (planned.role !== "creating" && destroyable-- <= 0) continue;
    spare.push({ resource, planned });
  }
  return spare;
}

function usableOf(
  clusters: readonly PlannedCluster[],
  kind: string,
  spare: readonly Spare[],
): number {
  const all = clusters.filter((one) => one.kind === kind && isUsable(one)).length;
  return all - spare.filter(({ planned }) => planned.kind === kind).length;
}

/** As the plan gives up surplus: what is not ready yet first, what is awake last. */
const roles: readonly string[] = ["creating", "hibernated", "stopping", "resuming", "free"];

function orderOf({ planned }: Spare): number {
  return roles.indexOf(planned.role);
}

function inOrder(clusters: readonly PlannedCluster[]): PlannedCluster[] {
  return clusters.toSorted((a, b) => {
    const order = roles.indexOf(a.role) - roles.indexOf(b.role);
    return order || (a.role === "creating" ? b.age - a.age : a.age - b.age);
  });
}
