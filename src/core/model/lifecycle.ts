/**
 * The states of a resource. People may use any other word as a state, as in Boskos: such a state is
 * lent to those who ask for it by name, and nothing else is known about it.
 */

/** Lent from here, unless a request names another state. */
export const freeState = "free";
/** Held by a lease, unless the holder calls it otherwise. */
export const busyState = "busy";
/** What people see of a resource whose lease was revoked and whose holder may still use it. */
export const revokingState = "revoking";
/** Given back and waiting for the end of its cooldown or lock-delay. */
export const coolingState = "cooling";
/** To be cleaned before it is lent again; and being cleaned. */
export const dirtyState = "dirty";
export const cleaningState = "cleaning";
/** Taken out of use because something is wrong with it. */
export const quarantinedState = "quarantined";
/** A dynamic resource that is to be deleted, and one that is deleted but not removed yet. */
export const toBeDeletedState = "toBeDeleted";
export const tombstoneState = "tombstone";
/** What people see of a drained resource that nobody holds. Never a state of its own. */
export const drainedState = "drained";

export interface StateRule {
  /** A request that names no state is lent resources in this one. */
  readonly lendable: boolean;
  /** It becomes lendable without a person: waiting requests need no new resource for it. */
  readonly returns: boolean;
  /** Its count is exported as a metric even while it is 0, so that a graph shows the zero. */
  readonly counted: boolean;
  /** What ends it by itself. */
  readonly deadline: "none" | "cooldown" | "deletion";
  /** Who may put a resource into it and take it out: the broker alone, or people and workers too. */
  readonly setBy: "broker" | "anyone";
}

const unknown: StateRule = {
  lendable: false,
  returns: false,
  counted: false,
  deadline: "none",
  setBy: "anyone",
};

const lifecycle: ReadonlyMap<string, StateRule> = new Map(
  Object.entries({
    [freeState]: { ...unknown, lendable: true, returns: true, counted: true },
    [busyState]: { ...unknown, counted: true, setBy: "broker" },
    [revokingState]: { ...unknown, setBy: "broker" },
    [coolingState]: { ...unknown, counted: true, deadline: "cooldown", setBy: "broker" },
    [dirtyState]: { ...unknown, returns: true, counted: true },
    [cleaningState]: unknown,
    [quarantinedState]: { ...unknown, counted: true },
    [toBeDeletedState]: { ...unknown, deadline: "deletion" },
    [tombstoneState]: unknown,
    [drainedState]: { ...unknown, setBy: "broker" },
  } satisfies Record<string, StateRule>),
);

export function ruleOf(state: string): StateRule {
  return lifecycle.get(state) ?? unknown;
}

export const countedStates: readonly string[] = [...lifecycle]
  .filter(([, { counted }]) => counted)
  .map(([state]) => state);

/** States that only the broker itself puts a resource into; elsewhere they would be a lie. */
export const reservedStates: readonly string[] = [...lifecycle]
  .filter(([, { setBy }]) => setBy === "broker")
  .map(([state]) => state);

/** Why a resource is held. Cleaning is neither paced nor limited, and has no lifetime. */
export type Purpose = "use" | "clean";

/** By the state that it is held in: a cleaner holds it as `cleaning`. */
export function purposeOf(heldState: string): Purpose {
  return heldState === cleaningState ? "clean" : "use";
}
