/**
 * How many clusters each pool may have for its waiting requests and for its stock, under all limits.
 *
 * Pools that share a limit are looked at together. Requests come first, in the order of their
 * priority and arrival, and each gets all that it needs before the next: two requests for two
 * clusters each never keep one each. Then comes the stock. What this leaves out is given up, even if
 * it exists, so that idle stock keeps nobody waiting.
 *
 * The result depends on requests, limits and on what is lent, and not on what the plan has done so
 * far: otherwise the plan would change its mind.
 */
import { cohortOf, hasCohort, limitOf, limitsFor } from "../gates/limits.ts";
import { type Parameters, parametersKeyOf } from "../model/cluster.ts";
import { freeState } from "../model/lifecycle.ts";
import { type QuotaUse, quotaShortage } from "../model/quota.ts";
import { compareArrival } from "../model/rank.ts";
import type { Space } from "../model/space.ts";
import {
  type ExclusiveNeed,
  type ExclusiveResource,
  type Need,
  type Pool,
  queueAt,
  type Request,
} from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { poolsOf } from "../queue/needs.ts";
import { HubFunds } from "./hub-funds.ts";

export interface Demand {
  /** How many clusters are made for the requests. */
  readonly count: number;
  /** How many the requests could have, with those that are made a cluster in another pool. */
  readonly accepted: number;
  readonly parameters: Parameters;
}

export interface Budget {
  readonly demand: ReadonlyMap<string, Demand>;
  /** How many clusters that no request needs the pool may keep: at most its size. */
  readonly stock: number;
  /** How many more clusters requests and stock would need, if the limits allowed them. */
  readonly lacking: number;
}

/** Whether no plan can change a cluster: it is lent, or an operator keeps it. */
export type IsFixed = (resource: ExclusiveResource) => boolean;

/** The maximum number of waiting requests of one queue that a decision reads. */
const readMax = 10_000;

/** The budget of the pool, and of all pools of clusters that share a limit or a hub with it. */
export function budgetsFor(pool: Pool, isFixed: IsFixed, now: Instant): ReadonlyMap<Pool, Budget> {
  const pools = relatedPools(pool).filter(({ policy, retired }) => {
    return policy.cluster !== undefined && !retired;
  });
  const funds = new Funds(pools, isFixed, now);
  for (const request of requestsIn(pools)) funds.fund(request);
  return funds.budgets();
}

/** The pool, and all pools that share a limit or a hub with it, directly or through others. */
export function relatedPools(pool: Pool): readonly Pool[] {
  if (pool.hubs === null && !hasCohort(pool)) return [pool];
  const found = new Set(hasCohort(pool) ? cohortOf(pool) : [pool]);
  for (const one of found) {
    if (hasCohort(one)) for (const member of cohortOf(one)) found.add(member);
    for (const hub of one.hubs ?? []) for (const other of hub.pools) found.add(other);
  }
  const all = [...found];
  // The same order from wherever it is asked: the first gets its stock first.
  return all.every(({ hubs }) => hubs === null) ? all : all.sort(byName);
}

function byName(a: Pool, b: Pool): number {
  return a.name < b.name ? -1 : 1;
}

/** All waiting requests, each once, in an order that changes only with their priorities. */
function requestsIn(pools: readonly Pool[]): Iterable<Request> {
  const requests = new Set<Request>();
  for (const pool of pools) {
    let read = 0;
    for (const request of queueAt({ pool, state: freeState })) {
      if (read++ >= readMax) break;
      requests.add(request);
    }
  }
  return requests.size < 2 ? requests : [...requests].sort(compareArrival);
}

class Funds {
  readonly #pools: ReadonlyMap<Pool, Map<string, Demand>>;
  /** What is left of each limit. A pool's own `max` is in a map of its own. */
  readonly #left = new Map<Pool, number>();
  readonly #ownLeft = new Map<Pool, number>();
  readonly #charged = new Map<Space, QuotaUse[]>();
  readonly #lacking = new Map<Pool, number>();
  readonly #hubs: HubFunds;

