import type { Gate } from "./gate.ts";
import { hasHappened } from "./gate.ts";

/** A pool on which a decision failed lends nothing until it is tried again (`decide/set-aside.ts`). */
export const suspensionGate: Gate = {
  name: "suspension",
  guards: ({ suspended }) => suspended !== null,
  closedBy({ needs }) {
    return needs.find(({ pool }) => pool.suspended !== null)?.pool ?? null;
  },
  /** A reload of the configuration opens it. */
  opensAt: null,
  closedUntil: null,
  explain(_, { pool: { name, suspended } }) {
    if (suspended === null) return null;
    return { code: "suspended", what: `${name} is suspended: ${suspended.why}` };
  },
  openedIn({ events, needs }) {
    const isResumed = needs.some(({ pool }) => hasHappened(events, "pool-resumed", pool));
    return isResumed ? "suspended" : null;
  },
};
