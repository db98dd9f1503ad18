/**
 * A start rate that finds itself. A holder that was throttled by its provider says so: the rate falls
 * by a factor, at most once in a while. After a time without such a report it rises by a step, but
 * only where it was really the rate that held grants back: a rate that nobody uses must not creep up.
 *
 * Only what grants and reports tell is remembered, in windows that follow one another from the last
 * report or change on, so a journal replays to the same rate. An operator's pin stops all of it.
 */

import type { EventOf, RateCause } from "../model/event.ts";
import type { Pool, State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { configuredRate } from "./pace.ts";
import { adaptiveOf, minuteMs } from "./rate.ts";

type RateChanged = EventOf<"rate-changed">;

/** After a report: the rate falls, unless it did so just now. */
export function slowDown(
  pool: Pool,
  cause: Omit<RateCause, "how">,
  now: Instant,
): RateChanged | undefined {
  const [policy, state] = [adaptiveOf(pool), pool.adaptive];
  if (policy === undefined || state === null || pool.pin !== null) return undefined;
  const rate = Math.max(policy.min, state.rate * policy.factor);
  if (now - state.cutAt < policy.cutEveryMs || rate >= state.rate) return undefined;
  return changeTo(pool, rate, { how: "throttled", ...cause });
}

/** At the end of a window without a report: the rate rises, if it was used up. */
export function speedUp(pool: Pool, now: Instant): RateChanged | undefined {
  const [policy, state] = [adaptiveOf(pool), pool.adaptive];
  if (policy === undefined || state === null || pool.pin !== null) return undefined;
  if (now - state.windowAt < policy.raiseAfterMs) return undefined;
  const allowed = (state.rate * policy.raiseAfterMs) / minuteMs;
  const rate = Math.min(policy.max, state.rate + policy.step);
  if (state.starts < policy.used * allowed || rate <= state.rate) return undefined;
  return changeTo(pool, rate, { how: "clean" });
}

/** After a new configuration: a pool without a rate gets one, one out of bounds comes back. */
export function ratesToConfigure({ pools }: State): RateChanged[] {
  return [...pools.values()].flatMap((pool) => {
    const policy = adaptiveOf(pool);
    if (policy === undefined) return [];
    const wanted = pool.adaptive?.rate ?? configuredRate(pool) ?? policy.max;
    const rate = Math.min(policy.max, Math.max(policy.min, wanted));
    return rate === pool.adaptive?.rate ? [] : [changeTo(pool, rate, { how: "configured" })];
  });
}

function changeTo({ name, policy }: Pool, rate: number, cause: RateCause): RateChanged {
  const advised = policy.adaptive?.mode === "advise" ? { advised: true as const } : undefined;
  return {
    type: "rate-changed",
    pool: name,
    rate: Math.round(rate * 1e6) / 1e6,
    cause,
    ...advised,
  };
}
