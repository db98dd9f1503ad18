/** All time limits and retry limits of the slots, in addition to those of the client. */
export const slotLimits = {
  /** If the first in the queue does not take a free slot for this long, it is skipped. */
  turnMs: 15_000,
  /** The others in the queue act one after the other, so that only one of them writes. */
  turnStepMs: 500,
  /** A timer that fires this late was delayed by a stalled process, so the wait proves nothing. */
  lateMsMax: 2_000,
  /** A ticket expires this long after the longest time that its owner wants to wait. */
  ticketSlackSeconds: 60,
  /** How often a change is retried after a conflict with another writer. */
  conflictsMax: 50,
  /** A rejection that lasts for this long is permanent. */
  deniedMs: 5_000,
  slotsMax: 1_000,
  durationSecondsMin: 2,
  durationSecondsMax: 7 * 86_400,
  /** A cluster without a slot becomes an orphan after this time. */
  orphanGraceMs: 30 * 60_000,
} as const;
