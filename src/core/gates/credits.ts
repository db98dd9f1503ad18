/**
 * A pool that is lent only while somebody outside says that there is room: each claim uses up a
 * credit, and credits come with a command, as any worker's word does. They lapse soon, because what was
 * true of the outside when it was looked at may not be true for long. All of it is told by events, so a
 * restart neither makes a credit nor gives one back.
 */
import type { Admitted, EventOf } from "../model/event.ts";
import { cleaningState, freeState, type Need, type Pool, unchecked } from "../model/state.ts";
import { after, type Instant } from "../model/time.ts";
import { isOpen } from "./pace.ts";

/** Whether what is lent of the pool waits for a word from outside. */
export function needsAdmission({ policy }: Pool): boolean {
  return policy.admission !== undefined;
}

/** So many may be lent at this moment. */
export function creditsOf({ admission: { credits, until } }: Pool, now: Instant): number {
  return until > now ? credits : 0;
}

/** What is asked of a pool, as far as a word from outside is concerned. */
export type Use = Pick<Need, "pool" | "state" | "into" | "count">;

/** Cleaning makes nothing outside. But what is free is clean, whatever its taker means to do. */
function needsCredit({ pool, state, into }: Use): boolean {
  return needsAdmission(pool) && (into !== cleaningState || state === freeState);
}

/** By pool: several states of one are one to whoever looks outside. */
function creditsFor(uses: readonly Use[]): ReadonlyMap<Pool, number> {
  if (!uses.some(needsCredit)) return none;
  const counts = new Map<Pool, number>();
  for (const use of uses) {
    if (needsCredit(use)) counts.set(use.pool, (counts.get(use.pool) ?? 0) + use.count);
  }
  return counts;
}

const none: ReadonlyMap<Pool, number> = new Map();

/** The pools of which more is asked than there are credits now, with all that is asked of them. */
export function lackingCredit(uses: readonly Use[], now: Instant): ReadonlyMap<Pool, number> {
  const asked = creditsFor(uses);
  if (asked.size === 0) return none;
  return new Map([...asked].filter(([pool, count]) => count > creditsOf(pool, now)));
}

export function isAdmitted(uses: readonly Use[], now: Instant): boolean {
  return lackingCredit(uses, now).size === 0;
}

/** Whether it is time for all of these, as far as their pools are concerned. */
export function isTimeFor(needs: readonly Need[], now: Instant): boolean {
  return needs.every((need) => isOpen(need, now)) && isAdmitted(needs, now);
}

/** The credits that a grant uses up, for its event. */
export function admittedBy(
  uses: readonly Use[],
): { readonly admitted: readonly Admitted[] } | undefined {
  const counts = creditsFor(uses);
  if (counts.size === 0) return undefined;
  return { admitted: Array.from(counts, ([pool, count]) => ({ pool: pool.name, count })) };
}

/** For so long it is remembered that somebody came and went who would not wait. */
const wishMs = 30_000;

/**
 * Who does not wait in line is seen by nobody who looks for those that wait. Not a fact but a note: if it
 * is lost, they ask again.
 */
export function noteUnmetDemand(uses: readonly Use[], now: Instant): void {
  for (const [pool, count] of lackingCredit(uses, now)) {
    pool.unmetDemand = { count, until: after(now, wishMs) };
  }
}

/** A new word replaces the one before: it is what the outside is like now. */
export function poolAdmitted(pool: Pool, { grants, until }: EventOf<"pool-admitted">): void {
  pool.admission = { credits: grants, until, why: null };
  pool.unmetDemand = null;
}

export function poolWithheld(pool: Pool, { why }: EventOf<"pool-withheld">): void {
  pool.admission = { ...unchecked, why };
}

export function useCredits(pool: Pool, count: number): void {
  const { admission } = pool;
  pool.admission = { ...admission, credits: Math.max(0, admission.credits - count) };
}
