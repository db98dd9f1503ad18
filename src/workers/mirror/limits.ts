/** Limits the load that the mirror puts on the API server and on this server. */
export const mirrorLimits = {
  /** The shortest time between two writes: at most twenty writes per second. */
  writeGapMs: 50,
  /** A heartbeat is written after half of the ttl, but within these two limits. */
  renewMsMin: 10_000,
  renewMsMax: 10 * 60_000,
  /** The largest number of writes before the next survey: about five seconds of writes. */
  batchMax: 100,
  /** The number of leases and objects to compare before other work gets a turn. */
  sliceMax: 500,
  /**
   * The pause after a survey: at least this, or this many times the duration of the survey, so that
   * surveys take a small share of the time.
   */
  surveyGapMs: 100,
  surveyGapFactor: 20,
  /** A survey runs at this interval even without events, because heartbeats are not events. */
  surveyEveryMs: 5_000,
  /** How often the removal of an object is tried that others change at the same time. */
  clearTriesMax: 5,
  /** A blocked object is tried again after this time. */
  blockedMs: 60_000,
} as const;
