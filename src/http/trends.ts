import { Trends } from "../api/schemas.ts";
import { placementView } from "../core/explain/pool-view.ts";
import { descendants, isOnlyLimit } from "../core/gates/limits.ts";
import type { PoolName } from "../core/model/ids.ts";
import type { Pool, State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import { type PoolSamples, type SampleTimes, usedPercentOf } from "../insight/history/samples.ts";
import type { App, Context } from "./context.ts";
import { timestamp } from "./timestamp.ts";

/** One sample every 20 s. 90 samples are the half hour that a sparkline on the page shows. */
const sampleMs = 20_000;
const samplesMax = 90;

interface Trend {
  held: number[];
  waiting: number[];
  /** Of a shared pool. Its hosts are nearly always in use, all of them. */
  usedPercent?: number[];
}

/**
 * Samples every pool in memory and keeps the last half hour. The samples before the start of the
 * server come from the history, once: it cannot answer for 240 pools at every reload of a page.
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
      // A pool that is only a limit has neither resources nor a queue: those below it count.
      push(trend.held, isOnlyLimit(pool) ? pool.used : pool.held);
      push(trend.waiting, isOnlyLimit(pool) ? waitingBelow(pool) : pool.waiting);
      const usage = placementView(pool)?.usage;
      if (usage === undefined) delete trend.usedPercent;
      else {
        trend.usedPercent ??= [];
        push(trend.usedPercent, usedPercentOf(usage));
      }
    }
  }

  /** The times of the half hour before the first sample, which was taken at this time. */
  static timesBefore(firstAt: number): SampleTimes {
    const count = samplesMax - 1;
    return { from: firstAt - count * sampleMs, stepMs: sampleMs, count };
  }

  /** Puts samples before those that were taken. A pool that the history does not have gets none. */
  addEarlier(
    earlier: readonly PoolSamples[],
    limits: ReadonlyMap<string, readonly string[]>,
  ): void {
    // A pool that is only a limit has no samples of its own.
    const sums: PoolSamples[] = Array.from(limits, ([pool, below]) => {
      const parts = earlier.filter((one) => below.includes(one.pool));
      const [held, waiting] = [parts.map((one) => one.held), parts.map((one) => one.waiting)];
      return { pool, held: sumOf(held), waiting: sumOf(waiting) };
    });
    for (const { pool, held, waiting, usedPercent = [] } of [...earlier, ...sums]) {
      const trend = this.#trends.get(pool as PoolName);
      if (trend === undefined) continue;
      trend.held = [...held, ...trend.held].slice(-samplesMax);
      trend.waiting = [...waiting, ...trend.waiting].slice(-samplesMax);
      if (trend.usedPercent === undefined) continue;
      trend.usedPercent = [...usedPercent, ...trend.usedPercent].slice(-samplesMax);
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

function waitingBelow(limit: Pool): number {
  let count = 0;
  for (const { waiting } of descendants(limit)) count += waiting;
  return count;
}

/** They end at the same time; a pool that is younger has fewer. */
function sumOf(parts: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...parts.map((part) => part.length));
  return Array.from({ length }, (_, index) => {
    const fromEnd = index - length;
    return parts.reduce((sum, part) => sum + (part.at(fromEnd) ?? 0), 0);
  });
}

function limitsIn({ pools }: State): Map<string, readonly string[]> {
  const limits = Array.from(pools.values()).filter(isOnlyLimit);
  return new Map(
    limits.map((pool) => [pool.name, Array.from(descendants(pool), ({ name }) => name)]),
  );
}

function push(samples: number[], sample: number): void {
  samples.push(sample);
  if (samples.length > samplesMax) samples.shift();
}

/** While history reads a long journal after its loss, it does not have the last half hour yet. */
const lagMax = 1_000;
const retryMs = 1_000;

export function trendRoute(app: App, { broker, insight }: Context): void {
  const sampler = new TrendSampler();
  // If the broker or the history cannot be read, samples are left out. All other routes report it.
  const sample = () => broker.read((state, now) => sampler.sample(state, now)).catch(() => {});
  const timer = setInterval(() => void sample(), sampleMs).unref();
  let retry: NodeJS.Timeout | undefined;
  const addEarlier = async (firstAt: number): Promise<void> => {
    if (insight.lag > lagMax) {
      retry = setTimeout(() => void addEarlier(firstAt), retryMs).unref();
      return;
    }
    const times = TrendSampler.timesBefore(firstAt);
    const limits = broker.read(limitsIn);
    await insight.ask("samples", times).then(
      async (earlier) => sampler.addEarlier(earlier, await limits),
      () => {},
    );
  };
  let prepared: Promise<void> = Promise.resolve();
  app.addHook("onReady", async () => {
    await sample();
    prepared = addEarlier(broker.now());
  });
  app.addHook("onClose", async () => {
    clearInterval(timer);
    clearTimeout(retry);
  });
  const schema = {
    tags: ["page"],
    summary: "The last half hour of every pool: how many were in use, how many waited",
    response: { 200: Trends },
  };
  app.get("/v1/trends", { schema }, async () => {
    await prepared;
    return sampler.render(broker.now());
  });
}
