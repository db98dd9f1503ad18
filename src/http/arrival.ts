/**
 * How long a request may take to arrive; how long its answer takes is another matter. Clients that send
 * a byte now and then would otherwise keep thousands of connections open.
 */
export const arrivalTimeouts = {
  /** Node takes the longer of the two for the body, so this one must be the shorter one. */
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  /** How often Node looks; by default only every 30 s. */
  connectionsCheckingInterval: 5_000,
} as const;