  constructor(pools: readonly Pool[], isFixed: IsFixed, now: Instant) {
    this.#pools = new Map(pools.map((pool) => [pool, new Map<string, Demand>()]));
    this.#hubs = new HubFunds(pools, isFixed, now);
    for (const pool of pools) {
      const fixed = fixedIn(pool, isFixed);
      const movable = pool.members.size - fixed;
      const { max = Number.POSITIVE_INFINITY } = pool.policy.cluster ?? {};
      this.#ownLeft.set(pool, max - fixed);
      for (const limit of limitsFor(pool)) {
        const left = this.#left.get(limit) ?? limitOf(limit) - limit.used;
        this.#left.set(limit, left + movable);
      }
    }
  }

  /**
   * A request counts only if the quotas of its space would let it pass after all requests before it:
   * for a quota of 1 one cluster is made, however many wait. A request that takes any of several
   * pools is made a cluster in the first of them that makes some and that the quotas allow.
   */
  fund(request: Request): void {
    const passes = (needs: readonly Need[]) => passesQuotas(request.space, needs, this.#charged);
    const makeable = request.alternatives.filter((needs) => needs.every(canBeMade));
    const chosen = makeable.find(passes);
    if (chosen === undefined && (makeable.length > 0 || !passes(request.needs))) return;
    for (const need of chosen ?? [])
      if (need.sharing === "exclusive") this.#add(request, need, true);
    for (const need of request.needs) {
      const isMade = chosen?.some(({ pool }) => pool === need.pool) ?? false;
      if (!isMade && need.sharing === "exclusive") this.#add(request, need, false);
    }
  }

  #add(request: Request, { pool, state, selections }: ExclusiveNeed, isMade: boolean): void {
    const demand = this.#pools.get(pool);
    if (demand === undefined || state !== freeState) return;
    for (const { parametersKey, count: wanted } of selections ?? []) {
      if (parametersKey === undefined) continue;
      const count = isMade ? this.#take(pool, wanted) : 0;
      const before = demand.get(parametersKey);
      demand.set(parametersKey, {
        count: (before?.count ?? 0) + count,
        accepted: (before?.accepted ?? 0) + (isMade ? count : wanted),
        parameters: before?.parameters ?? parametersIn(request, pool, parametersKey),
      });
    }
  }

  /** Takes up to this many from all limits of the pool. */
  #take(pool: Pool, wanted: number): number {
    let count = Math.min(wanted, this.#ownLeft.get(pool) ?? 0);
    for (const limit of limitsFor(pool)) count = Math.min(count, this.#left.get(limit) ?? 0);
    count = Math.max(0, this.#hubs.fitting(pool, count));
    this.#lacking.set(pool, (this.#lacking.get(pool) ?? 0) + wanted - count);
    if (count === 0) return 0;
    this.#hubs.take(pool, count);
    this.#ownLeft.set(pool, (this.#ownLeft.get(pool) ?? 0) - count);
    for (const limit of limitsFor(pool))
      this.#left.set(limit, (this.#left.get(limit) ?? 0) - count);
    return count;
  }

  budgets(): ReadonlyMap<Pool, Budget> {
    const budgets = new Map<Pool, Budget>();
    for (const [pool, demand] of this.#pools) {
      const stock = this.#take(pool, pool.policy.cluster?.size ?? 0);
      const lacking = this.#lacking.get(pool) ?? 0;
      // What other pools are asked for may stay here only if there is room for it.
      for (const [kind, one] of demand) {
        const extra = this.#take(pool, one.accepted - one.count);
        demand.set(kind, { ...one, accepted: one.count + extra });
      }
      budgets.set(pool, { demand, stock, lacking });
    }
    return budgets;
  }
}

/** How many of a pool's members no plan can change. */
function fixedIn({ members }: Pool, isFixed: IsFixed): number {
  let fixed = 0;
  for (const resource of members) {
    if (resource.sharing === "shared" || resource.cluster === null || isFixed(resource)) fixed += 1;
  }
  return fixed;
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
