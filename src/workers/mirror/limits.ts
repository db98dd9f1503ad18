/** What the mirror may cost the API server and this one, by name. */
export const mirrorLimits = {
  /** No two writes are closer than this: twenty in a second, whatever happens. */
  writeGapMs: 50,
  /** A heartbeat is shown at half of the ttl, but no more often than this, nor less often. */
  renewMsMin: 10_000,
  renewMsMax: 10 * 60_000,
  /** Written before what has changed meanwhile is looked at: five seconds' worth. */
  todoMax: 100,
  /** Leases and objects that are compared before others have their turn. */
  sliceMax: 500,
  /** Between two looks at everything, and this many times what a look took: a small share of the time. */
  lookGapMs: 100,
  lookShare: 20,
  /** Without any news everything is looked at so often, for heartbeats are none. */
  lookEveryMs: 5_000,
  /** An object that others write to all the time is not tried again more often than this. */
  clearTriesMax: 5,
  /** What belongs to somebody else, or was refused, is tried again after this. */
  blockedMs: 60_000,
} as const;
