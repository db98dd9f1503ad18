import { expect, test } from "vitest";
import { poolAnswer } from "../../../src/api/pool-answer.suite.ts";
import { cleanedWords, cleaningStatus, cleaningTimeWords, hasCleaning } from "./cleaning-facts.ts";

const { policy } = poolAnswer({});

test.each([
  ["resources that become dirty", { policy: { ...policy, onRelease: "dirty" } }, true],
  [
    "those that become dirty when a lease expires",
    { policy: { ...policy, onExpire: "dirty" } },
    true,
  ],
  ["one that somebody made dirty", { states: { dirty: 1 } }, true],
  ["none to clean", {}, false],
  ["clusters", { template: "ocp", policy: { ...policy, onRelease: "dirty" } }, false],
])("hasCleaning() of a pool with %s", (_, fields, want) => {
  const cleanPolicy = { ...policy, onRelease: "free", onExpire: "free" };
  expect(hasCleaning(poolAnswer({ policy: cleanPolicy, states: { free: 1 }, ...fields }))).toBe(
    want,
  );
});

test.each([
  [{ free: 2 }, { open: true, words: "nothing to clean" }],
  [
    { dirty: 2, cleaning: 1 },
    { open: true, words: "1 being cleaned, 2 to clean" },
  ],
  [
    { dirty: 2, quarantined: 3 },
    { open: false, bad: true, words: "3 quarantined" },
  ],
])("cleaningStatus() of %j", (states, want) => {
  expect(cleaningStatus({ states })).toEqual(want);
});

test("the words of past cleanings", () => {
  const none = { cleaned: 0, failed: 0, cleaningSeconds: null };
  const cleaningSeconds = { p50: 2.1, p90: 63, p99: 70, max: 80, mean: 9 };
  const some = { cleaned: 1_204, failed: 3, cleaningSeconds };
  expect([none, some].map(cleanedWords)).toEqual(["none", "1,204 cleaned, 3 failed"]);
  expect([none, some].map(cleaningTimeWords)).toEqual([
    undefined,
    "half within 2.1s, 9 in 10 within 1m3s",
  ]);
});
