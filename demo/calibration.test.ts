import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../src/config/parse.ts";
import { emptyState } from "../src/core/apply/create.ts";
import type { FrozenState } from "../src/core/apply/snapshot.ts";
import { decide } from "../src/core/decide/decide.ts";
import type { DurableEvent } from "../src/core/model/event.ts";
import type { RequestId } from "../src/core/model/ids.ts";
import type { State } from "../src/core/model/state.ts";
import type { Instant } from "../src/core/model/time.ts";
import { type Accuracy, AccuracyBook, type Promised } from "../src/insight/forecast/accuracy.ts";
import { contestedParts } from "../src/insight/forecast/components.ts";
import { estimate } from "../src/insight/forecast/estimate.ts";
import { RecordedSamples } from "../src/insight/forecast/recorded-samples.ts";
import { HistoryFold } from "../src/insight/history/fold.ts";
import type { Demand } from "../src/insight/what-if/demand.ts";
import { Replay } from "../src/insight/what-if/replay.ts";
import { demandBetween } from "./demand.ts";
import { dayBand, teamsBand } from "./estimate-tally.ts";
import { demoPools } from "./shape.ts";
import { showcaseConfig, showcaseDemand } from "./showcase.ts";
import { DemoTokens, withSpaces } from "./spaces.ts";

/** A day on a virtual clock, in which requests get estimates. */
interface Day {
  readonly state: State;
  readonly demand: readonly Demand[];
  /** Estimates begin when holds are known. */
  readonly from: number;
  /** The interval at which requests without an estimate get one. */
  readonly everyMs: number;
  readonly seed: number;
}

/** One team and a real day: plain pools that are small and busy enough to have a queue by day. */
function plainDay(seed: number): Day {
  const dayMs = 24 * 3_600_000;
  const busy = demoPools()
    .filter(({ load, size }) => load > 0.6 && size >= 4 && size <= 40)
    .slice(0, 10);
  const listed = readFileSync(new URL("berth.yaml", import.meta.url), "utf8");
  const { pools } = configOf(listed);
  // The lifetimes and holds in the file are those of a shorter day.
  const used = pools
    .filter(({ name }) => busy.some((pool) => pool.name === name))
    .map((pool) => ({ ...pool, policy: { ...pool.policy, lifetimeMs: null, holdMs: null } }));
  const state = emptyState();
  decide(state, { type: "configure", pools: used }, 0 as Instant);
  const demand = demandBetween(busy, 0, dayMs, { dayMs, grainMs: 1_000, seed });
  return { state, demand, from: dayMs / 4, everyMs: 30 * 60_000, seed };
}

/**
 * Four teams with weights and quotas in pools with a capacity, a pace, a rate that finds itself and a
 * limit: younger requests often go ahead. The day passes in twenty minutes, as in the demo.
 */
function teamsDay(seed: number): Day {
  const dayMs = 20 * 60_000;
  const { auth: _, ...config } = new DemoTokens().config;
  const { pools } = showcaseConfig({ kubeconfig: "", clusters: "" });
  const used = Object.entries(pools).filter(([, pool]) => {
    return !("template" in pool || "admission" in pool);
  });
  const text = JSON.stringify({ ...config, pools: Object.fromEntries(used) });
  const configured = configOf(text);
  const state = emptyState();
  decide(state, { type: "configure", ...configured }, 0 as Instant);
  const known = new Set<string>(configured.pools.map(({ name }) => name));
  const demand = withSpaces(showcaseDemand(0, dayMs, { dayMs, grainMs: 200, seed })).filter(
    ({ items }) => items.every(({ pool }) => known.has(pool)),
  );
  return { state, demand, from: dayMs / 3, everyMs: 30_000, seed };
}

function configOf(text: string) {
  const parsed = parseConfig(text, "berth.yaml");
  if (!parsed.ok) throw new Error("Cannot use the demo's pools: its file is bad");
  const { pools, spaces, priorities } = parsed;
  return { pools, spaces, priorities };
}

/** Simulates the day and compares the first estimate of each request with its grant. */
function estimatesOf({ state, demand: all, from, everyMs, seed }: Day): AccuracyBook {
  const book = new AccuracyBook();
  const promised = new Map<string, Promised>();
  const recorded = new RecordedSamples();
  const fold = new HistoryFold();
  const happened = (at: Instant, events: readonly DurableEvent[]) => {
    fold.follow({ seq: 1, at, events });
    recorded.record(fold.take().ended);
    for (const event of events) {
      if (event.type !== "lease-granted" && event.type !== "request-left") continue;
      const estimate = promised.get(event.id);
      promised.delete(event.id);
      if (estimate !== undefined && event.type === "lease-granted") book.compare(estimate, at);
    }
  };
  const replay = new Replay(state, 0, { happened, cleaningMs: () => 2_500 });
  let next = from;
  for (const demand of all) {
    for (; demand.askedAt > next; next += everyMs) {
      replay.passTo(next);
      for (const part of contestedParts(state)) {
        if (part.requests.every(({ id }) => promised.has(id))) continue;
        const samples = recorded.of(part.pools.map(({ name }) => name));
        for (const { id, p50At, p90At } of estimate(part, samples, next as Instant, seed)) {
          if (!promised.has(id)) promised.set(id, { p50At, p90At, pools: poolsIn(part, id) });
        }
      }
    }
    replay.passTo(demand.askedAt);
    replay.ask(demand);
  }
  return book;
}

function poolsIn({ requests }: FrozenState, id: RequestId): string[] {
  const found = requests.find((request) => request.id === id);
  return found?.ask.items.map(({ pool }) => pool) ?? [];
}

describe("estimates on the traffic of one team", () => {
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
    const day = estimatesOf(plainDay(seed)).total;
    days.push(day);
    expect(day.compared).toBeGreaterThan(300);
    expect(ratesOf([day])).toEqual(within(dayBand));
  });

  test("are right half of the time (P50) and nine times in ten (P90)", () => {
    expect(days).toHaveLength(seeds.length);
    expect(ratesOf(days)).toEqual(within(ofAllDays));
  });
});

describe("estimates on the traffic of several teams", () => {
  const seeds = [1, 2];

  test.each(seeds)(
    "are near the mark on the day of seed %i",
    (seed) => {
      const day = estimatesOf(teamsDay(seed));
      expect(day.total.compared).toBeGreaterThan(300);
      expect(ratesOf([day.total])).toEqual(within(teamsBand));
      // Where starts are scarce and others go ahead, too: less than half kept their P90 without that.
      const paced = new Map(day.pools()).get("install-paced");
      expect(paced?.withinP90).toBeGreaterThan(
        0.75 * (paced?.compared ?? Number.POSITIVE_INFINITY),
      );
    },
    300_000,
  );
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
