import { expect, test } from "vitest";
import { newRequestId } from "./lease-identity.ts";

const now = 1_700_000_000_000;

test("newRequestId() returns sixteen characters of Crockford's Base32", () => {
  expect(newRequestId(now)).toMatch(/^[0-9a-hjkmnp-tv-z]{16}$/);
});

test("newRequestId() returns different ids within one millisecond", () => {
  const ids = new Set(Array.from({ length: 100_000 }, () => newRequestId(now)));
  // With 35 random bits, about one run in seven has a single collision among 100,000 ids.
  expect(ids.size).toBeGreaterThan(99_990);
});

test("newRequestId() sorts by time", () => {
  const times = [0, 1, 31, 32, now, now + 1, now + 86_400_000, 2 ** 43];
  const ids = times.map((time) => newRequestId(time));
  expect([...ids].sort()).toEqual(ids);
});
