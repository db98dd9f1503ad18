/** How many clusters the waiting requests of a pool need. */
import { type Parameters, parametersKeyOf } from "../model/cluster.ts";
import { freeState } from "../model/lifecycle.ts";
import { type QuotaUse, quotaShortage } from "../model/quota.ts";
import type { Space } from "../model/space.ts";
import { type Need, type Pool, queueAt, type Request } from "../model/state.ts";
import { poolsOf } from "../queue/needs.ts";

export interface Demand {
  readonly count: number;
  readonly parameters: Parameters;
}

/** The maximum number of waiting requests that one decision reads. */
const readMax = 10_000;

/**
 * The clusters of each kind that the waiting requests need, at most `most` in all. A request counts
 * only if the quotas of its space would let it pass after all requests ahead of it: for a quota of 1
 * one cluster is made, however many wait.
 */
export function demandIn(pool: Pool, most: number): ReadonlyMap<string, Demand> {
  const demand = new Map<string, Demand>();
  const charged = new Map<Space, QuotaUse[]>();
  let [total, read] = [0, 0];
  for (const request of queueAt({ pool, state: freeState })) {
    if (total >= most || read++ >= readMax) break;
    const needs = chosenNeeds(request);
    const need = needs.find((one) => one.pool === pool && one.state === freeState);
    if (need?.sharing !== "exclusive" || !passesQuotas(request.space, needs, charged)) continue;
    for (const { parametersKey, count } of need.selections ?? []) {
      if (parametersKey === undefined) continue;
      const before = demand.get(parametersKey);
      const parameters = before?.parameters ?? parametersIn(request, pool, parametersKey);
      demand.set(parametersKey, { count: (before?.count ?? 0) + count, parameters });
      total += count;
    }
  }
  return demand;
}

/** Adds the needs to what the space would hold, if its quotas allow that. */
function passesQuotas(
  space: Space | null,
  needs: readonly Need[],
  charged: Map<Space, QuotaUse[]>,
): boolean {
  if (space === null) return true;
  const all = (charged.get(space) ?? []).map((use) => ({ ...use }));
  for (const need of needs) {
    const known = all.find(({ pool, purpose }) => pool === need.pool && purpose === need.purpose);
    if (known === undefined || need.sharing === "shared") all.push({ ...need });
    else Object.assign(known, { count: known.count + need.count });
  }
  if (quotaShortage(space, all) !== undefined) return false;
  charged.set(space, all);
  return true;
}

/**
 * A request that takes any of several pools is made a cluster in one of them: the first that has one
 * for it already, or else the first that can make one.
 */
function chosenNeeds({ alternatives }: Request): readonly Need[] {
  const [first = []] = alternatives;
  if (alternatives.length === 1) return first;
  const all = (test: (need: Need) => boolean) => alternatives.find((needs) => needs.every(test));
  return all(hasOne) ?? all((need) => hasOne(need) || canMakeOne(need)) ?? first;
}

function hasOne(need: Need): boolean {
  const { pool } = need;
  if (pool.policy.cluster === undefined || need.sharing === "shared") return true;
  const kinds = (need.selections ?? []).map(({ parametersKey }) => parametersKey);
  for (const resource of pool.members) {
    if (resource.sharing === "shared" || resource.cluster === null) continue;
    const { cluster, claim, state } = resource;
    const isReady = claim === null ? waitingStates.has(state) : claim.purpose === "provision";
    const isWanted = cluster.wanted !== "destroyed" && kinds.includes(cluster.parametersKey);
    if (isReady && isWanted && !resource.drained && cluster.hold === null) return true;
  }
  return false;
}

const waitingStates: ReadonlySet<string> = new Set([
  freeState,
  "creating",
  "hibernated",
  "stopping",
  "resuming",
]);

function canMakeOne({ pool }: Need): boolean {
  const { cluster } = pool.policy;
  if (cluster === undefined || pool.retired) return false;
  return pool.members.size < (cluster.max ?? Number.POSITIVE_INFINITY);
}

function parametersIn({ ask, gang }: Request, pool: Pool, key: string): Parameters {
  const asks = gang === null ? [ask] : gang.members.map((member) => member.ask);
  for (const item of asks.flatMap(({ items }) => items)) {
    const isFor = poolsOf(item).includes(pool.name) && item.parameters !== undefined;
    if (isFor && parametersKeyOf(item.parameters) === key) return item.parameters;
  }
  return pool.policy.cluster?.parameters ?? {};
}
