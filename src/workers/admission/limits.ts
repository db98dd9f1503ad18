/** Every wait of those who look whether there is room, by name. */
export const admissionLimits = {
  /** What was found counts for so long: enough for two pools to be looked at for one request. */
  creditMs: 15_000,
  /** So long before a pace opens it is looked already: what was found must still count then. */
  aheadMs: 10_000,
  /** Between two looks at who waits. */
  gapMs: 50,
  /** Without any news it is looked at so often; a pace that opens is none. */
  idleMs: 5_000,
} as const;
