import { expect, test } from "vitest";
import { percent, percentLeft, percentOfTime } from "./numbers.ts";

test.each([
  [11_000, 22, 50],
  [60_000, 22, 100],
  // A negative width is none, and the bar would be full.
  [-400, 22, 0],
  [5, 0, 100],
])("%s ms of %s s is %s %%", (elapsedMs, usualSeconds, want) => {
  expect(percentOfTime(elapsedMs, usualSeconds)).toBe(want);
});

test.each([
  [0.875, "88 %", "12 %"],
  [0, "0 %", "100 %"],
  [1.2, "120 %", "0 %"],
])("%s held is %s, and %s is left", (held, is, left) => {
  expect([percent(held), percentLeft(held)]).toEqual([is, left]);
});
