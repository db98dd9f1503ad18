import { expect, test } from "vitest";
import type { Space } from "../../../src/api/space-schemas.ts";
import {
  canMake,
  dimensionOf,
  nextSpaces,
  nextWords,
  sharedPools,
  sharesOf,
  turnsOf,
} from "./share-facts.ts";

const space = (name: string, weight: number, held: number, quota?: number): Space => ({
  ...{ name, weight, share: 0, leases: 0, waiting: 0, waitingMax: null },
  holds: held === 0 ? [] : [{ pool: "aws", dimension: null, held, capacity: 12 }],
  quotas:
    quota === undefined
      ? []
      : [{ pool: "aws", dimension: null, held, max: quota, cohort: null, heldBy: [] }],
});

test("sharesOf() has what is held beside the part of the weight", () => {
  const spaces = [
    space("web", 1, 3),
    space("payments", 2, 6, 8),
    space("idle", 1, 0, 2),
    space("none", 9, 0),
    { ...space("waits", 4, 0), waits: [{ pool: "aws", requests: 3 }] },
  ];
  const of12 = { capacity: 12, waiting: 0 };
  expect(sharesOf("aws", spaces)).toEqual([
    { name: "payments", weight: 2, held: 6, ...of12, share: 0.5, fair: 0.25, quota: 8 },
    { name: "web", weight: 1, held: 3, ...of12, share: 0.25, fair: 0.125, quota: null },
    // It holds nothing, and waits: it shares the pool all the same.
    { name: "waits", weight: 4, held: 0, ...of12, share: 0, fair: 0.5, quota: null, waiting: 3 },
    { name: "idle", weight: 1, held: 0, ...of12, share: 0, fair: 0.125, quota: 2 },
  ]);
  expect(sharesOf("other", spaces)).toEqual([]);
  expect(dimensionOf("aws", spaces)).toBe("");
});

test.each([
  ["a pool of clusters", { template: "small" }, true],
  ["a pool with dynamic resources", { policy: { dynamic: { min: 1, max: 9 } } }, true],
  ["a plain pool", {}, false],
  ["a shared pool: its amounts are not its number of hosts", { usage: [] }, false],
])("canMake() of %s", (_, more, want) => {
  const pool = { policy: { dynamic: null }, ...more } as unknown as Parameters<typeof canMake>[0];
  expect(canMake(pool)).toBe(want);
});

test("turnsOf() goes by the largest part of any pool, and not by that of the pool", () => {
  const waits = [{ pool: "aws", requests: 1 }];
  const all = { pool: "small", dimension: null, held: 1, capacity: 1 };
  const web = { ...space("web", 1, 1), share: 1, holds: [all], waits };
  const payments = { ...space("payments", 2, 8), share: 0.33, waits };
  const turns = turnsOf("aws", [web, payments, space("idle", 1, 0)]);
  expect(Object.fromEntries(turns)).toEqual({
    payments: { share: 0.33, isNext: true, of: null },
    web: { share: 1, isNext: false, of: "small" },
  });
  // Of equal shares the request that came first is next.
  const equal = turnsOf("aws", [web, { ...payments, share: 1 }]);
  expect([...equal.values()].map(({ isNext }) => isNext)).toEqual([false, false]);
  expect(turnsOf("aws", [web]).size).toBe(0);
});

test("sharesOf() counts one dimension of a shared pool, also where a space holds more of another", () => {
  const holding = (name: string, vcpus: number, memory: number): Space => {
    const holds = [
      { pool: "lab", dimension: "vcpus", held: vcpus, capacity: 100 },
      { pool: "lab", dimension: "memory", held: memory, capacity: 1_000 },
    ].sort((a, b) => b.held / b.capacity - a.held / a.capacity);
    return { ...space(name, 1, 0), holds };
  };
  const spaces = [holding("web", 10, 400), holding("payments", 60, 250)];
  expect(dimensionOf("lab", spaces)).toBe("vcpus");
  expect(sharesOf("lab", spaces)).toMatchObject([
    { name: "payments", held: 60, capacity: 100 },
    { name: "web", held: 10, capacity: 100 },
  ]);
});

test("sharedPools() has only pools that several spaces hold some of or wait for", () => {
  const of = (pool: string, held: number) => ({ pool, dimension: null, held, capacity: 10 });
  const spaces = [
    { ...space("web", 1, 0), holds: [of("own", 10), of("gcp", 2), of("aws", 4)] },
    { ...space("payments", 1, 0), holds: [of("gcp", 1), of("aws", 5)] },
  ];
  expect(sharedPools(spaces)).toEqual(["aws", "gcp"]);
  const waits = [{ pool: "own", requests: 1 }];
  expect(sharedPools([...spaces, { ...space("ops", 1, 0), waits }])).toEqual(["own", "aws", "gcp"]);
});

test("nextSpaces() are of those that wait, also if another share is lower", () => {
  const idle = { ...space("ops", 1, 0), share: 0 };
  const [web, payments] = [
    { ...space("web", 1, 3), share: 0.6, waiting: 2 },
    { ...space("payments", 1, 3), share: 0.2, waiting: 1 },
  ];
  expect(nextSpaces([idle, web, payments])).toEqual([payments]);
  expect(nextWords([payments])).toEqual(["payments", "share 0.20"]);
  expect(nextWords(nextSpaces([idle]))).toEqual(["–", "nobody waits"]);
  const equal = nextSpaces([idle, { ...web, share: 0.2 }, payments]);
  expect(nextWords(equal)).toEqual(["2 spaces", "share 0.20; the earliest request is next"]);
});
