/** Every wait and retry of the client, by name. */
export const clientLimits = {
  /** A plain call that is not answered for so long counts as not answered at all. */
  answerMs: 15_000,
  /** A simulated week takes its time. */
  simulationMs: 120_000,
  /** How long one question after a waiting request stays open. */
  pollMs: 30_000,
  /** The server answers a long poll a little after its time, and the network takes its share. */
  pollSlackMs: 15_000,
  /** The first pause between two tries; each next one is twice as long, with jitter. */
  pauseMsMin: 200,
  pauseMsMax: 5_000,
  /** A server that never answered is given up after this. */
  connectMs: 30_000,
  /** One that did answer is given longer: who has queued for an hour outlasts a restart. */
  outageMs: 5 * 60_000,
  /** Giving back is tried for so long; then the ttl does it. */
  releaseMs: 30_000,
  /** Leaving the queue is tried for so long: somebody has pressed Ctrl-C and waits. */
  leaveMs: 5_000,
  /** How often one call of `acquire` asks anew because the server has lost the request. */
  asksMax: 20,
  /** Silence for the ttl less this share of it counts as loss. */
  marginShare: 0.1,
  marginMsMax: 30_000,
  heartbeatsPerTtl: 3,
  /** After a failure so often at least: a server that comes back must be found before the end. */
  heartbeatTriesPerTtl: 12,
  /** A feed that says nothing for so long, not even a comment, is taken for dead. */
  feedSilenceMs: 60_000,
  feedLineLengthMax: 1024 * 1024,
  /** Listings are read page by page up to this many items. */
  listedMax: 100_000,
} as const;
