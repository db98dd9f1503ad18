import { expect, test } from "vitest";
import { axisTime, counts, durations, nearestOf, parts } from "./chart-axes.ts";

test.each([
  [counts, [0, 0.5, 1], 0.5, ["0", "0.5", "1.0"]],
  [counts, [0, 0.05, 0.1], 0.05, ["0", "0.05", "0.10"]],
  [counts, [0, 20, 40], 20, ["0", "20", "40"]],
  [counts, [0, 500, 1_000], 500, ["0", "500", "1,000"]],
  [parts, [0, 0.25, 0.5], 0.25, ["0 %", "25 %", "50 %"]],
  [durations, [0, 60, 120], 60, ["0s", "1m", "2m"]],
])("labels differ: %#", (scale, values, step, want) => {
  const labels = values.map((value) => scale.format(value, step));
  expect(labels).toEqual(want);
  expect(new Set(labels).size).toBe(labels.length);
});

test("axisTime() has the day at midnight, and seconds only if labels are that close", () => {
  const midnight = new Date(2026, 10, 17).getTime() / 1_000;
  expect(axisTime(midnight, 3_600)).toBe("Tue 17");
  expect(axisTime(midnight + 3_600, 3_600)).toBe("01:00");
  expect(axisTime(midnight + 3_610, 10)).toBe("01:00:10");
  expect(axisTime(midnight + 7_200, 86_400)).toBe("Tue 17");
});

test("nearestOf() finds the next dot on either side", () => {
  expect([0, 4, 6, 99].map((to) => nearestOf([1, 10], to))).toEqual([1, 1, 10, 10]);
  expect(nearestOf([], 4)).toBeUndefined();
});
