export const frontLimits = {
  /** A lease of an object ends so long after Berth has stopped to look after it. */
  ttlMs: 10 * 60_000,
  beatEveryMs: 30_000,
  /** A pass runs at this interval even if nothing has changed. */
  passEveryMs: 5_000,
  /** Then a new pass begins, with what has come meanwhile. */
  passMsMax: 1_000,
  /** The pause after a pass: at least this, or this many times its duration. */
  passGapMs: 100,
  passGapFactor: 4,
  /** What is as it should be is looked at again after this time: somebody may have removed a Secret. */
  recheckMs: 2 * 60_000,
  /** What an object waits for is told again so long after the last time, for each object that there is. */
  textMsPerObject: 20,
  /** Objects that are worked on at the same time. */
  concurrent: 8,
  textLengthMax: 1_024,
} as const;
