import { expect, test } from "vitest";
import { poolAnswer as pool } from "../../../src/api/pool-answer.suite.ts";
import {
  backWords,
  deadlineWords,
  leftWords,
  lentAgainWords,
  nextWords,
  pauseWords,
} from "./impact-words.ts";

test.each([
  [{ total: 2, free: 1, held: 1 }, "1 of 2 in aws is left in service."],
  [{ total: 9, free: 5, held: 2, waiting: 3 }, "6 of 9 in aws are left in service; 3 waiting now."],
  [{ total: 4, free: 2, held: 1, states: { cooling: 1 } }, "3 of 4 in aws are left in service."],
  [
    { total: 1, free: 1, held: 0 },
    "Nothing else of aws is in service: requests wait until it is undrained.",
  ],
  [
    { total: 1, free: 0, held: 1, waiting: 2 },
    "Nothing else of aws is in service: requests wait until it is undrained; 2 waiting now.",
  ],
])("leftWords() %j", (facts, want) => {
  expect(leftWords(pool(facts))).toBe(want);
});

test.each([
  [{ free: 25, waiting: 0 }, "Nobody waits for aws now."],
  [{ free: 25, waiting: 3 }, "25 of aws are free already; 3 waiting."],
  [{ free: 0, waiting: 3 }, "Nothing of aws is free: the next of 3 waiting gets it."],
  [{ free: 0, waiting: 3, usage: [] }, "3 wait for aws now."],
])("backWords() promises it to the next only if nothing else is free: %j", (facts, want) => {
  expect(backWords(pool(facts))).toBe(want);
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
    "Its job is notified, and has 5m48s left to release it (heartbeat timeout). Then it rests for 8s and is lent again.",
  ],
  [
    null,
    "",
    "Its job is notified, and has until its heartbeat timeout to release it. Then it is lent again.",
  ],
])("lentAgainWords() with %s ms left and a pause of %s", (leftMs, pause, want) => {
  const expiresAt = leftMs === null ? null : new Date(leftMs).toISOString();
  expect(lentAgainWords(deadlineWords(expiresAt, null, 0), pause)).toBe(want);
});

test.each([
  [130, "2m10s left to release it (max lifetime)"],
  [600, "5m left to release it (heartbeat timeout)"],
  [300, "5m left to release it (heartbeat timeout)"],
  [-1, "0s left to release it (max lifetime)"],
])("deadlineWords() of a lease that ends in %i s name the first end", (seconds, want) => {
  const end = { at: new Date(seconds * 1_000).toISOString(), why: "max lifetime" };
  // The last heartbeat came a while ago.
  const expiresAt = new Date(300_000).toISOString();
  expect(deadlineWords(expiresAt, end, 0)).toBe(want);
});
