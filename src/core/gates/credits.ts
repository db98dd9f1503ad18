/**
 * Admission: a pool lends only while an external check reports room. Each claim uses one credit. A
 * worker sends the check's answer as a command, which sets the credits. Credits expire soon,
 * because the external state changes. Events record every change of the credits, so a restart
 * neither creates nor returns one.
 */
import type { Admitted, EventOf } from "../model/event.ts";
import { freeState } from "../model/lifecycle.ts";
import { type AdmissionState, must, type Pool, unchecked } from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { isPresent, presentText } from "../queue/available.ts";
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
  /** When the credits expire, resources kept for the request that had them are free for others. */
  opensAt({ waiting, admission }, now) {
    const lapses = waiting > 0 && admission.credits > 0 ? admission.until : never;
    return lapses > now ? lapses : never;
  },
  /** Nobody knows when the external check answers. */
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

/** Whether each claim of the pool needs a credit from an external check. */
export function needsAdmission({ policy }: Pool): boolean {
  return policy.admission !== undefined;
}

/** The number of claims that the check allows now. */
export function creditsOf({ admission: { credits, until } }: Pool, now: Instant): number {
  return until > now ? credits : 0;
}

/**
 * Cleaning creates nothing outside, so it needs no credit. A request that takes a free resource
 * always needs one, because a free resource is already clean.
 */
function needsCredit({ pool, state, purpose }: Use): boolean {
  return needsAdmission(pool) && (purpose === "use" || state === freeState);
}

/** Counts credits by pool, because the external check does not know the states of a pool. */
function creditsFor(uses: readonly Use[]): ReadonlyMap<Pool, number> {
  if (!uses.some(needsCredit)) return none;
  const counts = new Map<Pool, number>();
  for (const use of uses) {
    if (needsCredit(use)) counts.set(use.pool, (counts.get(use.pool) ?? 0) + use.count);
  }
  return counts;
}

const none: ReadonlyMap<Pool, number> = new Map();

/** The pools with fewer credits than these uses need, each with the number needed. */
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

/** How long the demand of a client counts that lacked credits and did not wait. */
const unmetDemandMs = 30_000;

/**
 * Records demand of a client that does not wait. The worker finds only waiting requests in the
 * queues.
 */
export function unmetDemandOf(uses: readonly Use[], now: Instant): EventOf<"demand-unmet">[] {
  return Array.from(missingCredits(uses, now), ([pool, count]) => {
    return { type: "demand-unmet", pool: pool.name, count, until: after(now, unmetDemandMs) };
  });
}

/** A new answer replaces the earlier one, because the external state has changed. */
export function admissionAfter(
  event: EventOf<"pool-admitted"> | EventOf<"pool-withheld">,
): AdmissionState {
  if (event.type === "pool-withheld") return { ...unchecked, why: event.why };
  return { credits: event.grants, until: event.until, why: null };
}
