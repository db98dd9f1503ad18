import { expect, test } from "vitest";
import { newRequestId } from "./request-id.ts";

const now = 1_700_000_000_000;

test("newRequestId() makes sixteen letters that nobody misreads", () => {
  expect(newRequestId(now)).toMatch(/^[0-9a-hjkmnp-tv-z]{16}$/);
});

test("newRequestId() makes no two alike, in one millisecond", () => {
  const ids = new Set(Array.from({ length: 100_000 }, () => newRequestId(now)));
  // 35 bits of chance: two of 100,000 in one millisecond meet once in seven such tries.
  expect(ids.size).toBeGreaterThan(99_990);
});

test("newRequestId() sorts by time", () => {
  const times = [0, 1, 31, 32, now, now + 1, now + 86_400_000, 2 ** 43];
  const ids = times.map((time) => newRequestId(time));
  expect([...ids].sort()).toEqual(ids);
});
