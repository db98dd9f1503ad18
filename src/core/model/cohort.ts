/**
 * Spaces of a cohort lend each other what they do not use of their quotas. A space may hold more than
 * its quota as long as all together hold no more than all quotas, and as long as the rest is enough
 * for the requests of the others that wait within their own quotas: what was lent is given back to
 * these first. Nobody loses what it holds.
 */
import { claimsKey, heldOf, type Quota, type Space, type SpacePolicy } from "./space.ts";
import type { Pool, State } from "./state.ts";

export interface Cohort {
  readonly name: string;
  /** By `quotaKey`. */
  readonly quotas: ReadonlyMap<string, CohortQuota>;
}

/** The quotas of all spaces of a cohort on one pool or dimension. */
export interface CohortQuota extends Quoted {
  readonly pool: Quota["pool"];
  /** The sum of what its spaces lend. */
  readonly capacity: number;
}

/** What a space, or all together, use of the capacity, and what waiting requests may claim of it. */
export interface Quoted {
  readonly used: number;
  readonly reserved: number;
}

export const nothingQuoted: Quoted = { used: 0, reserved: 0 };

export function quotaKey({ pool, dimension }: Quota): string {
  return dimension === undefined ? pool : `${pool} ${dimension}`;
}

/** The cohorts of the configured spaces. A space that is not listed lends and borrows nothing. */
export function cohortsOf(policies: Iterable<SpacePolicy>): Map<string, Cohort> {
  const cohorts = new Map<string, Cohort>();
  for (const { cohort: name, quotas } of policies) {
    if (name === undefined) continue;
    const cohort = cohorts.get(name) ?? { name, quotas: new Map<string, CohortQuota>() };
    cohorts.set(name, cohort);
    for (const quota of quotas) addQuota(cohort.quotas as Map<string, CohortQuota>, quota);
  }
  return cohorts;
}

function addQuota(quotas: Map<string, CohortQuota>, quota: Quota): void {
  const key = quotaKey(quota);
  const capacity = (quotas.get(key)?.capacity ?? 0) + lendableOf(quota);
  quotas.set(key, { pool: quota.pool, capacity, ...nothingQuoted });
}

/** How much of a quota others may use. */
function lendableOf({ max, lend = max }: Quota): number {
  return Math.min(max, lend);
}

/** What a space uses of the cohort if it holds this much: not the part that it never lends. */
export function usedBy(quota: Quota, held: number): number {
  return Math.max(0, held - (quota.max - lendableOf(quota)));
}

/** What a space uses now, and what its waiting requests within its quota may claim. */
export function quotedOf({ pools }: Pick<State, "pools">, space: Space, quota: Quota): Quoted {
  const pool = pools.get(quota.pool);
  const held = pool === undefined ? 0 : heldIn(space, pool, quota);
  const used = usedBy(quota, held);
  const left = Math.max(0, quota.max - held);
  let wanted = 0;
  for (const [size, count] of space.wanted.get(quotaKey(quota)) ?? []) {
    // A larger request must borrow, and waits for its turn to borrow.
    if (size <= left) wanted += size * count;
  }
  return { used, reserved: usedBy(quota, held + Math.min(left, wanted)) - used };
}

export function heldIn(space: Space, pool: Pool, { dimension = claimsKey }: Quota): number {
  return heldOf(space, pool, dimension);
}

/** Why a space of a cohort cannot have more now. */
export type Loan = "bound" | "lent" | "kept";

/** Why the cohort does not allow the space to take this much; undefined if it does. */
export function loanRefused(
  space: Space,
  quota: Quota,
  held: number,
  asked: number,
): Loan | undefined {
  const { max, borrow = Number.POSITIVE_INFINITY } = quota;
  const all = space.cohort?.quotas.get(quotaKey(quota));
  if (all === undefined) return held + asked > max ? "bound" : undefined;
  if (held + asked > max + borrow) return "bound";
  const own = space.quoted.get(quotaKey(quota)) ?? nothingQuoted;
  const used = all.used - own.used + usedBy(quota, held + asked);
  if (used > all.capacity) return "lent";
  const isBorrowed = held + asked > max;
  return isBorrowed && used + all.reserved - own.reserved > all.capacity ? "kept" : undefined;
}

/** The most that the space could hold if no other space held anything. */
export function mostOf(space: Space, quota: Quota): number {
  const { max, borrow = Number.POSITIVE_INFINITY } = quota;
  const all = space.cohort?.quotas.get(quotaKey(quota));
  if (all === undefined) return max;
  return Math.min(max + borrow, max - lendableOf(quota) + all.capacity);
}
