/**
 * Limits that several pools share: an account on top, below it the pools under which it is offered (a
 * cohort, as a tree of parents and children). What is lent at the bottom counts against every limit up
 * to the top. Limits are kept by not lending; a reload that lowers one takes nothing from anybody.
 *
 * A limit that is used up is kept for the request that has waited longest for it, in any pool of the
 * cohort: so a request for three is not starved by many requests for one in another pool.
 */
import type { ResourceName } from "../model/ids.ts";
import { purposeOf } from "../model/lifecycle.ts";
import { isAhead, type Rank } from "../model/rank.ts";
import type { Need, Pool, State } from "../model/state.ts";
import { isPresent } from "../queue/needs.ts";
import type { Attempt, Gate, Opening, Use } from "./gate.ts";

export const limitGate: Gate = {
  name: "limits",
  guards: hasCohort,
  closedBy(attempt, earlier) {
    const { needs, rank } = attempt;
    const uses = usesOf(needs);
    for (const [limit, count] of uses) {
      // A request may prepare for its turn while others still use the limit up.
      const frees = attempt.by !== undefined && limit.children.size > 0;
      if (isExceeded(limit, count) && !frees) return limit;
    }
    for (const limit of uses.keys()) if (isKeptFor(limit, rank, attempt, earlier)) return limit;
    return null;
  },
  neverPasses(needs) {
    for (const [limit, asked] of usesOf(needs)) {
      const size = limitOf(limit);
      if (asked > size) return { code: "never_fits", pool: limit.name, asked, size };
    }
    return undefined;
  },
  /** A limit opens with a release, which touches every pool that shares it. */
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

/** Whether it has a limit of its own or shares one. */
export function hasCohort({ parent, children, policy }: Pool): boolean {
  return parent !== null || children.size > 0 || policy.limit !== undefined;
}

/** How many may be lent of a pool and of all below it. */
export function limitOf({ policy, size }: Pool): number {
  return policy.limit ?? Math.max(size, policy.dynamic?.max ?? 0);
}

/** The limits that a grant from this pool must keep, from the bottom to the top. */
export function* limitsFor(pool: Pool): Generator<Pool, void, undefined> {
  if (pool.children.size > 0 || pool.policy.limit !== undefined) yield pool;
  for (let up = pool.parent; up !== null; up = up.parent) yield up;
}

/** How much a grant would use of each limit. */
function usesOf(needs: readonly Use[]): ReadonlyMap<Pool, number> {
  if (!needs.some(({ pool }) => hasCohort(pool))) return noUses;
  const uses = new Map<Pool, number>();
  for (const { pool, purpose, count } of needs) {
    if (purpose === "clean") continue;
    for (const limit of limitsFor(pool)) uses.set(limit, (uses.get(limit) ?? 0) + count);
  }
  return uses;
}

const noUses: ReadonlyMap<Pool, number> = new Map();

function isExceeded(limit: Pool, count: number): boolean {
  return limit.used + count > limitOf(limit);
}

/** The limits that a grant of these would exceed now. */
function exceeded(needs: readonly Use[]): Pool[] {
  return [...usesOf(needs)].flatMap(([limit, count]) => (isExceeded(limit, count) ? [limit] : []));
}

/** Whether a request ahead waits for this limit, or could go now. */
function isKeptFor(limit: Pool, rank: Rank, { now }: Attempt, earlier: readonly Gate[]): boolean {
  const root = rootOf(limit);
  for (const pool of descendants(limit)) {
    for (const { queue } of pool.buckets.values()) {
      const first = queue.at(0);
      if (first === undefined || !isAhead(first, rank)) continue;
      const attempts = first.alternatives.map((needs) => ({ needs, rank: first, now }));
      if (attempts.some((attempt) => wantsLimit(attempt, limit, root, earlier))) return true;
    }
  }
  return false;
}

interface OtherAttempt extends Attempt {
  readonly needs: readonly Need[];
}

/**
 * A request that also needs something outside of the cohort may be overtaken here: whether it can go is
 * decided elsewhere, and nobody would look here again when that changes.
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

/** The pool at the top of its cohort. */
export function rootOf(pool: Pool): Pool {
  let root = pool;
  while (root.parent !== null) root = root.parent;
  return root;
}

/** A pool and all below it. */
export function* descendants(pool: Pool): Generator<Pool, void, undefined> {
  yield pool;
  for (const child of pool.children) yield* descendants(child);
}

/** A pool and all above it, to the top. */
export function* ancestors(pool: Pool): Generator<Pool, void, undefined> {
  for (let up: Pool | null = pool; up !== null; up = up.parent) yield up;
}

/** All pools that share a limit with it. */
export function cohortOf(pool: Pool): Iterable<Pool> {
  return descendants(rootOf(pool));
}

/** Whether a limit was exceeded before the decision that grants these. */
function wasExceeded({ state, events, needs }: Opening): boolean {
  for (const [limit, count] of usesOf(needs)) {
    let used = limit.used;
    const undo = (resource: ResourceName, by: number): void => {
      if (isBelow(state, resource, limit)) used -= by;
    };
    for (const event of events) {
      if (event.type === "lease-granted") {
        for (const { resource, into = "" } of event.claims) {
          if (purposeOf(into) !== "clean") undo(resource, 1);
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
