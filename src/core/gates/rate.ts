/** The start rate of a pool, and how grants, reports and rate changes update it. */
import type { EventOf } from "../model/event.ts";
import type { AdaptivePolicy } from "../model/policy.ts";
import type { AdaptiveState, Pool } from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";

export const minuteMs = 60_000;
/** The number of rate changes that a pool keeps. */
export const rateHistoryMax = 100;

/** The adaptive policy of a pool; undefined if it is off or the pool is retired. */
export function adaptiveOf({ policy, retired }: Pool): AdaptivePolicy | undefined {
  return retired || policy.adaptive?.mode === "off" ? undefined : policy.adaptive;
}

/** The starts per minute that a pin or the adaptive rate sets; null if neither does. */
export function rateOf(pool: Pool): number | null {
  if (pool.pin !== null) return pool.pin.rate;
  return adaptiveOf(pool)?.mode === "auto" ? (pool.adaptive?.rate ?? null) : null;
}

/** The interval for a rate, rounded up to whole milliseconds. */
export function intervalOf(rate: number): number {
  return Math.ceil(minuteMs / rate - 1e-9);
}

/**
 * When the current window ends; `never` if it has no starts, because then the rate does not rise.
 */
export function windowEndsAt(pool: Pool): Instant {
  const [policy, state] = [adaptiveOf(pool), pool.adaptive];
  if (policy === undefined || state === null || state.starts === 0) return never;
  return after(state.windowAt, policy.raiseAfterMs);
}

/**
 * The adaptive state after these starts. They count only in the window of `at`. A start exactly at
 * the boundary of two windows counts in neither.
 */
export function startsCounted(pool: Pool, starts: number, at: Instant): AdaptiveState | null {
  const [policy, state] = [adaptiveOf(pool), pool.adaptive];
  if (policy === undefined || state === null) return state;
  const over = Math.floor((at - state.windowAt) / policy.raiseAfterMs);
  const current =
    over > 0 ? newWindow(state, after(state.windowAt, over * policy.raiseAfterMs)) : state;
  return at > current.windowAt ? { ...current, starts: current.starts + starts } : current;
}

/** The fields of a pool that a holder's report changes. */
export function afterSignal(
  { signals, adaptive }: Pool,
  { throttled }: EventOf<"pool-signalled">,
  at: Instant,
): Pick<Pool, "signals" | "adaptive"> {
  const counted = throttled ? "throttled" : "ok";
  return {
    signals: { ...signals, [counted]: signals[counted] + 1 },
    adaptive: adaptive !== null && throttled ? newWindow(adaptive, at) : adaptive,
  };
}

/** The fields of a pool that a new rate changes. */
export function afterRateChange(
  pool: Pool,
  event: EventOf<"rate-changed">,
  at: Instant,
): Pick<Pool, "pin" | "pace" | "adaptive" | "rateHistory"> {
  const { rate, cause, advised = false } = event;
  const { how, by = "", why = "" } = cause;
  let { pin, pace } = pool;
  if (how === "pinned" || how === "unpinned") {
    pin = how === "pinned" && rate !== null ? { rate, by, why, at } : null;
    pace = { ...pace, everyMs: rate === null ? 0 : intervalOf(rate) };
  }
  const was = pool.pin?.rate ?? pool.adaptive?.rate ?? null;
  const change = { at, rate, was, cause, advised };
  const rateHistory = [...pool.rateHistory.slice(1 - rateHistoryMax), change];
  return { pin, pace, adaptive: adaptiveAfter(pool, event, at), rateHistory };
}

function adaptiveAfter(
  pool: Pool,
  { rate, cause }: EventOf<"rate-changed">,
  at: Instant,
): AdaptiveState | null {
  const policy = adaptiveOf(pool);
  if (policy === undefined) return pool.adaptive;
  const cutAt = cause.how === "throttled" ? at : (pool.adaptive?.cutAt ?? (-never as Instant));
  return { rate: rate ?? policy.max, windowAt: at, starts: 0, cutAt };
}

function newWindow(state: AdaptiveState, windowAt: Instant): AdaptiveState {
  return { ...state, windowAt, starts: 0 };
}
