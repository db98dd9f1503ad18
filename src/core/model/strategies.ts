/** Which shared resource is taken first. */
export const strategies = ["least-used", "pack", "least-fragmenting", "round-robin"] as const;
export type Strategy = (typeof strategies)[number];
