/** The time that a replica measures intervals with, and its timers. The simulator has its own. */
export interface ReplicaClock {
  /** Milliseconds; never decreases, and goes on while the machine sleeps. */
  nowMs(): number;
  /** Calls `run` once, and returns a function that cancels it. */
  after(delayMs: number, run: () => void): () => void;
  /** From 0 to 1. */
  random(): number;
}

export interface ReplicaLimits {
  /** Without a renewal for this long, by the clock of the database, another replica may lead. */
  readonly leaseMs: number;
  /** The leader stops deciding this long before its lease ends, by its own clock. */
  readonly marginMs: number;
  readonly renewEveryMs: number;
  /** How often a follower looks at the journal while notifications arrive, and while they do not. */
  readonly pollEveryMs: number;
  readonly pollAloneEveryMs: number;
  /** Notifications that arrive within this time are answered by one read. */
  readonly gatherMs: number;
  /** After a failure it tries again after this time. */
  readonly retryMs: number;
  /** A follower waits for up to this long before it claims a lease that has run out. */
  readonly claimDelayMsMax: number;
  /** If the journal cannot be reached, a follower answers for this long from what it knows. */
  readonly staleMsMax: number;
  readonly reportEveryMs: number;
}

/** `docs/decisions/0027-one-replica-leads.md` says why. */
export const replicaLimits: ReplicaLimits = {
  leaseMs: 1_600,
  marginMs: 300,
  renewEveryMs: 400,
  pollEveryMs: 500,
  pollAloneEveryMs: 50,
  gatherMs: 5,
  retryMs: 100,
  claimDelayMsMax: 100,
  staleMsMax: 10_000,
  reportEveryMs: 1_000,
};

/**
 * The monotonic clock of Linux stops while the machine sleeps, and the wall clock can be set. A lease
 * must not be held for too long in either case, so the faster of the two counts.
 */
export class SystemReplicaClock implements ReplicaClock {
  #lastMonotonic = performance.now();
  #lastWall = Date.now();
  #elapsedMs = 0;

  nowMs(): number {
    const [monotonic, wall] = [performance.now(), Date.now()];
    this.#elapsedMs += Math.max(monotonic - this.#lastMonotonic, wall - this.#lastWall, 0);
    this.#lastMonotonic = monotonic;
    this.#lastWall = wall;
    return this.#elapsedMs;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  }

  random(): number {
    return Math.random();
  }
}
