/** Every wait and retry of the slots, by name; those of the client hold beside them. */
export const slotLimits = {
  /** Who is first in line and leaves a free slot alone for so long is passed over. */
  turnMs: 15_000,
  /** Those behind step in one after the other, so that one write does it. */
  turnStepMs: 500,
  /** A timer that is so late was kept from running: what it waited for proves nothing. */
  lateMsMax: 2_000,
  /** A ticket says that its owner is gone so long after it meant to wait at the most. */
  ticketSlackSeconds: 60,
  /** How often a change is tried anew because somebody else wrote in between. */
  conflictsMax: 50,
  /** A "no" that stays for so long while one waits is meant. */
  deniedMs: 5_000,
  slotsMax: 1_000,
  durationSecondsMin: 2,
  durationSecondsMax: 7 * 86_400,
  /** A cluster without a slot is an orphan after this. */
  orphanGraceMs: 30 * 60_000,
} as const;
