import { expect, test } from "vitest";
import type { Pool } from "../../../src/api/schemas.ts";
import { numberOf, questionsOf, settingOf, valuesIn } from "./what-if-facts.ts";

const flow = { everySeconds: null } as Pool["flow"];
const plain = { name: "aws", total: 10, held: 2, free: 8, states: {}, flow } as unknown as Pool;
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
