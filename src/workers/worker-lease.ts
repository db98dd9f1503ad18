/**
 * Of the leases that workers in a server hold. If the server dies, or no longer leads, another one goes
 * on with their work after this time. A paused server and its programs must notice it until then.
 */
export const workerLease = { ttlMs: 20_000, heartbeatMs: 5_000 };
