import { expect, test } from "vitest";
import type { Pool } from "../../../src/api/schemas.ts";
import type { Space } from "../../../src/api/space-schemas.ts";
import {
  causeOf,
  caveatOf,
  firstTopic,
  numberOf,
  questionsOf,
  questionWords,
  settingOf,
  suggestedFor,
  type Topic,
  valuesIn,
  valuesProblem,
} from "./what-if-facts.ts";

const flow = { everySeconds: null, pinned: null, limits: [] } as unknown as Pool["flow"];
const counted = { total: 10, held: 2, free: 8, states: {} };
const plain = {
  ...{ name: "aws", ...counted, flow, policy: {}, admission: null },
} as unknown as Pool;
const payments = { name: "payments", weight: 4 };
const topics = (pool: object, space?: typeof payments) =>
  questionsOf({ ...plain, ...pool } as Pool, space).map(({ topic }) => topic);

test("a pool is asked about what it has", () => {
  expect(topics({})).toEqual(["size", "pace"]);
  expect(topics({}, payments)).toEqual(["size", "pace", "weight"]);
  expect(topics({ place: "pack" })).toEqual(["hosts", "placement", "pace"]);
  expect(topics({ limit: { used: 1, limit: 4, waiting: 0, oldestWaitSeconds: null } })).toEqual([
    ...["limit", "pace"],
  ]);
  expect(topics({ template: "ocp" })).toEqual([]);
});

test("a pool whose pace may hold requests back is asked about it first, unless it is full", () => {
  const paced = { ...plain, flow: { ...flow, everySeconds: 4 } } as Pool;
  expect(firstTopic(paced)).toBe("pace");
  expect(firstTopic({ ...paced, free: 0, held: 10 })).toBeUndefined();
  expect(firstTopic(plain)).toBeUndefined();
});

test("causeOf() is what else makes requests wait, if it is only one", () => {
  const limits = [{ pool: "aws", used: 2, limit: 11 }];
  const above = { pool: "cloud", used: 2, limit: 5 };
  const of = (flowOf: object, pool: object = {}, below: Parameters<typeof causeOf>[2] = []) =>
    causeOf({ ...plain, ...pool, flow: { ...flow, ...flowOf } } as Pool, "size", below);
  expect(of({ everySeconds: 4 })).toEqual({ words: "the pace (one every 4s)", ask: "pace" });
  expect(of({ limits: [above] })).toEqual({ words: "the limit of cloud (5)" });
  expect(of({ everySeconds: 4, limits: [above] })).toBeUndefined();
  expect(of({})).toBeUndefined();
  const below = [
    { name: "east", total: 8 },
    { name: "west", total: 8 },
  ];
  const quota = (name: string, held: number, more: object = {}) => ({
    ...{ name, waits: [{ pool: "aws", requests: 1 }] },
    quotas: [{ ...{ pool: "aws", dimension: null, held, max: 4, cohort: null }, ...more }],
  });
  const ofSpaces = (...spaces: object[]) => causeOf(plain, "size", [], spaces as Space[])?.words;
  expect(ofSpaces(quota("web", 4), quota("ops", 3))).toBe("the quota of web (4)");
  expect(ofSpaces(quota("web", 4), quota("ops", 4))).toBe("a quota (web 4, ops 4)");
  // What it borrows is not its quota, and who does not wait is not held back.
  expect(ofSpaces(quota("web", 4, { cohort: {} }), { ...quota("ops", 4), waits: [] })).toBe(
    undefined,
  );
  expect(of({ limits }, { limit: {} }, below)).toEqual({
    ...{ words: "the size of the pools below it (east 8, west 8)", from: 16 },
  });
  expect(causeOf({ ...plain, flow: { ...flow, everySeconds: 4 } }, "pace", [])).toBeUndefined();
});

test("a pool whose rate finds itself is not asked about its pace, and says why", () => {
  const policy = { pace: { every: "2s" }, adaptive: { mode: "auto" } };
  expect(topics({ policy }, payments)).toEqual(["size", "weight"]);
  const pool = { ...plain, policy } as unknown as Pool;
  expect(caveatOf(pool)?.text).toContain("Another pace cannot be compared here");
  const advised = { ...policy, adaptive: { mode: "advise" } };
  expect(topics({ policy: advised })).toEqual(["size", "pace"]);
});

