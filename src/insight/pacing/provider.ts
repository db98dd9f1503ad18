/**
 * A provider that throttles: it rejects a start if more than a limit of installations are in their
 * first five minutes. There is always a waiting request. A job reports the rejection after a
 * minute. The core decides how the pool reacts.
 */
import { type AdaptivePolicy, defaultAdaptive, type PoolPolicy } from "../../core/model/policy.ts";
import { holdMs } from "./herd.ts";
import { earlyMs, minuteMs } from "./herd-figures.ts";
import { VirtualPool } from "./virtual-pool.ts";

export interface Provider {
  /** How many installations may be in their first five minutes, at a time since the start. */
  readonly bears: (at: number) => number;
}

const hourMs = 60 * minuteMs;
const dayMs = 12 * hourMs;
const size = 50;
const reportAfterMs = minuteMs;

export const providers = {
  steady: { bears: () => 10 },
  /** Fifteen, but six from the sixth to the ninth hour. */
  failing: { bears: (at) => (at >= 6 * hourMs && at < 9 * hourMs ? 6 : 15) },
} as const satisfies Readonly<Record<string, Provider>>;

const pace = { everyMs: 24_000, burst: 1, jitter: 0 };
const bounds = { ...defaultAdaptive, min: 0.5, max: 6 };
const adaptive = (more: Partial<AdaptivePolicy>) => ({ pace, adaptive: { ...bounds, ...more } });

export const providerPolicies = {
  plain: {},
  paced: { pace },
  adaptive: adaptive({}),
  adaptiveHalf: adaptive({ factor: 0.5 }),
  /** Increases the rate even if the rate did not limit the starts. */
  adaptiveBlind: adaptive({ used: 0 }),
} as const satisfies Readonly<Record<string, Partial<PoolPolicy>>>;

export interface ProviderFigures {
  readonly starts: number;
  readonly throttled: number;
  /** Starts per minute, each with the time from which it was valid. */
  readonly rates: readonly { readonly at: number; readonly rate: number }[];
}

/** Simulates twelve hours. */
export function runProvider(provider: Provider, policy: Partial<PoolPolicy>): ProviderFigures {
  const starts: number[] = [];
  const rates: { at: number; rate: number }[] = [];
  let throttled = 0;
  const pool = new VirtualPool(size, { holdMs, ...policy }, (event, at) => {
    if (event.type === "rate-changed" && event.rate !== null) rates.push({ at, rate: event.rate });
    if (event.type !== "lease-granted") return;
    starts.push(at);
    const early = starts.length - starts.findIndex((other) => other > at - earlyMs);
    if (early <= provider.bears(at)) return;
    throttled += 1;
    pool.plan(at + reportAfterMs, { type: "signal", id: event.id, throttled: true });
  });
  for (let asked = 0; ; pool.passTo(pool.nextAt)) {
    while (pool.waiting < size) pool.ask(`job-${asked++}`);
    if (pool.nextAt >= dayMs) break;
  }
  return { starts: starts.length, throttled, rates };
}
