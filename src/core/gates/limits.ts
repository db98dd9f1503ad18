/**
 * Pools that draw on one another: an account on top, below it the names under which it is offered.
 * What is lent at the bottom counts against every limit up to the top. Limits are kept by not
 * lending; a reload that lowers one takes nothing from anybody.
 *
 * Where a limit is what is missing, it is kept for whoever has waited longest for it, in whichever
 * pool of the tree: so a request for three is not starved by many for one next door.
 */

import type { PoolName } from "../model/ids.ts";
import type { PoolSpec } from "../model/policy.ts";
import { cleaningState, idleCount, type Need, type Pool, type State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { compareRank, type Ranked } from "../queue/ranked-queue.ts";
import { canPlace } from "../shared/place.ts";
import { isTimeFor } from "./credits.ts";

export function hasCohort({ parent, children, policy }: Pool): boolean {
  return parent !== null || children.size > 0 || policy.limit !== undefined;
}

/** How many may be held of a pool and of what draws on it. */
export function limitOf({ policy, size }: Pool): number {
  return policy.limit ?? Math.max(size, policy.dynamic?.max ?? 0);
}

/** The limits that a grant from this pool must keep, from the bottom to the top. */
export function* limitsFor(pool: Pool): Generator<Pool, void, undefined> {
  if (pool.children.size > 0 || pool.policy.limit !== undefined) yield pool;
  for (let up = pool.parent; up !== null; up = up.parent) yield up;
}

/** What a limit has to do with of a need. */
type Use = Pick<Need, "pool" | "into" | "count">;

/** How much a grant would use of each limit. */
export function usesOf(needs: readonly Use[]): ReadonlyMap<Pool, number> {
  if (!needs.some(({ pool }) => hasCohort(pool))) return noUses;
  const uses = new Map<Pool, number>();
  for (const { pool, into, count } of needs) {
    if (into === cleaningState) continue;
    for (const limit of limitsFor(pool)) uses.set(limit, (uses.get(limit) ?? 0) + count);
  }
  return uses;
}

const noUses: ReadonlyMap<Pool, number> = new Map();

/** The limits that leave no room for all of these now. */
export function exceeded(needs: readonly Use[]): Pool[] {
  const short = (limit: Pool, count: number) => limit.used + count > limitOf(limit);
  return [...usesOf(needs)].flatMap(([limit, count]) => (short(limit, count) ? [limit] : []));
}

/** The limits that these would exceed even if nothing else were lent. */
export function beyondLimits(
  needs: readonly Need[],
): { readonly pool: PoolName; readonly asked: number; readonly size: number }[] {
  const beyond = [];
  for (const [limit, asked] of usesOf(needs)) {
    const size = limitOf(limit);
    if (asked > size) beyond.push({ pool: limit.name, asked, size });
  }
  return beyond;
}

/** Whether every limit has room for one who stands at this rank. */
export function hasRoom(needs: readonly Need[], rank: Ranked, now: Instant): boolean {
  if (!needs.some(({ pool }) => hasCohort(pool))) return true;
  return exceeded(needs).length === 0 && isFirst(needs, rank, now);
}

/** Whether each limit has room for it, or goes to it next of those who share it. */
export function isItsTurn(needs: readonly Need[], rank: Ranked, now: Instant): boolean {
  if (!needs.some(({ pool }) => hasCohort(pool))) return true;
  return exceeded(needs).every(({ children }) => children.size > 0) && isFirst(needs, rank, now);
}

function isFirst(needs: readonly Need[], rank: Ranked, now: Instant): boolean {
  return [...usesOf(needs).keys()].every((limit) => !isKeptFor(limit, rank, now));
}

/** Whether somebody who came before waits for this limit, or could go this very moment. */
function isKeptFor(limit: Pool, rank: Ranked, now: Instant): boolean {
  const root = rootOf(limit);
  for (const pool of descendants(limit)) {
    for (const { queue } of pool.buckets.values()) {
      const first = queue.at(0);
      if (first === undefined || compareRank(first, rank) >= 0) continue;
      if (first.alternatives.some((option) => wants(option, first, { limit, root, now })))
        return true;
    }
  }
  return false;
}

/**
 * Somebody who also needs what is outside of the tree may be overtaken here: whether it can go is
 * decided elsewhere, and nobody would look here again when that changes.
 */
function wants(needs: readonly Need[], rank: Ranked, { limit, root, now }: Keeping): boolean {
  if (!usesOf(needs).has(limit) || needs.some(({ pool }) => rootOf(pool) !== root)) return false;
  const isReady = isTimeFor(needs, now) && needs.every((need) => isPresent(need, rank));
  if (!isReady) return false;
  const short = exceeded(needs);
  return short.length === 0 || short.includes(limit);
}

interface Keeping {
  readonly limit: Pool;
  readonly root: Pool;
  readonly now: Instant;
}

/** Whether it is there, whoever else waits for it. */
export function isPresent(need: Need, rank: Ranked): boolean {
  if (need.demands !== null) return canPlace(need, rank);
  return need.count <= idleCount(need.pool, need.state);
}

function rootOf(pool: Pool): Pool {
  let root = pool;
  while (root.parent !== null) root = root.parent;
  return root;
}

/** A pool and all that draws on it, over any number of steps. */
export function* descendants(pool: Pool): Generator<Pool, void, undefined> {
  yield pool;
  for (const child of pool.children) yield* descendants(child);
}

/** All that shares a limit with it. */
export function cohortOf(pool: Pool): Iterable<Pool> {
  return descendants(rootOf(pool));
}

export function countUse(pool: Pool, by: number): void {
  for (let up: Pool | null = pool; up !== null; up = up.parent) up.used += by;
}

/** Moves a pool, with what it has lent, below the parent that its policy names. */
export function linkParent(state: State, pool: Pool): void {
  const name = pool.policy.parent;
  const named = name === undefined ? null : (state.pools.get(name) ?? null);
  if (name !== undefined && named === null) state.orphans.add(pool);
  else state.orphans.delete(pool);
  // Files with a circle are refused before they come here; nothing may ever hang on one.
  const parent = named !== null && rootOf(named) === pool ? null : named;
  if (pool.parent === parent) return;
  detach(pool);
  pool.parent = parent;
  parent?.children.add(pool);
  if (parent !== null) countUse(parent, pool.used);
}

function detach(pool: Pool): void {
  if (pool.parent === null) return;
  pool.parent.children.delete(pool);
  countUse(pool.parent, -pool.used);
  pool.parent = null;
}

/** A pool that has just come: what was left of its name, under whatever file, draws on it again. */
export function enterTree(state: State, pool: Pool): void {
  linkParent(state, pool);
  for (const orphan of state.orphans) linkParent(state, orphan);
}

/** What drew on a pool that is no more draws on nothing, until one of that name comes. */
export function leaveTree(state: State, pool: Pool): void {
  detach(pool);
  state.orphans.delete(pool);
  for (const child of [...pool.children]) linkParent(state, child);
}

/**
 * What a file lists, each pool behind the one that it draws on: defined in this order, pools that
 * change places never draw on each other in a circle on the way.
 */
export function parentsFirst(pools: readonly PoolSpec[]): readonly PoolSpec[] {
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
