/**
 * The states of a resource. People may use any other word as a state, as in Boskos. The broker
 * knows no rule for such a state, and lends from it only to requests that name it.
 */

/** Lendable. Requests take resources from this state, unless they name another state. */
export const freeState = "free";
/** The state of a held resource, unless the request names another state. */
export const busyState = "busy";
/**
 * Only shown: the state of a resource whose lease was revoked, while the holder may still use it.
 */
export const revokingState = "revoking";
/** Released, and waiting for the end of its cooldown or lock-delay. */
export const coolingState = "cooling";
/** Must be cleaned before it is lent again. */
export const dirtyState = "dirty";
/** A cleaner holds it. */
export const cleaningState = "cleaning";
/** Out of use, because its cleaning failed too often or because an operator took it out. */
export const quarantinedState = "quarantined";
/** A dynamic resource that must be deleted. */
export const toBeDeletedState = "toBeDeleted";
/** A dynamic resource that is deleted, but not removed from its pool yet. */
export const tombstoneState = "tombstone";
/**
 * Only shown: a drained resource without a holder. The resource keeps its real state in `state`.
 */
export const drainedState = "drained";

/** The states of a cluster, a resource that Berth makes (`cluster.ts`). In other pools, words. */

/** Planned. Nothing, a part of it or all of it exists outside. */
export const creatingState = "creating";
/** Shall be put to sleep. */
export const stoppingState = "stopping";
export const hibernatedState = "hibernated";
/** Shall be woken. */
export const resumingState = "resuming";
/** Was lent, or is not needed: never lent again, and destroyed as soon as the plan allows. */
export const usedState = "used";
/** Failed for good or took too long. Destroyed as soon as the plan allows. */
export const brokenState = "broken";
/** Shall be destroyed. It counts against all limits until that is confirmed. */
export const destroyingState = "destroying";

/** Only shown: an idle cluster whose hub cannot be reached. The cluster keeps its real state. */
export const unreachableState = "unreachable";

/** The states that a pool of clusters counts, besides `free` and `busy`. */
export const clusterStates: readonly string[] = [
  creatingState,
  stoppingState,
  hibernatedState,
  resumingState,
  usedState,
  brokenState,
  destroyingState,
];

export interface StateRule {
  /** A request that names no state gets resources in this state. */
  readonly lendable: boolean;
  /**
   * The resource becomes lendable without help from a person, so the pool makes no dynamic resource
   * in its place. For a cooling resource, the rule of the state after the cooldown counts.
   */
  readonly returns: boolean;
  /** The count of this state is a metric even while it is 0, so that a graph shows the zero. */
  readonly counted: boolean;
  /** The deadline after which the broker ends this state. */
  readonly deadline: "none" | "cooldown" | "deletion";
  /** Who may set and end this state: only the broker, or people and workers too. */
  readonly setBy: "broker" | "anyone";
}

const defaultRule: StateRule = {
  lendable: false,
  returns: false,
  counted: false,
  deadline: "none",
  setBy: "anyone",
};

const lifecycle: ReadonlyMap<string, StateRule> = new Map(
  Object.entries({
    [freeState]: { ...defaultRule, lendable: true, returns: true, counted: true },
    [busyState]: { ...defaultRule, counted: true, setBy: "broker" },
    [revokingState]: { ...defaultRule, setBy: "broker" },
    [coolingState]: { ...defaultRule, counted: true, deadline: "cooldown", setBy: "broker" },
    [dirtyState]: { ...defaultRule, returns: true, counted: true },
    [cleaningState]: defaultRule,
    [quarantinedState]: { ...defaultRule, counted: true },
    [toBeDeletedState]: { ...defaultRule, deadline: "deletion" },
    [tombstoneState]: defaultRule,
    [drainedState]: { ...defaultRule, setBy: "broker" },
    [unreachableState]: { ...defaultRule, setBy: "broker" },
  } satisfies Record<string, StateRule>),
);

export function ruleOf(state: string): StateRule {
  return lifecycle.get(state) ?? defaultRule;
}

export const countedStates: readonly string[] = [...lifecycle]
  .filter(([, { counted }]) => counted)
  .map(([state]) => state);

/** States that only the broker sets. If a client set one of them, it would be false. */
export const reservedStates: readonly string[] = [...lifecycle]
  .filter(([, { setBy }]) => setBy === "broker")
  .map(([state]) => state);

/** States that the broker and cleaners use, so a pool's list of allowed states need not have them. */
export const ownStates: readonly string[] = [...lifecycle.keys()].filter(
  (state) => state !== freeState && state !== dirtyState,
);

/**
 * Why a resource is held: for use, for cleaning, or to make or destroy a cluster. Only use is paced,
 * limited and counted, and has a lifetime.
 */
export type Purpose = "use" | "clean" | "provision";

/** The part of a grant that tells its purpose. */
export interface Purposeful {
  /** The state while it is held. Absent: `busy`. */
  readonly into?: string | undefined;
  /** Absent: the state tells it. */
  readonly purpose?: "provision" | undefined;
}

/** Whether only a worker may ask for it: what is not free, or a claim that counts as no use. */
export function isUpkeep({ state = freeState, into = busyState }: Wanted): boolean {
  return state !== freeState || purposeOf({ into }) === "clean";
}

interface Wanted {
  readonly state?: string | undefined;
  readonly into?: string | undefined;
}

/** A claim in the state `cleaning` is for cleaning; every other claim is for use, unless it says so. */
export function purposeOf({ into, purpose }: Purposeful): Purpose {
  return purpose ?? (into === cleaningState ? "clean" : "use");
}
