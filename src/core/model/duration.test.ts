import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  briefDuration,
  durationPattern,
  formatDuration,
  hasRealDate,
  parseDuration,
  roughDuration,
} from "./time.ts";

const thousandYearsMs = 1_000 * 365 * 86_400_000;

describe("parseDuration()", () => {
  test.each([
    ["0", 0],
    ["0s", 0],
    ["250ms", 250],
    ["90s", 90_000],
    ["20m", 1_200_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    ["2d", 172_800_000],
    ["1m1m", 120_000],
    ["0.4ms", 0],
    ["365000d", thousandYearsMs],
  ])("reads %s", (text, want) => {
    expect(parseDuration(text)).toBe(want);
  });

  test.each([
    "",
    "5",
    "-5s",
    "+5s",
    "5 s",
    " 5s",
    "5s ",
    "5S",
    "5w",
    "s",
    ".5s",
    "5.s",
    "1e3s",
    "Infinity",
    "NaN",
    "5s\n",
    "٥s",
    "365001d",
    `${"9".repeat(31)}d`,
    `${"1s".repeat(17)}`,
  ])("refuses %j", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test("takes what durationPattern takes", () => {
    const letters = fc.constantFrom("0", "1", "9", ".", "m", "s", "h", "d", "-", " ");
    // Six letters are too few for more than a thousand years, which only the parser refuses.
    fc.assert(
      fc.property(fc.string({ unit: letters, maxLength: 6 }), (text) => {
        const matches = new RegExp(durationPattern, "u").test(text);
        expect(matches).toBe(parseDuration(text) !== undefined);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("formatDuration()", () => {
  test.each([
    [0, "0s"],
    [-5, "0s"],
    [1, "1ms"],
    [5_400_000, "1h30m"],
    [999, "999ms"],
    [9_500, "9.5s"],
    [82_000, "1m22s"],
    [60_500, "1m0.5s"],
    [90_061_001, "1d1h1m1.001s"],
  ])("writes %d", (durationMs, want) => {
    expect(formatDuration(durationMs)).toBe(want);
  });

  test("comes back from parseDuration() as it was", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: thousandYearsMs }), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
      }),
    );
  });
});

test.each([
  [0, "0s"],
  [-1, "0s"],
  [499, "0s"],
  [59_499, "59s"],
  [59_500, "1m"],
  [61_000, "1m1s"],
  [3_599_999, "1h"],
  [3_660_000, "1h1m"],
  [86_399_999, "1d"],
  [90_000_000, "1d1h"],
])("roughDuration() writes %d ms as %s", (durationMs, want) => {
  expect(roughDuration(durationMs)).toBe(want);
});

test.each([
  [-1, "0s"],
  [0, "0s"],
  [0.2, "1ms"],
  [51.2, "52ms"],
  [250, "0.25s"],
  [1_000, "1s"],
  [9_500, "9.5s"],
  [9_960, "10s"],
  [14_286, "14s"],
  [82_000, "1m22s"],
  [5_400_000, "1h30m"],
])("briefDuration() writes %d ms as %s", (durationMs, want) => {
  expect(briefDuration(durationMs)).toBe(want);
});

test.each([
  ["2026-02-28", true],
  ["2026-02-29", false],
  ["2024-02-29T12:00:00Z", true],
  ["1900-02-29", false],
  ["2000-02-29", true],
  ["2026-02-30", false],
  ["2026-04-31", false],
  ["2026-12-31", true],
  ["2026-13-01", false],
  ["2026-01-00", false],
  ["yesterday", false],
])("hasRealDate(%j) is %s", (text, want) => {
  expect(hasRealDate(text)).toBe(want);
});
