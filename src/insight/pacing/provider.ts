/**
 * A provider that throttles: a start is turned down when more than so many installations are in their
 * first five minutes. There is always somebody who waits. A minute after it was turned down, a job
 * says so. What a pool makes of that is up to the core.
 */
import { type AdaptivePolicy, defaultAdaptive, type PoolPolicy } from "../../core/model/policy.ts";
import { holdMs } from "./herd.ts";
import { earlyMs, minuteMs } from "./herd-figures.ts";
import { VirtualPool } from "./virtual-pool.ts";

export interface Provider {
  /** How many may be in their first five minutes, at a time since the beginning. */
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
  /** Raised whether or not the rate was what held the starts back. */
  adaptiveBlind: adaptive({ used: 0 }),
} as const satisfies Readonly<Record<string, Partial<PoolPolicy>>>;

export interface ProviderFigures {
  readonly starts: number;
  readonly throttled: number;
  /** Starts per minute, with when each came into force. */
  readonly rates: readonly { readonly at: number; readonly rate: number }[];
}

/** Twelve hours of it. */
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
