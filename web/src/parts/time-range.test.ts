import { describe, expect, test } from "vitest";
import { fieldText, isBefore, isMoments, lastHour, momentOf } from "./time-range.ts";

test.each([
  ["", "", false],
  ["24h", "", false],
  ["2026-11-17T14:00:00.000Z", "", true],
  ["", "2026-11-17T14:00:00.000Z", true],
])("isMoments() since %j until %j: %j", (since, until, want) => {
  expect(isMoments({ since, until })).toBe(want);
});

test("lastHour() begins with a full minute", () => {
  expect(lastHour(Date.UTC(2026, 10, 17, 14, 3, 7))).toBe("2026-11-17T13:03:00.000Z");
});

describe("a field for a local time", () => {
  test.each(["2026-11-17T14:03:07.000Z", "2026-07-01T00:00:00.000Z"])(
    "keeps the moment %s",
    (at) => {
      expect(momentOf(fieldText(at))).toBe(at);
    },
  );

  test.each(["", "1h", "no-time"])("is empty for %j", (at) => expect(fieldText(at)).toBe(""));

  test("that is empty is no moment", () => expect(momentOf("")).toBe(""));
});

test.each([
  ["2026-11-17T14:00:00.000Z", undefined, true],
  ["2026-11-17T14:00:00.000Z", "2026-11-17T14:00:01Z", true],
  ["2026-11-17T14:00:00.000Z", "2026-11-17T14:00:00Z", false],
])("isBefore() of %s and %s: %j", (at, until, want) => {
  expect(isBefore(at, until)).toBe(want);
});
