/**
 * An adaptive start rate. When a holder reports that its provider throttled it, the rate falls by a
 * factor, at most once per `cutEveryMs`. After a window without such a report the rate rises by a
 * step, but only if grants used the rate up: an unused rate must not rise.
 *
 * The state holds only what grants and reports record in events, in consecutive windows since the
 * last report or change, so a journal replays to the same rate. A pin by an operator stops all
 * changes.
 */

import type { EventOf, RateCause } from "../model/event.ts";
import type { Pool, State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { configuredRate } from "./pace.ts";
import { adaptiveOf, minuteMs } from "./rate.ts";

type RateChanged = EventOf<"rate-changed">;

/** Lowers the rate after a report of throttling, unless it was lowered a short time ago. */
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

/** Raises the rate at the end of a window without a report, if grants used the rate up. */
export function speedUp(pool: Pool, now: Instant): RateChanged | undefined {
  const [policy, state] = [adaptiveOf(pool), pool.adaptive];
  if (policy === undefined || state === null || pool.pin !== null) return undefined;
  if (now - state.windowAt < policy.raiseAfterMs) return undefined;
  const allowed = (state.rate * policy.raiseAfterMs) / minuteMs;
  const rate = Math.min(policy.max, state.rate + policy.step);
  if (state.starts < policy.used * allowed || rate <= state.rate) return undefined;
  return changeTo(pool, rate, { how: "clean" });
}

/** Gives each pool without a rate its first one, and moves a rate into new bounds. */
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
