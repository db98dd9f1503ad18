import { describe, expect, test } from "vitest";
import { poolAnswer as pool } from "../../../src/api/pool-answer.suite.ts";
import type { Pool, RateChange } from "../../../src/api/schemas.ts";
import {
  backlogSeconds,
  expectsOthers,
  foldedChanges,
  hasPace,
  lastCut,
  lastUnpin,
  pinEffects,
  rateWords,
  riseWords,
  roughRate,
  secondsToGrant,
  startsBesideRate,
  throttlingOf,
  unpinEffects,
} from "./flow-facts.ts";

const pace = { every: "24s", burst: 1, jitter: 0 };
const pinned = { rate: 9, by: "ada", why: "", at: "2026-01-01T00:00:00.000Z" };
const adaptive = (mode: string) => ({
  ...{ mode, min: 1, max: 6, factor: 0.5, cutEvery: "1m", step: 0.5, raiseAfter: "10m" },
});

test("riseWords() says what a rise waits for", () => {
  expect(riseWords(adaptive("auto"))).toBe(
    "after 10m without throttling in which 90 % of it was used",
  );
});

type Facts = { policy?: Partial<Pool["policy"]>; flow?: Partial<Pool["flow"]> };

describe("hasPace() of a pool", () => {
  test.each<[string, Facts, boolean]>([
    ["without any gate", {}, false],
    ["with a pace", { policy: { pace } }, true],
    ["with an adaptive rate", { policy: { adaptive: adaptive("auto") } }, true],
    ["with advice", { policy: { adaptive: adaptive("advise") } }, true],
    ["with reports switched off", { policy: { adaptive: adaptive("off") } }, false],
    ["with a pin alone", { flow: { pinned } }, true],
    ["that is closed until a known time", { flow: { nextGrantAt: pinned.at } }, true],
    ["only under a limit", { flow: { limits: [{ pool: "all", used: 1, limit: 2 }] } }, false],
  ])("%s", (_, facts, want) => {
    expect(hasPace(pool(facts))).toBe(want);
  });
});

test.each([
  [0.001, "0.001"],
  [2.5, "2.5"],
  [1.2345, "1.23"],
  [1_200, "1,200"],
])("rateWords(%d) is %s", (rate, want) => {
  expect(rateWords(rate)).toBe(want);
});

const change = (facts: Partial<RateChange>): RateChange => ({
  ...{ at: "1970-01-01T00:00:10.000Z", rate: 3, was: null, cause: "clean", lease: null },
  ...{ by: null, why: null, advised: false },
  ...facts,
});

test("backlogSeconds() is that of the estimates, and not less than by the pace while some have none", () => {
  const estimated = (p50Seconds: number) => {
    return { estimate: { p50Seconds, p90Seconds: 900, samples: 0, exact: false } };
  };
  expect(backlogSeconds([estimated(730), estimated(20)], 12)).toBe(730);
  expect(backlogSeconds([estimated(730), { estimate: null }], 12)).toBe(730);
  expect(backlogSeconds([estimated(7), { estimate: null }], 12)).toBe(24);
  // The rows say that their times are being computed: nothing else may name one.
  expect([backlogSeconds([], 12), backlogSeconds([{ estimate: null }], 12)]).toEqual([null, null]);
});

test.each([
  [4, "throttled"],
  [26.9, "throttled"],
  [29, "recovering"],
  [30, undefined],
  [null, undefined],
])("throttlingOf() of %d of at most 30 is %s", (rate, want) => {
  expect(throttlingOf(rate, 30)).toBe(want);
});

test("lastUnpin() is the cause of the rate until it is cut again", () => {
  const [cut, unpinned] = [change({ cause: "throttled" }), change({ cause: "unpinned" })];
  expect(lastUnpin([cut, unpinned, change({ cause: "clean" })])).toBe(unpinned);
  expect(lastUnpin([unpinned, cut, change({ cause: "clean" })])).toBeUndefined();
  expect(lastUnpin([])).toBeUndefined();
});

test("lastCut() is the last report of throttling that changed the rate in force", () => {
  const cut = change({ cause: "throttled", rate: 4 });
  const advised = change({ cause: "throttled", rate: 1, advised: true });
  expect(lastCut([change({ cause: "throttled", rate: 9 }), cut, change({}), advised])).toBe(cut);
  expect(lastCut([change({})])).toBeUndefined();
});

describe("startsBesideRate()", () => {
  const stats = {
    ...{ stepSeconds: 60, to: "1970-01-01T00:02:30.000Z" },
    steps: [0, 60, 120].map((second, index) => ({
      ...{ at: new Date(second * 1_000).toISOString(), granted: [9, 7, 2][index] },
    })),
  } as unknown as Parameters<typeof startsBesideRate>[1];
  const at = (second: number, rate: number | null) =>
    change({ at: new Date(second * 1_000).toISOString(), rate });

  test("has the average of what was allowed in each step, and what started once it is over", () => {
    expect(startsBesideRate([at(-100, 10), at(45, 6), at(130, 12)], stats)).toEqual({
      times: [0, 60, 120, 180],
      allowed: [9, 6, 10, 10],
      started: [9, 7, undefined, undefined],
      going: [undefined, undefined, 2, undefined],
    });
  });

  test("has no rate where there was none, nor before the first one that is known", () => {
    const { allowed } = startsBesideRate([at(30, 8), at(60, null), at(121, 3)], stats);
    expect(allowed).toEqual([8, null, 3, 3]);
    expect(startsBesideRate([], { ...stats, steps: [] }).times).toEqual([]);
  });
});

