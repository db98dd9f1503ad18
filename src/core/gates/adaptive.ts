/**
 * A start rate that finds itself. A holder that was throttled by its provider says so: the rate falls
 * by a factor, at most once in a while. After a time without such a report it rises by a step, but
 * only where it was really the rate that held grants back: a rate that nobody uses must not creep up.
 *
 * Only what grants and reports tell is remembered, in windows that follow one another from the last
 * report or change on, so a journal replays to the same rate. An operator's pin stops all of it.
 */

import { emit, type Turn } from "../decide/turn.ts";
import type { RateCause } from "../model/event.ts";
import type { Pool } from "../model/state.ts";
import { adaptiveOf, minuteMs } from "./rate.ts";

/** A report: the rate falls, unless it did so just now. */
export function slowDown(turn: Turn, pool: Pool, cause: Omit<RateCause, "how">): void {
  const [policy, state] = [adaptiveOf(pool), pool.adaptive];
  if (policy === undefined || state === null || pool.pin !== null) return;
  const rate = Math.max(policy.min, state.rate * policy.factor);
  if (turn.now - state.cutAt < policy.cutEveryMs || rate >= state.rate) return;
  change(turn, pool, rate, { how: "throttled", ...cause });
}

/** The end of a window without a report: the rate rises, if it was used up. */
export function speedUp(turn: Turn, pool: Pool): void {
  const [policy, state] = [adaptiveOf(pool), pool.adaptive];
  if (policy === undefined || state === null || pool.pin !== null) return;
  if (turn.now - state.windowAt < policy.raiseAfterMs) return;
  const allowed = (state.rate * policy.raiseAfterMs) / minuteMs;
  const rate = Math.min(policy.max, state.rate + policy.step);
  if (state.starts < policy.used * allowed || rate <= state.rate) return;
  change(turn, pool, rate, { how: "clean" });
}

/** After a new configuration: what has no rate yet gets one, what is out of bounds comes back. */
export function settleRates(turn: Turn, startOf: (pool: Pool) => number | null): void {
  for (const pool of turn.state.pools.values()) {
    const policy = adaptiveOf(pool);
    if (policy === undefined) continue;
    const wanted = pool.adaptive?.rate ?? startOf(pool) ?? policy.max;
    const rate = Math.min(policy.max, Math.max(policy.min, wanted));
    if (rate !== pool.adaptive?.rate) change(turn, pool, rate, { how: "configured" });
  }
}

function change(turn: Turn, pool: Pool, rate: number, cause: RateCause): void {
  const advised = pool.policy.adaptive?.mode === "advise";
  const rounded = Math.round(rate * 1e6) / 1e6;
  emit(turn, {
    type: "rate-changed",
    pool: pool.name,
    rate: rounded,
    cause,
    ...(advised ? { advised } : undefined),
  });
}
