/**
 * Limits that several pools share. The pools form a tree (a cohort), for example an account with
 * the pools that offer it. A claim counts against the limits of its pool and of all ancestors. A
 * reload that lowers a limit ends no lease; the pool only lends less.
 *
 * A limit that is used up is kept for the request that has waited longest for it, in any pool of
 * the cohort. So many requests for one resource do not starve a request for three in another pool.
 */
import type { ResourceName } from "../model/ids.ts";
import { purposeOf } from "../model/lifecycle.ts";
import type { Refusal } from "../model/outcome.ts";
import { quotaShortage } from "../model/quota.ts";
import { isAhead, type Rank } from "../model/rank.ts";
import type { Need, Pool, Request, State } from "../model/state.ts";
import { isPresent } from "../queue/available.ts";
import { overtakenMax } from "../queue/leftover.ts";
import { hasSelection } from "../queue/needs.ts";
import type { Attempt, Gate, Opening, Use } from "./gate.ts";
import { tightest } from "./tightest.ts";

export const limitGate: Gate = {
  name: "limits",
  guards: hasCohort,
  closedBy(attempt, earlier) {
    const { needs, rank } = attempt;
    const uses = usesOf(needs);
    for (const [limit, count] of uses) {
      // A request may prepare for its turn while other leases still use up the limit.
      const frees = attempt.by !== undefined && limit.children.size > 0;
      if (isExceeded(limit, count) && !frees) return limit;
    }
    for (const limit of uses.keys()) if (isKeptFor(limit, rank, attempt, earlier)) return limit;
    return null;
  },
  neverPasses(needs) {
    const refusals: Refusal[] = [];
    for (const [limit, asked] of sumsOf(needs)) {
      const size = limitOf(limit);
      if (asked > size) refusals.push({ code: "never_fits", pool: limit.name, asked, size });
    }
    return tightest(refusals);
  },
  /** A release opens a limit, and touches every pool that shares it. */
  opensAt: null,
  closedUntil: null,
  explain({ needs, rank }, need) {
    const limit = exceeded(needs)[0];
    if (limit === undefined || !isPresent(need, rank)) return null;
    const what = `${limit.name} limit reached (${limit.used}/${limitOf(limit)})`;
    return { code: "limit_reached", what, shared: limit };
  },
  openedIn: (opening) => (wasExceeded(opening) ? "limit_reached" : null),
};

/** Whether the pool has a limit or shares one. */
export function hasCohort({ parent, children, policy }: Pool): boolean {
  return parent !== null || children.size > 0 || policy.limit !== undefined;
}

/** Whether the pool has no resources of its own and only limits the pools below it. */
export function isOnlyLimit({ members, policy, clusters }: Pool): boolean {
  if (clusters !== null || policy.dynamic !== undefined) return false;
  return policy.limit !== undefined && members.size === 0;
}

/**
 * Whether lists of a pool contain the claims and requests of this one. A pool that is only a limit
 * has none of its own, so its lists contain those of the pools below it.
 */
export function isListedIn(pool: Pool, name: string): boolean {
  if (pool.name === name) return true;
  for (const up of ancestors(pool)) if (up.name === name) return isOnlyLimit(up);
  return false;
}

/** The number of claims that a pool and all its descendants may have. */
export function limitOf({ policy, size }: Pool): number {
  if (policy.cluster !== undefined) {
    return policy.limit ?? policy.cluster.max ?? Number.POSITIVE_INFINITY;
  }
  return policy.limit ?? Math.max(size, policy.dynamic?.max ?? 0);
}

/** The limits that a grant from this pool must respect, the nearest first. */
export function* limitsFor(pool: Pool): Generator<Pool, void, undefined> {
  if (pool.children.size > 0 || pool.policy.limit !== undefined) yield pool;
  for (let up = pool.parent; up !== null; up = up.parent) yield up;
}

/** The number of claims that a grant would add to each limit. */
function usesOf(needs: readonly Use[]): ReadonlyMap<Pool, number> {
  if (!needs.some(({ pool }) => hasCohort(pool))) return noUses;
  // A cluster uses up the limits from its planning on, so its grant adds nothing.
  return sumsOf(needs.filter(({ pool }) => pool.policy.cluster === undefined));
}

