/** What is left of the quotas of a space. */
import { type Cohort, type Loan, loanRefused, mostOf } from "./cohort.ts";
import { claimsKey, heldOf, type Quota, type Space } from "./space.ts";
import type { Need, Pool } from "./state.ts";

/** The part of a need that quotas count. */
export type QuotaUse = Pick<Need, "pool" | "purpose" | "count"> & Partial<Pick<Need, "sharing">>;

/** A quota that is too small for a request now. */
export interface QuotaShortage {
  /** The pool, and for amounts the dimension; undefined: the quota of costs. */
  readonly quota: Quota | undefined;
  readonly held: number;
  readonly asked: number;
  readonly max: number;
  /** In a cohort: why it may not borrow now. */
  readonly loan?: Loan;
  readonly cohort?: Cohort;
}

export function hasQuota(space: Space | null): space is Space {
  return space !== null && (space.policy.quotas.length > 0 || space.policy.costMax !== undefined);
}

/** The first quota that a grant of these needs would exceed; undefined if none. */
export function quotaShortage(
  space: Space | null,
  needs: readonly QuotaUse[],
): QuotaShortage | undefined {
  return hasQuota(space)
    ? (heldShortage(space, needs) ?? costShortage(space, needs, space.cost))
    : undefined;
}

/** The smallest quota that these needs exceed even if the space holds nothing. */
export function quotaTooSmall(
  space: Space | null,
  needs: readonly QuotaUse[],
): QuotaShortage | undefined {
  return hasQuota(space)
    ? (sizeShortage(space, needs) ?? costShortage(space, needs, 0))
    : undefined;
}

function heldShortage(space: Space, needs: readonly QuotaUse[]): QuotaShortage | undefined {
  for (const quota of space.policy.quotas) {
    const asked = askedOf(quota, needs);
    if (asked === 0) continue;
    const held = heldUnder(space, quota, needs);
    const loan = loanRefused(space, quota, held, asked);
    if (loan === undefined) continue;
    const { cohort } = space;
    return {
      quota,
      held,
      asked,
      max: quota.max,
      ...(cohort === null ? undefined : { loan, cohort }),
    };
  }
  return undefined;
}

function sizeShortage(space: Space, needs: readonly QuotaUse[]): QuotaShortage | undefined {
  let found: QuotaShortage | undefined;
  for (const quota of space.policy.quotas) {
    const [asked, max] = [askedOf(quota, needs), mostOf(space, quota)];
    if (asked <= max) continue;
    const isTighter = quota.dimension === found?.quota?.dimension && max < (found?.max ?? 0);
    if (found === undefined || isTighter) found = { quota, held: 0, asked, max };
  }
  return found;
}

function costShortage(
  { policy: { costMax: max } }: Space,
  needs: readonly QuotaUse[],
  held: number,
): QuotaShortage | undefined {
  if (max === undefined) return undefined;
  const asked = costOf(needs);
  return asked > 0 && held + asked > max ? { quota: undefined, held, asked, max } : undefined;
}

export function costOf(needs: readonly QuotaUse[]): number {
  let sum = 0;
  for (const { pool, purpose, count } of needs) {
    if (purpose === "use") sum += count * (pool.policy.cost ?? 0);
  }
  return sum;
}

/** How much these needs ask for of what a quota limits. */
export function askedOf(quota: Quota, needs: readonly QuotaUse[]): number {
  let sum = 0;
  for (const need of needs) {
    if (need.purpose !== "use" || poolAt(need.pool, quota) === undefined) continue;
    sum += quota.dimension === undefined ? need.count : amountOf(need, quota.dimension);
  }
  return sum;
}

function amountOf(need: QuotaUse, dimension: string): number {
  if (!("demands" in need)) return 0;
  let sum = 0;
  for (const { count, amounts } of (need as Extract<Need, { sharing: "shared" }>).demands) {
    sum += count * (amounts.find(([name]) => name === dimension)?.[1] ?? 0);
  }
  return sum;
}

/** The pool of a quota, if it is this pool or above it. */
function poolAt(pool: Pool, { pool: name }: Quota): Pool | undefined {
  for (let up: Pool | null = pool; up !== null; up = up.parent) if (up.name === name) return up;
  return undefined;
}

function heldUnder(space: Space, quota: Quota, needs: readonly QuotaUse[]): number {
  for (const { pool } of needs) {
    const limited = poolAt(pool, quota);
    if (limited !== undefined) return heldOf(space, limited, quota.dimension ?? claimsKey);
  }
  return 0;
}

/**
 * Whether only a release of the same space can let the request pass, or pass with something of this
 * pool. It then keeps nothing there, also if it may take something of another pool instead.
 */
export function isHeldBackByQuota({ space, alternatives }: Waiting, at?: Pool): boolean {
  if (!hasQuota(space) || alternatives === undefined) return false;
  return alternatives.every((needs) => {
    const isElsewhere = at !== undefined && !needs.some(({ pool }) => pool === at);
    return isElsewhere || quotaShortage(space, needs) !== undefined;
  });
}

/** The first alternative that the quotas of its space allow now; if they allow none, the first. */
export function bestAlternative({ space, alternatives }: Required<Waiting>): readonly Need[] {
  const allowed = hasQuota(space)
    ? alternatives.find((needs) => quotaShortage(space, needs) === undefined)
    : undefined;
  return allowed ?? alternatives[0] ?? [];
}

/** A rank without alternatives is that of a newcomer, which keeps nothing anyway. */
interface Waiting {
  readonly space: Space | null;
  readonly alternatives?: readonly (readonly Need[])[];
}
