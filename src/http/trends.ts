import { Trends } from "../api/schemas.ts";
import type { PoolName } from "../core/model/ids.ts";
import type { State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import type { App, Context } from "./context.ts";
import { timestamp } from "./timestamp.ts";

/** One sample every 20 s. 90 samples are the half hour that a sparkline on the page shows. */
const sampleMs = 20_000;
const samplesMax = 90;

interface Trend {
  readonly held: number[];
  readonly waiting: number[];
}

/**
 * Samples every pool in memory and keeps the last half hour. The history has more, but cannot
 * answer for 240 pools at once. A restart loses the samples, which is acceptable for a sparkline.
 */
export class TrendSampler {
  readonly #trends = new Map<PoolName, Trend>();
  #until: Instant | undefined;

  sample({ pools }: State, now: Instant): void {
    this.#until = now;
    for (const name of this.#trends.keys()) if (!pools.has(name)) this.#trends.delete(name);
    for (const pool of pools.values()) {
      const trend = this.#trends.get(pool.name) ?? { held: [], waiting: [] };
      this.#trends.set(pool.name, trend);
      push(trend.held, pool.held);
      push(trend.waiting, pool.waiting);
    }
  }

  render(now: Instant): Trends {
    return {
      stepSeconds: sampleMs / 1_000,
      until: timestamp(this.#until ?? now),
      pools: Array.from(this.#trends, ([pool, trend]) => ({ pool, ...trend })),
    };
  }
}

function push(samples: number[], sample: number): void {
  samples.push(sample);
  if (samples.length > samplesMax) samples.shift();
}

export function trendRoute(app: App, { broker }: Context): void {
  const sampler = new TrendSampler();
  const sample = () => broker.read((state, now) => sampler.sample(state, now));
  // If the broker cannot be read, this sample is left out. All other routes report the error.
  const timer = setInterval(() => void sample().catch(() => {}), sampleMs).unref();
  app.addHook("onReady", () => sample().catch(() => {}));
  app.addHook("onClose", async () => clearInterval(timer));
  const schema = {
    tags: ["page"],
    summary: "The last half hour of every pool: how many were held, how many waited",
    response: { 200: Trends },
  };
  app.get("/v1/trends", { schema }, async () => sampler.render(broker.now()));
}
