import type { Instant } from "../model/time.ts";

/** Fences of one millisecond, before they run ahead of the clock: more than any server can grant. */
const fencesPerMs = 1_000;

/** In the year 2112. Later fences only count up, so that they stay safe integers. */
const fenceClockMax = 2 ** 52 / fencesPerMs;

/**
 * The fences of a grant follow this number. It is never behind the clock, so that fences grow even if
 * the journal was lost, or replaced by an older copy: no grant of the lost journal was later than now.
 */
export function lastFence({ fence }: { readonly fence: number }, now: Instant): number {
  return Math.max(fence, Math.floor(Math.min(now, fenceClockMax) * fencesPerMs));
}
