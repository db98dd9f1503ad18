import { expect, test } from "vitest";
import { poolAnswer } from "../../../src/api/pool-answer.suite.ts";
import { heldBackWords, quotasOf, quotaWords } from "./held-back.ts";

const pace = { every: "24s", burst: 1, jitter: 0 };
const own = { pool: poolAnswer({}).name, used: 1, limit: 2 };
const above = { pool: "cloud", used: 1, limit: 2 };
const admission = {
  by: "cluster",
  credits: 0,
  until: null,
  why: null,
  found: null,
  lookedAt: null,
  nextLookAt: null,
};

test.each([
  ["without rules", {}, /^No rule holds its requests back: it was full while they waited/],
  ["with its own number alone", { flow: { limits: [own] } }, /^No rule/],
  ["with a pace", { policy: { pace } }, /^Much of it was free: a pace held requests back\.$/],
  [
    "below a limit, with a pace",
    { policy: { pace }, flow: { limits: [own, above] } },
    /: a pace or the limit cloud held/,
  ],
  ["with a check", { admission }, /: its admission check held/],
])("heldBackWords() of a pool %s", (_, facts, want) => {
  expect(heldBackWords(poolAnswer(facts))).toMatch(want);
});

const quota = { pool: "license", dimension: null, held: 4, max: 4, cohort: null, heldBy: [] };
const spaces = [
  { name: "data", quotas: [] },
  { name: "web", quotas: [quota, { ...quota, pool: null, max: 100 }] },
  { name: "lab", quotas: [{ ...quota, dimension: "vcpus", max: 160 }] },
];

test("quotasOf() names the spaces that may not hold all of a pool", () => {
  expect(quotasOf("license", spaces)).toBe("web (4) and lab (160 vcpus)");
  expect(quotasOf("other", spaces)).toBe("");
  expect(quotaWords(quotasOf("other", spaces))).toBe("");
  expect(quotaWords("web (4)")).toBe("The quotas of web (4) stay.");
  expect(heldBackWords(poolAnswer({ policy: { pace } }), "web (4)")).toMatch(
    /: a pace or the quota of web \(4\) held requests back/,
  );
});
