/** A pool's start rate: what is in force, and what becomes of it by grants, reports and changes. */
import type { EventOf } from "../model/event.ts";
import type { AdaptivePolicy } from "../model/policy.ts";
import type { AdaptiveState, Pool } from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";

export const minuteMs = 60_000;
/** So many changes are remembered of a pool. */
export const rateHistoryMax = 100;

/** The policy, where the pool is to find its rate. */
export function adaptiveOf({ policy, retired }: Pool): AdaptivePolicy | undefined {
  return retired || policy.adaptive?.mode === "off" ? undefined : policy.adaptive;
}

/** The starts per minute that are in force by themselves or by an operator; null: none. */
export function rateOf(pool: Pool): number | null {
  if (pool.pin !== null) return pool.pin.rate;
  return adaptiveOf(pool)?.mode === "auto" ? (pool.adaptive?.rate ?? null) : null;
}

/** Never less than the rate says, in whole milliseconds. */
export function intervalOf(rate: number): number {
  return Math.ceil(minuteMs / rate - 1e-9);
}

/** When a window ends whose starts may be a reason to raise the rate. */
export function windowEndsAt(pool: Pool): Instant {
  const [policy, state] = [adaptiveOf(pool), pool.adaptive];
  if (policy === undefined || state === null || state.starts === 0) return never;
  return after(state.windowAt, policy.raiseAfterMs);
}

/**
 * Counts starts in the window that they fall into; earlier windows were not used up. What starts in
 * the instant at which one window ends and the next begins counts for neither.
 */
export function countStarts(pool: Pool, starts: number, at: Instant): void {
  const [policy, state] = [adaptiveOf(pool), pool.adaptive];
  if (policy === undefined || state === null) return;
  const over = Math.floor((at - state.windowAt) / policy.raiseAfterMs);
  if (over > 0) startWindow(state, after(state.windowAt, over * policy.raiseAfterMs));
  if (at > state.windowAt) state.starts += starts;
}

export function poolSignalled(pool: Pool, event: EventOf<"pool-signalled">, at: Instant): void {
  pool.signals[event.throttled ? "throttled" : "ok"] += 1;
  if (pool.adaptive !== null && event.throttled) startWindow(pool.adaptive, at);
}

export function rateChanged(pool: Pool, event: EventOf<"rate-changed">, at: Instant): void {
  const { rate, cause, advised } = event;
  const { how, by = "", why = "" } = cause;
  const was = pool.pin?.rate ?? pool.adaptive?.rate ?? null;
  if (how === "pinned" || how === "unpinned") {
    pool.pin = how === "pinned" && rate !== null ? { rate, by, why, at } : null;
    pool.pace = { ...pool.pace, everyMs: rate === null ? 0 : intervalOf(rate) };
  }
  const policy = adaptiveOf(pool);
  if (policy !== undefined) {
    const from = rate ?? policy.max;
    pool.adaptive ??= { rate: from, windowAt: at, starts: 0, cutAt: -never as Instant };
    pool.adaptive.rate = from;
    if (how === "throttled") pool.adaptive.cutAt = at;
    startWindow(pool.adaptive, at);
  }
  const told = { at, rate, was, cause, advised: advised === true };
  pool.rateHistory = [...pool.rateHistory.slice(1 - rateHistoryMax), told];
}

function startWindow(state: AdaptiveState, at: Instant): void {
  state.windowAt = at;
  state.starts = 0;
}
