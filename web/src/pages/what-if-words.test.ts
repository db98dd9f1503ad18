import { describe, expect, test } from "vitest";
import type { ReplayedPart } from "../../../src/api/history-schemas.ts";
import {
  answerWords,
  changeBetween,
  inUse,
  replayCheck,
  replayedWords,
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

describe("answerWords()", () => {
  test("names today's value and its neighbours", () => {
    const rows = [row("3", 300), row("5", 52), row("6", 20, true), row("7", 10), row("9", 0)];
    const told = "With 6, as today, 9 in 10 started within 20s; with 5: 52s, with 7: 10s.";
    expect(answerWords(rows)).toContain(told);
  });

  test.each([
    ["today", [300, 52, 20, 20, 21], "Today's 6 is enough: more would not shorten the waits."],
    [
      ...["less than today", [300, 22, 20, 20, 21]],
      "5 would be enough (1 fewer than today): 9 in 10 start within 22s, and more would not shorten the waits.",
    ],
    [
      ...["more than today", [300, 52, 40, 20, 20]],
      "7 would be enough (1 more than today): 9 in 10 start within 20s, and more would not shorten the waits.",
    ],
    [
      ...["only the largest", [300, 52, 40, 20, 10]],
      "More helps, up to 9, the largest value tried (3 more than today): 9 in 10 start within 10s.",
    ],
    ["any value", [20, 20, 20, 20, 20], "None of these values changes the waits."],
    [
      ...["only the smallest", [10, 20, 30, 40, 50]],
      "Less helps, down to 3, the smallest value tried (3 fewer than today): 9 in 10 start within 10s.",
    ],
    [
      ...["less than today, as of a pace", [10, 11, 30, 40, 50]],
      "5 would be enough (1 fewer than today): 9 in 10 start within 11s, and less would not shorten the waits.",
    ],
    ["no value: waits rise and fall", [30, 10, 30, 40, 50], "With 6, as today"],
  ] as const)("says that %s is enough", (_, [a = 0, b = 0, c = 0, d = 0, e = 0], start) => {
    const rows = [row("3", a), row("5", b), row("6", c, true), row("7", d), row("9", e)];
    expect(answerWords(rows).startsWith(start), answerWords(rows)).toBe(true);
  });

  test.each([
    ["no value is today's", [row("5", 52), row("7", 10)]],
    ["nobody waited", [row("5", null), row("6", null, true)]],
    ["there is nothing beside it", [row("6", 20, true)]],
  ])("is empty if %s", (_, rows) => {
    expect(answerWords(rows)).toBe("");
  });
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

test("answerWords() finds no difference that is smaller than the error of the replay", () => {
  const rows = [row("5", 24), row("6", 20, true), row("7", 16)];
  expect(answerWords(rows, { errorSeconds: 8 })).toContain(
    "None of these values changes the waits by more than the replay is off, 8s.",
  );
  expect(answerWords(rows, { errorSeconds: 1, what: "size" })).toContain(
    "More helps, up to 7, the largest size tried",
  );
});

test("answerWords() says so where more helps less than the replay is off", () => {
  const rows = [row("5", 300), row("6", 120, true), row("8", 42), row("9", 14), row("12", 0)];
  expect(answerWords(rows, { errorSeconds: 49 })).toContain(
    "8 would be enough (2 more than today): 9 in 10 start within 42s, and more gains less than the error of the replay (49s).",
  );
});

test("answerWords() calls less of a time a shorter one", () => {
  const rows = [row("2s", 0), row("3s", 20), row("4s", 120, true)];
  expect(answerWords(rows, { errorSeconds: 28, what: "time" })).toContain(
    "3s would be enough: 9 in 10 start within 20s, and a shorter time gains less than the error of the replay (28s).",
  );
});

test("answerWords() leads with the value that brings most", () => {
  const rows = [row("4", 600, true), row("5", 300), row("6", 48), row("8", 20), row("10", 0)];
  expect(answerWords(rows, { what: "size" })).toContain(
    "6 already gives 48s for 9 in 10 (2 more than today); 10, the largest size tried, gives no wait.",
  );
});

test.each([
  [
    ...["more than enough", "6"],
    "5 would be enough (1 fewer than today): 9 in 10 start within 0s, and more would not shorten that; 99 in 100 start within 45s with 5, 0s with 8.",
  ],
  [
    ...["today's", "5"],
    "Today's 5 is enough for 9 in 10: more would not shorten that; 99 in 100 start within 45s with 5, 0s with 8.",
  ],
] as const)("answerWords() says where 99 in 100 still wait less than with %s", (_, today, told) => {
  const waits = { 4: [60, 90], 5: [0, 45], 6: [0, 6], 8: [0, 0] };
  const rows = Object.entries(waits).map(([label, [p90, p99]]) => ({
    ...{ label, isToday: label === today },
    part: { waitSeconds: { p90, p99 } } as unknown as ReplayedPart,
  }));
  expect(answerWords(rows)).toContain(told);
  const same = rows.filter(({ label }) => label !== "4");
  if (today === "5") {
    expect(answerWords(same)).toContain(
      "None of these values changes the wait of 9 in 10; 99 in 100 start within 45s with 5, 0s with 8.",
    );
  }
});

test("answerWords() takes no wait of the few that started", () => {
  const rows = [
    { label: "5s", part: startedOnly(1_400, 20, 40), isToday: true },
    { label: "15s", part: startedOnly(106, null), isToday: false },
  ];
  expect(answerWords(rows)).toBe(
    "None of the other values is better than today's 5s. " +
      "With 5s, as today, 9 in 10 started within 40s; with 15s: not before the end of the record (106 of 1,438).",
  );
  const none = rows.map((one) => ({ ...one, part: startedOnly(106, null) }));
  expect(answerWords(none)).toBe(
    "With none of these values would 9 in 10 start before the end of the record. With 5s, as today, fewer than " +
      "9 in 10 start before the end of the record (106 of 1,438); with 15s: not before the end of the record (106 of 1,438).",
  );
});

describe("replayCheck()", () => {
  test("compares the halves if fewer than 9 in 10 started", () => {
    const check = replayCheck(startedOnly(900, 60), startedOnly(890, 62));
    expect(check).toMatchObject({ quality: "good" });
    expect(check.text).toContain("as it is, half start within 1m2s; recorded were 1m");
  });

  test("is useless if the half starts only in one of them", () => {
    const check = replayCheck(startedOnly(900, 60), startedOnly(106, null));
    expect(check.quality).toBe("useless");
    expect(check.text).toContain("This replay does not match the record: do not rely on it.");
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
    [0, 18, "useless", "do not rely on it. It is off by 18s: "],
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

test("replayedWords() says what was replayed, and if less is recorded than was asked for", () => {
  const to = "2026-03-02T12:00:00Z";
  const words = (from: string, last: string) =>
    replayedWords({ from, to, last, claims: "101 claims" });
  expect(words("2026-03-02T11:48:00Z", "24h")).toMatch(
    /^Replayed: the 101 claims recorded in the 12m from .* to .*; nothing else of the last day is recorded\.$/,
  );
  expect(words("2026-03-02T11:00:30Z", "1h")).not.toContain("nothing else");
  // Over several days, both ends have their day.
  expect(words("2026-03-01T12:00:00Z", "24h")).toMatch(/from \w+ 1 Mar .* to \w+ 2 Mar /);
});
