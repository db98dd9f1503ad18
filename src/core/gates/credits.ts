/**
 * Admission: a pool that is lent only while a check outside says that there is room. Each claim uses
 * up a credit, and credits come with a command, as a worker's answer does. They lapse soon, because
 * what was true outside when the check ran may not be true for long. Events tell all of it, so a
 * restart neither makes a credit nor returns one.
 */
import type { Admitted, EventOf } from "../model/event.ts";
import { freeState } from "../model/lifecycle.ts";
import { type AdmissionState, must, type Pool, unchecked } from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { isPresent, presentText } from "../queue/needs.ts";
import { type Gate, hasHappened, type Use } from "./gate.ts";

export const creditGate: Gate = {
  name: "credits",
  guards: needsAdmission,
  closedBy({ needs, now }) {
    for (const pool of missingCredits(needs, now).keys()) return pool;
    return null;
  },
  charge: chargeCredits,
  *charged(state, { admitted = [] }) {
    for (const { pool: name, count } of admitted) {
      const pool = must(state.pools.get(name), name);
      const credits = Math.max(0, pool.admission.credits - count);
      yield [pool, { admission: { ...pool.admission, credits } }];
    }
  },
  /** What was left for a request with credits is anybody's once these have lapsed. */
  opensAt({ waiting, admission }, now) {
    const lapses = waiting > 0 && admission.credits > 0 ? admission.until : never;
    return lapses > now ? lapses : never;
  },
  /** The check outside answers when it likes. */
  closedUntil: null,
  explain({ needs, rank, now }, need) {
    const { pool } = need;
    if (!missingCredits(needs, now).has(pool) || !isPresent(need, rank)) return null;
    const by = pool.policy.admission?.by ?? "";
    const { why } = pool.admission;
    const said = why === null ? `${by} has not answered yet` : `${by} says: ${why}`;
    return { code: "admission", what: `${presentText(need)}, but ${said}` };
  },
  openedIn({ events, needs }) {
    const wasAdmitted = needs.some(({ pool }) => hasHappened(events, "pool-admitted", pool));
    return wasAdmitted ? "admission" : null;
  },
};

/** Whether its policy makes each claim wait for a check outside. */
export function needsAdmission({ policy }: Pool): boolean {
  return policy.admission !== undefined;
}

/** How many claims may be lent now. */
export function creditsOf({ admission: { credits, until } }: Pool, now: Instant): number {
  return until > now ? credits : 0;
}

/** Cleaning makes nothing outside. But what is free is clean, whatever its taker means to do. */
function needsCredit({ pool, state, purpose }: Use): boolean {
  return needsAdmission(pool) && (purpose !== "clean" || state === freeState);
}

/** By pool: to the check outside, several states of one pool are the same. */
function creditsFor(uses: readonly Use[]): ReadonlyMap<Pool, number> {
  if (!uses.some(needsCredit)) return none;
  const counts = new Map<Pool, number>();
  for (const use of uses) {
    if (needsCredit(use)) counts.set(use.pool, (counts.get(use.pool) ?? 0) + use.count);
  }
  return counts;
}

const none: ReadonlyMap<Pool, number> = new Map();

/** The pools with fewer credits than these uses need, and how many they need. */
export function missingCredits(uses: readonly Use[], now: Instant): ReadonlyMap<Pool, number> {
  const needed = creditsFor(uses);
  if (needed.size === 0) return none;
  return new Map([...needed].filter(([pool, count]) => count > creditsOf(pool, now)));
}

function chargeCredits(
  uses: readonly Use[],
): { readonly admitted: readonly Admitted[] } | undefined {
  const counts = creditsFor(uses);
  if (counts.size === 0) return undefined;
  return { admitted: Array.from(counts, ([pool, count]) => ({ pool: pool.name, count })) };
}

/** How long a client counts as demand that lacked credits and did not wait. */
const unmetDemandMs = 30_000;

/** Who does not wait in a queue would not be found by a worker that looks for waiting requests. */
export function unmetDemandOf(uses: readonly Use[], now: Instant): EventOf<"demand-unmet">[] {
  return Array.from(missingCredits(uses, now), ([pool, count]) => {
    return { type: "demand-unmet", pool: pool.name, count, until: after(now, unmetDemandMs) };
  });
}

/** A new answer replaces the one before: it is what the outside is like now. */
export function admissionAfter(
  event: EventOf<"pool-admitted"> | EventOf<"pool-withheld">,
): AdmissionState {
  if (event.type === "pool-withheld") return { ...unchecked, why: event.why };
  return { credits: event.grants, until: event.until, why: null };
}
