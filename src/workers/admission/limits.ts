/** All time limits of the admission checks. */
export const admissionLimits = {
  /** How long credits are valid: long enough to check two pools for one request. */
  creditMs: 15_000,
  /** A check may run this long before a pace opens, so that its credits are valid when it opens. */
  aheadMs: 10_000,
  /** The pause between two reads of the queue. */
  gapMs: 50,
  /**
   * The queue is read at this interval even without commits, because no event reports that a pace
   * opens.
   */
  idleMs: 5_000,
} as const;