test("suggested paces are around the configured one, not around one that somebody pinned", () => {
  const of = (pool: object) => questionsOf({ ...plain, ...pool } as Pool, undefined)[1];
  const slow = { ...flow, everySeconds: 30, pinned: { rate: 2 } };
  const pinned = of({ flow: slow, policy: { pace: { every: "4s" } } });
  expect(pinned).toMatchObject({ today: "4s", suggested: ["2s", "3s", "4s", "6s", "8s"] });
  expect(of({ flow: slow, policy: { pace: null } })?.today).toBeUndefined();
  const found = of({ flow: { ...flow, everySeconds: 8 }, policy: { pace: { every: "auto" } } });
  expect(found?.today).toBe("8s");
});

test("a weight is compared with the one that the space has", () => {
  expect(questionsOf(plain, payments).at(-1)).toMatchObject({
    ...{ topic: "weight", today: "4", suggested: ["0.5", "1", "2", "3", "4", "5"] },
  });
});

test("a pool below a limit leads to the page of the limit", () => {
  const limits = [
    { pool: "aws", used: 1, limit: 4 },
    { pool: "account", used: 2, limit: 8 },
  ];
  const below = { ...plain, flow: { ...flow, limits } } as unknown as Pool;
  expect(caveatOf(below)).toMatchObject({ limit: "account" });
  expect(caveatOf(plain)).toBeUndefined();
});

test.each<[Topic, string, string | undefined]>([
  ["size", "8, 12", undefined],
  ["size", "8, abc, -3", "abc and -3 are not whole numbers of 1 or more"],
  ["limit", "0", "0 is not a whole number of 1 or more"],
  ["pace", "30s 1.5m", undefined],
  ["pace", "30", "30 is not a time such as 30s"],
  ["weight", "0.5 2", undefined],
  ["weight", "heavy", "heavy is not a number above 0"],
  ["placement", "pack", undefined],
  ["placement", "packed", "packed is not one of "],
  ["size", " , ", "Write one value or more"],
  ["size", "1 2 3 4 5 6 7 8 9 10 11 12 13", "These are 13 values: at most 12"],
])("valuesProblem() of %s: %s", (topic, text, problem) => {
  const found = valuesProblem(text, { topic });
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});

test("hosts of a shared pool are counted, and not its capacity", () => {
  const usage = [{ dimension: "vcpus", used: 4, capacity: 384 }];
  const shared = { ...plain, place: "pack", usage, total: 4 } as unknown as Pool;
  expect(questionsOf(shared, undefined)[0]).toMatchObject({ topic: "hosts", today: "4" });
});

test("suggested sizes are on both sides of today's, and never zero", () => {
  const sizes = (total: number) => questionsOf({ ...plain, total }, undefined)[0]?.suggested;
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
  expect(settingOf("hosts", "6", "lab", "")).toBe("lab.count=6");
  expect(settingOf("pace", "30s", "aws", "")).toBe("aws.pace.every=30s");
  expect(settingOf("weight", "2", "aws", "web")).toBe("space:web.weight=2");
});

test("suggestedFor() a limit has the value from which on the pools below it are full", () => {
  const question = { topic: "limit", title: "", today: "11", numeric: true } as const;
  const suggested = ["8", "11", "14", "22"];
  const below = [{ total: 8 }, { total: 8 }];
  const limit = { ...question, suggested };
  expect(suggestedFor(limit, below)).toEqual(["8", "11", "14", "16", "22"]);
  expect(suggestedFor(limit, [])).toEqual(suggested);
  expect(suggestedFor({ ...limit, topic: "size" }, below)).toEqual(suggested);
});

test("questionWords() says how many of today's are quarantined or drained: a replay lends them", () => {
  const question = { topic: "size", today: "6" } as const;
  const words = (states: object) =>
    questionWords({ name: "aws", states: { ...states } }, question, "");
  expect(words({ free: 6 })).toContain("than its 6?");
  expect(words({ quarantined: 1 })).toContain("than its 6, of which 1 is quarantined?");
  expect(words({ quarantined: 1, drained: 2 })).toContain(
    "of which 1 is quarantined and 2 are drained?",
  );
});
