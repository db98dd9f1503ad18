/** Keeps the trees of pools that share limits and paces, and what is used of each. */
import { cohortOf, descendants, rootOf } from "../gates/limits.ts";
import type { Pool, State } from "../model/state.ts";
import { edit } from "./edit.ts";

/** Counts a claim for a pool and for all above it. */
export function countUse(pool: Pool, by: number): void {
  for (let up: Pool | null = pool; up !== null; up = up.parent) edit(up).used += by;
}

/** Puts a pool, with what it has lent, below the parent that its policy names. */
export function linkParent(state: State, pool: Pool): void {
  const name = pool.policy.parent;
  const named = name === undefined ? null : (state.pools.get(name) ?? null);
  if (name !== undefined && named === null) edit(state.orphans).add(pool);
  else edit(state.orphans).delete(pool);
  // Files with a circle are refused before they come here; nothing may ever hang on one.
  const parent = named !== null && rootOf(named) === pool ? null : named;
  if (pool.parent === parent) return;
  unlink(pool);
  edit(pool).parent = parent;
  if (parent === null) return;
  edit(parent.children).add(pool);
  countUse(parent, pool.used);
  forgetGates(cohortOf(parent));
}

function unlink(pool: Pool): void {
  const { parent } = pool;
  if (parent === null) return;
  forgetGates(cohortOf(parent));
  edit(parent.children).delete(pool);
  countUse(parent, -pool.used);
  edit(pool).parent = null;
}

/** A pool that is new: pools that wait for a parent of its name are put below it. */
export function enterCohort(state: State, pool: Pool): void {
  linkParent(state, pool);
  for (const orphan of state.orphans) linkParent(state, orphan);
}

/** A pool that is gone: the pools below it have no parent until one of that name comes. */
export function leaveCohort(state: State, pool: Pool): void {
  unlink(pool);
  edit(state.orphans).delete(pool);
  for (const child of [...pool.children]) linkParent(state, child);
}

/** What guards a pool depends on its own policy and rate and on those of all above it. */
export function forgetGatesBelow(pool: Pool): void {
  forgetGates(descendants(pool));
}

function forgetGates(pools: Iterable<Pool>): void {
  for (const { cache } of pools) cache.gates = null;
}
