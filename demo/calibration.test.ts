import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../src/config/parse.ts";
import { emptyState } from "../src/core/apply/create.ts";
import { decide } from "../src/core/decide/decide.ts";
import type { DurableEvent } from "../src/core/model/event.ts";
import type { Instant } from "../src/core/model/time.ts";
import { type Accuracy, AccuracyBook, type Promised } from "../src/insight/forecast/accuracy.ts";
import { contestedParts } from "../src/insight/forecast/components.ts";
import { estimate } from "../src/insight/forecast/estimate.ts";
import { HoldSamples } from "../src/insight/forecast/hold-samples.ts";
import { HistoryFold } from "../src/insight/history/fold.ts";
import { Replay } from "../src/insight/what-if/replay.ts";
import { demandBetween } from "./demand.ts";
import { dayBand } from "./estimate-tally.ts";
import { demoPools } from "./shape.ts";

const dayMs = 24 * 3_600_000;
const hourMs = 3_600_000;
/** The interval at which requests without an estimate get one. */
const everyMs = 30 * 60_000;

/** Pools that are small and busy enough to have a queue by day. */
const busy = demoPools()
  .filter(({ load, size }) => load > 0.6 && size >= 4 && size <= 40)
  .slice(0, 10);

function state() {
  const text = readFileSync(new URL("berth.yaml", import.meta.url), "utf8");
  const parsed = parseConfig(text, "berth.yaml");
  if (!parsed.ok) throw new Error("Cannot use the demo's pools: its file is bad");
  // The lifetimes and holds in the file are those of a shorter day.
  const pools = parsed.pools
    .filter(({ name }) => busy.some((pool) => pool.name === name))
    .map((pool) => ({ ...pool, policy: { ...pool.policy, lifetimeMs: null, holdMs: null } }));
  const made = emptyState();
  decide(made, { type: "configure", pools }, 0 as Instant);
  return made;
}

/** Simulates a full day on a virtual clock and compares the estimates with the real waits. */
function aDayOfEstimates(seed: number): AccuracyBook {
  const lent = state();
  const book = new AccuracyBook();
  const promised = new Map<string, Promised>();
  const holds = new HoldSamples();
  const fold = new HistoryFold();
  const happened = (at: Instant, events: readonly DurableEvent[]) => {
    fold.follow({ seq: 1, at, events });
    holds.record(fold.take().ended);
    for (const event of events) {
      if (event.type !== "lease-granted" && event.type !== "request-left") continue;
      const estimate = promised.get(event.id);
      promised.delete(event.id);
      if (estimate !== undefined && event.type === "lease-granted") book.compare(estimate, at);
    }
  };
  const replay = new Replay(lent, 0, { happened });
  let next = 6 * hourMs;
  for (const demand of demandBetween(busy, 0, dayMs, { dayMs, grainMs: 1_000, seed })) {
    for (; demand.askedAt > next; next += everyMs) {
      replay.passTo(next);
      for (const part of contestedParts(lent)) {
        if (part.requests.every(({ id }) => promised.has(id))) continue;
        const known = holds.of(part.pools.map(({ name }) => name));
        for (const { id, p50At, p90At } of estimate(part, known, next as Instant, seed)) {
          if (promised.has(id)) continue;
          promised.set(id, { p50At, p90At, pools: [] });
        }
      }
    }
    replay.passTo(demand.askedAt);
    replay.ask(demand);
  }
  return book;
}

describe("estimates on the demo's traffic", () => {
  /**
   * The first seeds, none left out, so that nobody can choose days that fit. The traffic has bursts,
   * priorities and cancelled requests, which the estimates do not foresee, so the accepted ranges are
   * wider than chance alone needs. One burst moves a single day further than all days together: over
   * the seeds 1 to 20, single days had 0.40 to 0.54 (P50) and 0.80 to 0.92 (P90), and all together
   * 0.48 and 0.85.
   */
  const seeds = [1, 2, 3, 4];
  const days: Accuracy[] = [];
  const ofAllDays = { p50: [0.42, 0.58], p90: [0.82, 0.95] } as const;

  test.each(seeds)("are near the mark on the day of seed %i", (seed) => {
    const day = aDayOfEstimates(seed).total;
    days.push(day);
    expect(day.compared).toBeGreaterThan(300);
    expect(ratesOf([day])).toEqual(within(dayBand));
  });

  test("are right half of the time (P50) and nine times in ten (P90)", () => {
    expect(days).toHaveLength(seeds.length);
    expect(ratesOf(days)).toEqual(within(ofAllDays));
  });
});

function ratesOf(days: readonly Accuracy[]): { p50: number; p90: number } {
  const sum = (read: (day: Accuracy) => number) => days.reduce((all, day) => all + read(day), 0);
  const compared = sum((day) => day.compared);
  return {
    p50: sum((day) => day.withinP50) / compared,
    p90: sum((day) => day.withinP90) / compared,
  };
}

type Range = readonly [low: number, high: number];

function within({ p50, p90 }: { readonly p50: Range; readonly p90: Range }) {
  return { p50: between(...p50), p90: between(...p90) };
}

const between = (low: number, high: number) =>
  expect.toSatisfy((value: number) => value >= low && value <= high, `${low} to ${high}`);
