/** Kinds of values that several policy fields share, with bounds that other code uses too. */
export const [secondMs, minuteMs, hourMs, dayMs] = [1_000, 60_000, 3_600_000, 86_400_000];
export const yearMs = 365 * dayMs;

/**
 * The shortest ttl of a lease, for files and for calls. The broker notices a pause of a third of it
 * and then gives grace; shorter ttls would end with ordinary pauses of a busy machine.
 */
export const ttlMsMin = secondMs;

/** The maximum number of resources of one pool, and of all pools of one file together. */
export const poolSizeMax = 1_000_000;

/** Starts per minute, for policies and for pins. */
export const rateMin = 0.001;
export const rateMax = 60_000;

export const duration = (minMs: number, maxMs: number) =>
  ({ type: "duration", minMs, maxMs, also: 0 }) as const;
export const rate = {
  type: "number",
  min: rateMin,
  max: rateMax,
  title: "number of starts per minute",
} as const;
export const share = (min: number, max: number) =>
  ({ type: "number", min, max, title: "share" }) as const;
