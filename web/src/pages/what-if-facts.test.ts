import { expect, test } from "vitest";
import type { Pool } from "../../../src/api/schemas.ts";
import { caveatOf, numberOf, questionsOf, settingOf, valuesIn } from "./what-if-facts.ts";

const flow = { everySeconds: null, pinned: null, limits: [] } as unknown as Pool["flow"];
const counted = { total: 10, held: 2, free: 8, states: {} };
const plain = {
  ...{ name: "aws", ...counted, flow, policy: {}, admission: null },
} as unknown as Pool;
const topics = (pool: object, spaces: string[] = []) =>
  questionsOf({ ...plain, ...pool } as Pool, spaces).map(({ topic }) => topic);

test("a pool is asked about what it has", () => {
  expect(topics({})).toEqual(["size", "pace"]);
  expect(topics({}, ["web", "payments"])).toEqual(["size", "pace", "weight"]);
  expect(topics({ place: "pack" })).toEqual(["placement", "pace"]);
  expect(topics({ limit: { used: 1, limit: 4, waiting: 0, oldestWaitSeconds: null } })).toEqual([
    ...["limit", "pace"],
  ]);
  expect(topics({ template: "ocp" })).toEqual([]);
});

test("a pool whose rate finds itself is not asked about its pace, and says why", () => {
  const policy = { pace: { every: "2s" }, adaptive: { mode: "auto" } };
  expect(topics({ policy }, ["web", "payments"])).toEqual(["size", "weight"]);
  const pool = { ...plain, policy } as unknown as Pool;
  expect(caveatOf(pool)).toContain("Another pace cannot be compared here");
  const advised = { ...policy, adaptive: { mode: "advise" } };
  expect(topics({ policy: advised })).toEqual(["size", "pace"]);
});

test("suggested paces are around the configured one, not around one that somebody pinned", () => {
  const of = (pool: object) => questionsOf({ ...plain, ...pool } as Pool, [])[1];
  const slow = { ...flow, everySeconds: 30, pinned: { rate: 2 } };
  const pinned = of({ flow: slow, policy: { pace: { every: "4s" } } });
  expect(pinned).toMatchObject({ today: "4s", suggested: ["2s", "3s", "4s", "6s", "8s"] });
  expect(of({ flow: slow, policy: { pace: null } })?.today).toBeUndefined();
  const found = of({ flow: { ...flow, everySeconds: 8 }, policy: { pace: { every: "auto" } } });
  expect(found?.today).toBe("8s");
});

test("suggested sizes are on both sides of today's, and never zero", () => {
  const sizes = (total: number) => questionsOf({ ...plain, total }, [])[0]?.suggested;
  expect(sizes(10)).toEqual(["5", "8", "9", "10", "11", "13", "15", "20"]);
  expect(sizes(1)).toEqual(["1", "2", "3"]);
});

test("values are read as people write them", () => {
  expect(valuesIn("12, 8,8  10", { numeric: true })).toEqual(["8", "10", "12"]);
  expect(valuesIn("1m 30s", { numeric: true })).toEqual(["30s", "1m"]);
  expect(valuesIn("pack, least-used", { numeric: false })).toEqual(["pack", "least-used"]);
  expect(numberOf("1.5m")).toBe(90);
  expect(numberOf("many")).toBeNaN();
});

test("each value becomes a setting of the API", () => {
  expect(settingOf("size", "8", "aws", "")).toBe("aws.count=8");
  expect(settingOf("pace", "30s", "aws", "")).toBe("aws.pace.every=30s");
  expect(settingOf("weight", "2", "aws", "web")).toBe("space:web.weight=2");
});
