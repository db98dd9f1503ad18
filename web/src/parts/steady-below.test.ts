import { expect, test } from "vitest";
import { shiftFor } from "./steady-below.ts";

test.each([
  ["below a list that grew", 500, 0, 30],
  ["within the list", 300, 0, 0],
  ["below, but it rests", 500, 5_000, 0],
  ["nowhere", undefined, 0, 0],
])("shiftFor() a pointer %s", (_, pointerY, movedMsAgo, want) => {
  expect(shiftFor({ before: 400, now: 430, pointerY, movedMsAgo })).toBe(want);
});
