/** All timeouts and retry limits of the client. */
export const clientLimits = {
  /** Timeout of a normal call. */
  answerMs: 15_000,
  /** Timeout of a simulation, which is slow. */
  simulationMs: 120_000,
  /** How long one long poll of a waiting request stays open. */
  pollMs: 30_000,
  /** Extra timeout of a long poll, for a late response and the network. */
  pollSlackMs: 15_000,
  /** The first pause between two tries. Each further pause is twice as long, with jitter. */
  pauseMsMin: 200,
  pauseMsMax: 5_000,
  /** How long to retry if the server has not answered once. */
  connectMs: 30_000,
  /** How long to retry once the request is queued, so that it survives a server restart. */
  outageMs: 5 * 60_000,
  /** How long to retry a release. After that, the lease expires after its ttl. */
  releaseMs: 30_000,
  /** How long to retry leaving the queue. Short, because a user pressed Ctrl-C and waits. */
  leaveMs: 5_000,
  /** How often `acquire` sends the request again after the server has lost it. */
  asksMax: 20,
  /** The lease counts as lost this share of the ttl before it can expire. */
  marginShare: 0.1,
  marginMsMax: 30_000,
  heartbeatsPerTtl: 3,
  /** Minimum number of heartbeat tries per ttl after a failure, to reach a restarted server in time. */
  heartbeatTriesPerTtl: 12,
  /**
   * An event feed without any data for this time, not even a comment, counts as dead. The server
   * sends a comment every 15 seconds.
   */
  feedSilenceMs: 40_000,
  feedLineLengthMax: 1024 * 1024,
  /** The maximum number of items of a listing. */
  listedMax: 100_000,
} as const;
