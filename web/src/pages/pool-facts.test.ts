import { describe, expect, test } from "vitest";
import { poolAnswer as pool } from "../../../src/api/pool-answer.suite.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import type { PoolTroubles } from "../data/pool-troubles.ts";
import {
  clustersNotReady,
  coolingIn,
  hibernatedIn,
  isIdle,
  measureOf,
  outOf,
  sortedBy,
  waitingIn,
  waitsFor,
  waitsForReason,
} from "./pool-facts.ts";

const none: PoolTroubles = new Map();

test("waitingIn() counts the requests of a limit once, whichever of the pools below it are listed", () => {
  const counts = { limit: 11, used: 11, waiting: 7, oldestWaitSeconds: 9 };
  const limit = pool({ name: "api", waiting: 0, limit: counts });
  const flow = { ...pool({}).flow, limits: [{ pool: "api", limit: 11, used: 11 }] };
  const [east, west] = [4, 3].map((waiting, at) => pool({ name: `region-${at}`, waiting, flow }));
  if (east === undefined || west === undefined) throw new Error("Both are there");
  expect(waitingIn([limit])).toBe(7);
  expect(waitingIn([limit, east])).toBe(7);
  expect(waitingIn([east, west])).toBe(7);
  expect(waitingIn([limit, east, west, pool({ waiting: 2 })])).toBe(9);
});

test("outOf() counts what is neither free nor held", () => {
  expect(outOf(pool({}))).toBe(1);
  expect(outOf(pool({ total: 8 }))).toBe(0);
});

test("outOf() does not count clusters that sleep or are being made", () => {
  const states = { hibernated: 2, creating: 1, quarantined: 1 };
  const clusters = { template: "ocp", total: 6, free: 1, held: 1, states };
  expect(outOf(pool(clusters))).toBe(1);
});

test("held, free, out of service and clusters that are not ready add up to all", () => {
  const states = { free: 1, busy: 1, hibernated: 2, creating: 1, quarantined: 1 };
  const clusters = pool({ template: "ocp", total: 6, free: 1, held: 1, states });
  const pools = [clusters, pool({ total: 9, free: 6, held: 2, states: { cooling: 1 } })];
  const { count, words } = clustersNotReady(pools);
  const out = pools.reduce((sum, one) => sum + outOf(one), 0);
  const aside = hibernatedIn(pools) + coolingIn(pools);
  expect([words, out, aside]).toEqual(["1 creating", 1, 3]);
  expect(1 + 1 + 6 + 2 + out + count + aside).toBe(15);
});

test("clustersNotReady() has the words of the legend", () => {
  const states = { creating: 2, used: 1 };
  const clusters = pool({ template: "ocp", total: 3, free: 0, held: 0, states });
  expect(clustersNotReady([clusters]).words.split(", ").sort()).toEqual([
    "1 to destroy",
    "2 creating",
  ]);
});

test.each([
  ["nothing happens", { held: 0, free: 9, total: 9 }, true],
  ["a lease", { held: 1, free: 8, total: 9 }, false],
  ["a request", { held: 0, free: 9, total: 9, waiting: 1 }, false],
  ["one out", { held: 0, free: 8, total: 9 }, false],
])("isIdle(): %s", (_, facts, want) => {
  const one = pool({ waiting: 0, oldestWaitSeconds: null, ...facts });
  expect(isIdle(one, none)).toBe(want);
  expect(isIdle(one, new Map([[one.name, ["rate_at_minimum"]]]))).toBe(false);
});

function namesOf(pools: readonly { readonly name: string }[]): string {
  return pools.map(({ name }) => name).join("");
}

describe("sortedBy()", () => {
  const pools = [
    pool({ name: "b", waiting: 1 }),
    pool({ name: "c", waiting: 9, oldestWaitSeconds: 5 }),
    pool({ name: "a", waiting: 1, held: 9 }),
  ];
  test.each([
    ["", "abc"],
    ["nonsense", "abc"],
    ["waiting", "cab"],
    ["oldest", "cab"],
    ["usage", "abc"],
  ])("%j", (sort, want) => {
    expect(namesOf(sortedBy(pools, (one) => measureOf(one, sort, none)))).toBe(want);
  });

  test("long waits come first, then others by their length, then what else needs attention", () => {
    const some = [
      pool({ name: "a", oldestWaitSeconds: 5 }),
      pool({ name: "b", oldestWaitSeconds: 90, free: 1 }),
      pool({ name: "c", oldestWaitSeconds: 4_000, free: 0 }),
      pool({ name: "d", states: { quarantined: 1 } }),
      pool({ name: "e", oldestWaitSeconds: 50, free: 0 }),
    ];
    const troubles = new Map([
      ["c", ["waits_long"]],
      ["d", ["quarantined"]],
      ["e", ["quarantined"]],
    ]);
    expect(namesOf(sortedBy(some, (one) => measureOf(one, "trouble", troubles)))).toBe("cbeda");
    // No rule of its own: a wait is long if the list of what needs attention says so.
    expect(namesOf(sortedBy(some, (one) => measureOf(one, "trouble", none)))).toBe("cbead");
  });
});

test.each([
  ["somebody holds one", { held: 1, states: { busy: 1, cooling: 2 } }, "release"],
  ["all cool down", { held: 0, states: { cooling: 3 } }, "cooldown"],
  ["all are dirty", { held: 0, states: { dirty: 2, cleaning: 1 } }, "cleaning"],
  ["all are quarantined", { held: 0, states: { quarantined: 3 } }, "repair"],
])("waitsFor() if nothing is free and %s", (_, facts, word) => {
  const flow = { ...pool({}).flow, limits: [], nextGrantAt: null };
  const full = pool({ total: 3, free: 0, waiting: 1, admission: null, flow, ...facts });
  expect(waitsFor(full, 0)?.word).toBe(word);
});

test.each([
  ["its check found no capacity", 1, "none", "admission"],
  ["nothing is free, whatever its check found", 0, "none", "release"],
  ["its check fails", 0, "unknown", "check fails"],
] as const)("waitsFor() of a pool with admission if %s", (_, free, found, word) => {
  const flow = { ...pool({}).flow, limits: [], nextGrantAt: null };
  const admission = {
    ...{ credits: 0, until: null, why: null, lookedAt: null, nextLookAt: null, by: "" },
    found,
  };
  const states = { busy: 2, free };
  const facts = { total: 2 + free, held: 2, free, waiting: 1, states, flow, admission };
  expect(waitsFor(pool(facts), 0)?.word).toBe(word);
});

test.each([
  ["quota_reached", "aws", "quota", undefined],
  ["paced", "install", "install", "first"],
  ["paced", "aws", "pace", "one every 4s"],
  ["no_free", "aws", "release", undefined],
  ["something_new", "aws", "see queue", undefined],
])("waitsForReason() of %s at %s", (code, pool, word, detail) => {
  const told = waitsForReason(
    { code, pool, message: "why" },
    { name: "aws", flow: { everySeconds: 4 } as Pool["flow"] },
  );
  expect([told.word, told.detail, told.why]).toEqual([word, detail, "why"]);
});

test.each(["unheard of", "__proto__", "constructor"])("measureOf() by %s is 0", (sort) => {
  expect(measureOf(pool({ waiting: 3 }), sort, none)).toBe(0);
});
