/** Which way a change came to the broker. */
export const ways = [
  "http", // Berth's own API, from a program
  "cli",
  "page",
  "boskos",
  "capacity",
  "lease-proxy",
  "config",
  "worker", // a part of the server: the janitor, the admission checks
  "object", // an object of an API server that the server makes a request of
  "import",
  "clock", // a deadline, or the queue
] as const;
export type Way = (typeof ways)[number];

/**
 * Who caused an event. Only for people who ask later: no rule of lending depends on it. An event
 * without one was caused by the clock or the queue, or is older than this field.
 */
export interface Origin {
  readonly way: Way;
  /** The name that the caller has proved. */
  readonly by?: string;
  readonly space?: string;
  /** The caller has shown the token of the lease, and nothing else. */
  readonly asHolder?: true;
}
