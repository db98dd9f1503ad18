import type { Gate } from "./gate.ts";
import { hasHappened } from "./gate.ts";

/** Closes a pool on which a decision failed, until it is tried again (`decide/set-aside.ts`). */
export const suspensionGate: Gate = {
  name: "suspension",
  guards: ({ suspended }) => suspended !== null,
  closedBy({ needs }) {
    return needs.find(({ pool }) => pool.suspended !== null)?.pool ?? null;
  },
  /** Only a reload of the configuration opens this gate. */
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
