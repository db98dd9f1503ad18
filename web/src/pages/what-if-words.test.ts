import { describe, expect, test } from "vitest";
import type { ReplayedPart } from "../../../src/api/history-schemas.ts";
import {
  changeBetween,
  fewerWords,
  inUse,
  replayCheck,
  replayedWords,
  shortRecordWords,
  waits,
  withToday,
} from "./what-if-words.ts";

const part = (p90: number | null) =>
  ({ waitSeconds: p90 === null ? null : { p90 } }) as unknown as ReplayedPart;
/** Of 1,438 claims so many started, the first ones soon. */
const startedOnly = (started: number, p50: number | null, p90: number | null = null) =>
  ({
    ...{ waitSeconds: { p50: 1, p90: 2, p99: 3 } },
    starts: { claims: 1_438, started, withinSeconds: { p50, p90, p99: null } },
  }) as unknown as ReplayedPart;
const row = (label: string, p90: number | null, isToday = false) => ({
  ...{ label, part: part(p90), isToday },
});

test.each([
  ["98 % and 86 %", inUse, 0.976, 0.864, "12 points"],
  ["98 % and 99 %", inUse, 0.9751, 0.9949, "1 point"],
  ["98 % and 98 %", inUse, 0.976, 0.984, ""],
  ["10s and 11s", waits, 10.4, 10.6, "1s"],
  ["35s and 35s", waits, 34.6, 35.4, ""],
  ["1m30s and 30s", waits, 90.4, 29.6, "1m"],
])("changeBetween() %s agrees with what is shown", (shown, measure, before, now, text) => {
  expect(`${measure.show(before)} and ${measure.show(now)}`).toBe(shown);
  expect(changeBetween(before, now, measure).text).toBe(text);
});

describe("replayCheck()", () => {
  test("compares the halves if fewer than 9 in 10 started", () => {
    const check = replayCheck(startedOnly(900, 60), startedOnly(890, 62));
    expect(check).toMatchObject({ quality: "good" });
    expect(check.text).toContain("as it is, half start within 1m2s; recorded were 1m");
  });

  test("is useless if the half starts only in one of them", () => {
    const check = replayCheck(startedOnly(900, 60), startedOnly(106, null));
    expect(check).toMatchObject({ quality: "useless", useless: ["p50"] });
    expect(check.text).toContain("In the replay, 106 of 1,438 start; recorded were 900 of 1,438.");
  });

  test.each([
    [
      146,
      265,
      "useless",
      "off by 1m59s (82 %): as it is, 9 in 10 start within 4m25s; recorded were 2m26s",
    ],
    [9, 15, "off", "The replay is off by 6s (67 %)"],
    [9, 13, "off", "The replay is off by 4s (44 %)"],
    [8, 60, "useless", "off by 52s (650 %)"],
    [
      105.4,
      92.6,
      "off",
      "off by 12s (11 %): as it is, 9 in 10 start within 1m33s; recorded were 1m45s",
    ],
    [0, 8, "off", "off by 8s: "],
    [0, 18, "useless", "The replay is off by 18s: "],
    [
      100,
      110,
      "good",
      "agrees with the record: as it is, 9 in 10 start within 1m50s; recorded were",
    ],
    [1, 2.5, "good", "agrees"],
    [null, null, "good", "No wait was recorded"],
  ])("of %s recorded and %s replayed", (was, is, quality, text) => {
    const check = replayCheck(part(was), part(is));
    expect(check.quality).toBe(quality);
    expect(check.text).toContain(text);
  });
});

test("replayCheck() says which waits do not match the record: the others may be right", () => {
  const waits = (p50: number, p90: number, p99: number) =>
    ({ waitSeconds: { p50, p90, p99 } }) as unknown as ReplayedPart;
  const check = replayCheck(waits(0, 20, 30), waits(0, 22, 90));
  expect(check).toMatchObject({ quality: "good", useless: ["p99"] });
  expect(replayCheck(waits(5, 20, 30), waits(6, 60, 31)).useless).toEqual(["p90"]);
});

test("fewerWords() are the part that started", () => {
  expect(fewerWords(startedOnly(1_021, null))).toBe("71 % started");
  // 98.96 %: fewer than 99 in 100.
  expect(fewerWords(startedOnly(1_423, null))).toBe("98 % started");
  expect(fewerWords(part(null))).toBe("–");
});

test.each([
  ["between others", ["4", "8"], "6", ["4", "6 today", "8"]],
  ["below all", ["8", "12"], "6", ["6 today", "8", "12"]],
  ["above all", ["2m", "30s"], "5m", ["2m", "30s", "5m today"]],
  ["as a word", ["pack"], "least-used", ["pack", "least-used today"]],
  ["nowhere, if none is in force", ["4", "8"], undefined, ["4", "8"]],
])("withToday() puts today's value %s", (_, labels, today, want) => {
  const rows = labels.map((label) => row(label, 10));
  const found = withToday(rows, part(20), today);
  expect(found.map(({ label, isToday }) => (isToday ? `${label} today` : label))).toEqual(want);
});

test("withToday() leaves the row of today's value that was asked for", () => {
  const rows = [row("4", 10), row("6", 10, true)];
  expect(withToday(rows, part(20), "6")).toBe(rows);
});

test("replayCheck() has one error: what it says and what others are compared with", () => {
  const check = replayCheck(part(200.4), part(126.6));
  expect(check.text).toContain("off by 1m13s");
  expect(check.errorSeconds).toBe(73);
});

test("replayedWords() says what was replayed", () => {
  const words = (from: string) =>
    replayedWords({ from, to: "2026-03-02T12:00:00Z", claims: "101 claims" });
  expect(words("2026-03-02T11:48:00Z")).toMatch(
    /^Replayed: the 101 claims recorded in the 12m from .* to .*\d\.$/,
  );
  // Over several days, both ends have their day.
  expect(words("2026-03-01T12:00:00Z")).toMatch(/from \w+ 1 Mar .* to \w+ 2 Mar /);
});

test("shortRecordWords() says if less is recorded than was asked for", () => {
  const words = (from: string, last: string) =>
    shortRecordWords({ from, to: "2026-03-02T12:00:00Z", last });
  expect(words("2026-03-02T11:48:00Z", "24h")).toBe("Only 12m of the last day are recorded.");
  expect(words("2026-03-02T11:00:30Z", "1h")).toBeUndefined();
});