test.each([
  [0.01667, "0.0167"],
  [6.7228, "6.7"],
  [12.8, "13"],
])("roughRate(%d) says no more than is known", (rate, text) => {
  expect(roughRate(rate)).toBe(text);
});

test.each([
  ["as long as the pace says", 24, 9, "web", false],
  ["longer: others are expected", 44, 9, "web", true],
  ["longer, in one space", 44, 9, undefined, false],
  ["longer, with fewer free than wait: they come free at the pace", 44, 5, "web", true],
  ["longer, with nothing free", 44, 0, "web", false],
  ["not known", null, 9, "web", false],
])("expectsOthers() if the last of six starts %s", (_, seconds, free, space, want) => {
  const queue = Array.from({ length: 6 }, () => (space === undefined ? {} : { space }));
  expect(expectsOthers(queue, { ...pool({ flow: { everySeconds: 4 } }), free }, seconds)).toBe(
    want,
  );
});

describe("pinEffects()", () => {
  test("names the pace before and after", () => {
    const [first] = pinEffects(pool({ policy: { pace }, flow: { everySeconds: 24 } }), 4);
    expect(first).toBe(
      "aws grants one lease every 15s until somebody unpins it. Now: one every 24s.",
    );
  });

  test("states that reports have no effect on a pinned adaptive rate", () => {
    const text = pinEffects(pool({ policy: { adaptive: adaptive("auto") } }), 4).join(" ");
    expect(text).toContain("Reports of throttling are counted, but do not change the rate");
  });

  test.each([Number.NaN, 0, 60_001])("rejects the rate %d", (rate) => {
    expect(pinEffects(pool({ policy: { pace } }), rate)).toEqual([
      expect.stringMatching(/^aws keeps this rate until somebody unpins it/),
      "Enter the starts per minute: 0.001 to 60,000.",
    ]);
  });

  test("of a limit without a rate says that the limit stays", () => {
    const limit = { used: 1, limit: 11, waiting: 0, oldestWaitSeconds: null };
    expect(pinEffects({ ...pool({}), limit }, Number.NaN)[0]).toBe(
      "aws has no start rate now, and keeps this one until somebody unpins it. Its limit of 11 stays.",
    );
  });
});

test.each([
  [60, "This is more than its own rate ever is: between 1 and 6."],
  [0.5, "This is less than its own rate ever is: between 1 and 6."],
  [4, undefined],
])("pinEffects() warns of a rate that reports could not lead to: %d", (rate, want) => {
  const effects = pinEffects(pool({ policy: { adaptive: adaptive("auto") } }), rate);
  expect(effects.find((one) => one.startsWith("This is"))).toBe(want);
});

describe("unpinEffects() of a pool", () => {
  test.each<[string, Facts["policy"], string]>([
    ["with a pace", { pace }, "aws grants one lease every 24s again, as configured."],
    [
      "with a pace that is measured",
      { pace: { ...pace, every: "auto" } },
      "aws paces its grants by its mean hold time again.",
    ],
    [
      "with an adaptive rate within bounds",
      { pace, adaptive: adaptive("auto") },
      "aws continues with 6 starts per minute, its maximum.",
    ],
    [
      "that is only advised",
      { pace, adaptive: adaptive("advise") },
      "aws grants one lease every 24s again, as configured.",
    ],
    [
      "without a pace",
      {},
      "aws has no other pace: waiting requests start as soon as a resource is free.",
    ],
  ])("%s", (_, rules = {}, want) => {
    expect(unpinEffects(pool({ policy: rules, flow: { pinned } }))[0]).toBe(want);
  });
});

test("foldedChanges() makes one row of the rises between two cuts, the newest first", () => {
  const change = (cause: string, was: number, rate: number): RateChange => {
    return {
      ...{ at: pinned.at, cause, was, rate },
      lease: null,
      by: null,
      why: null,
      advised: false,
    };
  };
  const folded = foldedChanges([
    change("clean", 1, 2),
    change("clean", 2, 3),
    change("throttled", 3, 1),
    change("clean", 1, 2),
  ]);
  expect(folded.map(({ cause, was, rate, rises }) => [cause, was, rate, rises])).toEqual([
    ["clean", 1, 2, 1],
    ["throttled", 3, 1, 1],
    ["clean", 1, 3, 2],
  ]);
});

test.each([
  ["a time in the interval", 2_100, 4, 3],
  ["one that a clock makes a moment longer", 4_050, 4, 4],
  ["one that is longer, as after a cut of the rate", 9_000, 4, 9],
  ["one of another pool's pace", 2_100, null, 3],
  ["one that is over", -20, 4, 0],
])("secondsToGrant() of %s", (_, leftMs, everySeconds, want) => {
  expect(secondsToGrant(leftMs, everySeconds)).toBe(want);
});
