/**
 * A pool that is lent only while somebody outside says that there is room: each claim uses up a
 * credit, and credits come with a command, as any worker's word does. They lapse soon, because what was
 * true of the outside when it was looked at may not be true for long. All of it is told by events, so a
 * restart neither makes a credit nor gives one back.
 */
import type { Admitted, EventOf } from "./event.ts";
import { cleaningState, type Need, type Pool, unchecked } from "./state.ts";
import type { Instant } from "./time.ts";

/** Whether what is lent of the pool waits for a word from outside. */
export function isGuarded({ policy }: Pool): boolean {
  return policy.admission !== undefined;
}

/** So many may be lent at this moment. */
export function creditsOf({ admission: { credits, until } }: Pool, now: Instant): number {
  return until > now ? credits : 0;
}

/** Cleaning makes nothing outside: it needs no room, and uses up no credit. */
export function isAdmitted({ pool, into, count }: Need, now: Instant): boolean {
  return into === cleaningState || !isGuarded(pool) || count <= creditsOf(pool, now);
}

/** The credits that a grant uses up, for its event. */
export function admittedBy(
  needs: readonly Pick<Need, "pool" | "into" | "count">[],
): { readonly admitted: readonly Admitted[] } | undefined {
  if (!needs.some(({ pool }) => isGuarded(pool))) return undefined;
  const counts = new Map<Pool, number>();
  for (const { pool, into, count } of needs) {
    if (into === cleaningState || !isGuarded(pool)) continue;
    counts.set(pool, (counts.get(pool) ?? 0) + count);
  }
  if (counts.size === 0) return undefined;
  return { admitted: Array.from(counts, ([pool, count]) => ({ pool: pool.name, count })) };
}

/** A new word replaces the one before: it is what the outside is like now. */
export function poolAdmitted(pool: Pool, { grants, until }: EventOf<"pool-admitted">): void {
  pool.admission = { credits: grants, until, why: null };
}

export function poolWithheld(pool: Pool, { why }: EventOf<"pool-withheld">): void {
  pool.admission = { ...unchecked, why };
}

export function useCredits(pool: Pool, count: number): void {
  const { admission } = pool;
  pool.admission = { ...admission, credits: Math.max(0, admission.credits - count) };
}