function sumsOf(needs: readonly Use[]): ReadonlyMap<Pool, number> {
  const uses = new Map<Pool, number>();
  for (const { pool, purpose, count } of needs) {
    if (purpose !== "use") continue;
    for (const limit of limitsFor(pool)) uses.set(limit, (uses.get(limit) ?? 0) + count);
  }
  return uses;
}

const noUses: ReadonlyMap<Pool, number> = new Map();

function isExceeded(limit: Pool, count: number): boolean {
  return limit.used + count > limitOf(limit);
}

/** The limits that a grant of these needs would exceed now. */
function exceeded(needs: readonly Use[]): Pool[] {
  return [...usesOf(needs)].flatMap(([limit, count]) => (isExceeded(limit, count) ? [limit] : []));
}

/** Whether a request ahead of this rank waits for the limit or could be granted now. */
function isKeptFor(limit: Pool, rank: Rank, { now }: Attempt, earlier: readonly Gate[]): boolean {
  const root = rootOf(limit);
  for (const pool of descendants(limit)) {
    for (const { queue } of pool.buckets.values()) {
      const walk = queue.walk();
      for (let place = 0; place < overtakenMax; place++) {
        const ahead = walk.next();
        if (ahead === undefined || !isAhead(ahead, rank)) break;
        const attempts = ahead.alternatives.map((needs) => ({ needs, rank: ahead, now }));
        if (attempts.some((attempt) => wantsLimit(attempt, limit, root, earlier))) return true;
        // A request that selects resources may lack these while the requests behind it have theirs.
        if (!hasSelection(ahead) && !isPassedOver(ahead, root)) break;
      }
    }
  }
  return false;
}

/** Whether the requests behind this one may go first, although it is ahead in its queue. */
function isPassedOver(request: Request, root: Pool): boolean {
  const isOutside = ({ pool }: Need) => rootOf(pool) !== root;
  return request.alternatives.every((needs) => {
    return needs.some(isOutside) || quotaShortage(request.space, needs) !== undefined;
  });
}

interface OtherAttempt extends Attempt {
  readonly needs: readonly Need[];
}

/**
 * Ignores a request that also needs a pool outside the cohort, so others may overtake it. Changes
 * in that pool do not touch this cohort, so nothing would serve it again.
 */
function wantsLimit(
  attempt: OtherAttempt,
  limit: Pool,
  root: Pool,
  earlier: readonly Gate[],
): boolean {
  const { needs, rank } = attempt;
  if (!usesOf(needs).has(limit) || needs.some(({ pool }) => rootOf(pool) !== root)) return false;
  if (!earlier.every((gate) => gate.closedBy(attempt, []) === null)) return false;
  if (!needs.every((need) => isPresent(need, rank))) return false;
  const short = exceeded(needs);
  return short.length === 0 || short.includes(limit);
}

/** The root of the pool's cohort. */
export function rootOf(pool: Pool): Pool {
  let root = pool;
  while (root.parent !== null) root = root.parent;
  return root;
}

/** The pool and all its descendants. */
export function* descendants(pool: Pool): Generator<Pool, void, undefined> {
  yield pool;
  for (const child of pool.children) yield* descendants(child);
}

/** The pool and all its ancestors. */
export function* ancestors(pool: Pool): Generator<Pool, void, undefined> {
  for (let up: Pool | null = pool; up !== null; up = up.parent) yield up;
}

/** All pools of the cohort. */
export function cohortOf(pool: Pool): Iterable<Pool> {
  return descendants(rootOf(pool));
}

/** Whether a limit was too small for these needs before this decision. */
function wasExceeded({ state, events, needs }: Opening): boolean {
  for (const [limit, count] of usesOf(needs)) {
    let used = limit.used;
    const undo = (resource: ResourceName, by: number): void => {
      if (isBelow(state, resource, limit)) used -= by;
    };
    for (const event of events) {
      if (event.type === "lease-granted") {
        for (const claim of event.claims) {
          if (purposeOf(claim) === "use") undo(claim.resource, 1);
        }
      } else if (event.type === "lease-ended") {
        for (const { resource } of event.back) undo(resource, -1);
      } else if (event.type === "claim-ended") {
        undo(event.back.resource, -1);
      }
    }
    if (used + count > limitOf(limit)) return true;
  }
  return false;
}

function isBelow(state: State, resource: ResourceName, limit: Pool): boolean {
  const pool = state.resources.get(resource)?.pool;
  if (pool === undefined) return false;
  for (const up of ancestors(pool)) if (up === limit) return true;
  return false;
}
