/** How many clusters the waiting requests of a pool need. */
import { type Parameters, parametersKeyOf } from "../model/cluster.ts";
import { freeState } from "../model/lifecycle.ts";
import { type QuotaUse, quotaShortage } from "../model/quota.ts";
import type { Space } from "../model/space.ts";
import { type Need, type Pool, queueAt, type Request } from "../model/state.ts";
import { poolsOf } from "../queue/needs.ts";

export interface Demand {
  /** How many clusters are made for the requests. */
  readonly count: number;
  /** How many the requests could have, with those that are made a cluster in another pool. */
  readonly accepted: number;
  readonly parameters: Parameters;
}

/** The maximum number of waiting requests that one decision reads. */
const readMax = 10_000;

/**
 * The clusters of each kind that the waiting requests need, at most about `most` in all. A request
 * counts only if the quotas of its space would let it pass after all requests ahead of it: for a
 * quota of 1 one cluster is made, however many wait.
 *
 * A request that takes any of several pools is made a cluster in the first of them, whatever the
 * others have: otherwise the plan of one pool would depend on all others, and would change its mind.
 */
export function demandIn(pool: Pool, most: number): ReadonlyMap<string, Demand> {
  const demand = new Map<string, Demand>();
  const charged = new Map<Space, QuotaUse[]>();
  let [total, read] = [0, 0];
  for (const request of queueAt({ pool, state: freeState })) {
    if (total >= most || read++ >= readMax) break;
    const chosen = request.alternatives.find((needs) => needs.every(canBeMade));
    const isHere = (one: Need) => one.pool === pool && one.state === freeState;
    const need = chosen?.find(isHere) ?? request.needs.find(isHere);
    if (need?.sharing !== "exclusive") continue;
    if (!passesQuotas(request.space, chosen ?? [need], charged)) continue;
    const isMade = chosen?.some(isHere) ?? false;
    for (const { parametersKey, count } of need.selections ?? []) {
      if (parametersKey === undefined) continue;
      const before = demand.get(parametersKey);
      demand.set(parametersKey, {
        count: (before?.count ?? 0) + (isMade ? count : 0),
        accepted: (before?.accepted ?? 0) + count,
        parameters: before?.parameters ?? parametersIn(request, pool, parametersKey),
      });
      total += count;
    }
  }
  return demand;
}

/** Whether the pool makes what it needs, or has no template and lends what is there. */
function canBeMade({ pool: { policy, retired } }: Need): boolean {
  return !retired && policy.cluster?.max !== 0;
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

function parametersIn({ ask, gang }: Request, pool: Pool, key: string): Parameters {
  const asks = gang === null ? [ask] : gang.members.map((member) => member.ask);
  for (const item of asks.flatMap(({ items }) => items)) {
    const isFor = poolsOf(item).includes(pool.name) && item.parameters !== undefined;
    if (isFor && parametersKeyOf(item.parameters) === key) return item.parameters;
  }
  return pool.policy.cluster?.parameters ?? {};
}
