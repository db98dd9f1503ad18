import { expect, test } from "vitest";
import { poolAnswer as pool } from "../../../src/api/pool-answer.suite.ts";
import { deadlineWords, leftWords, lentAgainWords, nextWords, pauseWords } from "./impact-words.ts";

test.each([
  [{ total: 2, free: 1, held: 1 }, "1 of 2 in aws is left in service."],
  [{ total: 9, free: 5, held: 2, waiting: 3 }, "6 of 9 in aws are left in service; 3 waiting now."],
  [{ total: 4, free: 2, held: 1, states: { cooling: 1 } }, "3 of 4 in aws are left in service."],
  [{ total: 1, free: 1, held: 0 }, "0 of 1 in aws are left in service."],
])("leftWords() %j", (facts, want) => {
  expect(leftWords(pool(facts))).toBe(want);
});

test("nextWords() names the first in line", () => {
  const at = (ms: number) => new Date(ms).toISOString();
  const first = { holder: "ci/7", queuedAt: at(0) };
  const second = { holder: "ci/8", queuedAt: at(9_000) };
  expect(nextWords("aws", [], 60_000)).toBe("Nobody waits for aws now.");
  expect(nextWords("aws", [first, second], 60_000)).toBe(
    "Next for aws: ci/7, which has waited for 1m, and 1 more wait.",
  );
});

test("pauseWords() has the longest lock delay", () => {
  const delays = (...lockDelays: readonly string[]) =>
    lockDelays.map((lockDelay) => ({ policy: { ...pool({}).policy, lockDelay } }));
  expect(pauseWords(delays("2s", "15s"))).toBe("15s");
  expect(pauseWords(delays("0s"))).toBe("");
  expect(pauseWords([])).toBe("");
});

test.each([
  [
    348_000,
    "8s",
    "The job has until its heartbeat timeout (5m48s) to release it. Then it rests for 8s and is lent again.",
  ],
  [null, "", "The job has until its heartbeat timeout to release it. Then it is lent again."],
])("lentAgainWords() with %s ms left and a pause of %s", (leftMs, pause, want) => {
  const expiresAt = leftMs === null ? null : new Date(leftMs).toISOString();
  expect(lentAgainWords(deadlineWords(expiresAt, null, 0), pause)).toBe(want);
});

test.each([
  [130, "max lifetime (2m10s)"],
  [600, "heartbeat timeout (5m)"],
  [300, "heartbeat timeout (5m)"],
  [-1, "max lifetime (0s)"],
])("deadlineWords() of a lease that ends in %i s name the first end", (seconds, want) => {
  const end = { at: new Date(seconds * 1_000).toISOString(), why: "max lifetime" };
  // The last heartbeat came a while ago.
  const expiresAt = new Date(300_000).toISOString();
  expect(deadlineWords(expiresAt, end, 0)).toBe(want);
});
