/**
 * A second ledger of cohorts: no grant takes all spaces of a cohort beyond the sum of their quotas, and
 * no grant borrows what another space needs for a request within its own quota.
 */
import type { Quota, SpacePolicy } from "../src/core/model/space.ts";
import { assertInvariant } from "./violation.ts";

export interface Holdings {
  policies(): ReadonlyMap<string, SpacePolicy>;
  heldBy(space: string, pool: string): number;
  /** How many each waiting request wants. */
  wantedBy(space: string, pool: string): readonly number[];
}

interface Member {
  readonly space: string;
  readonly quota: Quota;
  readonly held: number;
}

export class CohortLedger {
  readonly #holdings: Holdings;

  constructor(holdings: Holdings) {
    this.#holdings = holdings;
  }

  /** Called after the grant is in the books. */
  checkGrant(id: string, space: string, quota: Quota): void {
    const members = this.#membersOf(space, quota);
    const own = members.find((member) => member.space === space);
    const { borrow = Number.POSITIVE_INFINITY, max, pool } = quota;
    const held = own?.held ?? 0;
    assertInvariant(
      held <= max + borrow,
      () => `${id} took ${space} to ${held} ${pool}, more than its quota and what it may borrow`,
    );
    const [used, all] = [sumOf(members, usedOf), sumOf(members, lentOf)];
    const took = own === undefined ? 0 : usedOf(own);
    assertInvariant(
      took === 0 || used <= all,
      () => `${id} took the cohort of ${space} to ${used} of ${all} ${pool}`,
    );
    if (held <= max) return;
    const others = members.filter((member) => member !== own);
    const needed = sumOf(others, (member) => this.#neededBy(member));
    assertInvariant(
      used + needed <= all,
      () => `${id} borrowed ${pool} that others wait for within their quotas`,
    );
  }

  /** Whether the space would have to borrow, or others have borrowed its part. */
  isFull(space: string, quota: Quota, count: number): boolean {
    const members = this.#membersOf(space, quota);
    const own = members.find((member) => member.space === space);
    if (own === undefined) return false;
    const used = sumOf(members, usedOf) - usedOf(own) + usedOf({ ...own, held: own.held + count });
    return own.held + count > quota.max || used > sumOf(members, lentOf);
  }

  #membersOf(space: string, { pool }: Quota): Member[] {
    const policies = this.#holdings.policies();
    const cohort = policies.get(space)?.cohort;
    if (cohort === undefined) return [];
    return [...policies].flatMap(([name, policy]) => {
      if (policy.cohort !== cohort) return [];
      const quotas = policy.quotas.filter(
        (one) => one.pool === pool && one.dimension === undefined,
      );
      const held = this.#holdings.heldBy(name, pool);
      return quotas.map((quota) => ({ space: name, quota, held }));
    });
  }

  /** What waiting requests within the quota of a space need of what the cohort lends. */
  #neededBy(member: Member): number {
    const { space, quota, held } = member;
    const left = Math.max(0, quota.max - held);
    const fitting = this.#holdings.wantedBy(space, quota.pool).filter((size) => size <= left);
    const wanted = fitting.reduce((sum, size) => sum + size, 0);
    return usedOf({ ...member, held: held + Math.min(left, wanted) }) - usedOf(member);
  }
}

function sumOf(members: readonly Member[], count: (member: Member) => number): number {
  return members.reduce((sum, member) => sum + count(member), 0);
}

function lentOf({ quota: { max, lend = max } }: Member): number {
  return Math.min(max, lend);
}

function usedOf(member: Member): number {
  return Math.max(0, member.held - (member.quota.max - lentOf(member)));
}
