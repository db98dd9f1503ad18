import { expect, test } from "vitest";
import { leftText, usualTime } from "./time-words.ts";

test.each([
  [-4_000, "now"],
  [0, "now"],
  [499, "now"],
  [500, "1s"],
  [61_000, "1m1s"],
])("leftText() of %i ms", (leftMs, want) => {
  expect(leftText(leftMs)).toBe(want);
});

test.each([
  [0.4, "0.4s"],
  [4.9, "4.9s"],
  [8.9, "9s"],
])("usualTime() of %f s", (seconds, want) => {
  expect(usualTime(seconds)).toBe(want);
});
