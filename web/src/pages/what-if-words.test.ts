import { describe, expect, test } from "vitest";
import type { StatsPart } from "../../../src/api/history-schemas.ts";
import { answerWords, distrust } from "./what-if-words.ts";

const part = (p90: number | null) =>
  ({ waitSeconds: p90 === null ? null : { p90 } }) as unknown as StatsPart;
const row = (label: string, p90: number | null, isToday = false) => ({
  ...{ label, part: part(p90), isToday },
});

describe("answerWords()", () => {
  test("names today's value and its neighbours", () => {
    const rows = [row("3", 300), row("5", 52), row("6", 20, true), row("7", 10), row("9", 0)];
    const told = "With 6, as today, 9 in 10 started within 20s; with 5: 52s, with 7: 10s.";
    expect(answerWords(rows)).toBe(told);
  });

  test.each([
    ["today", [300, 22, 20, 20, 21], "More than 5 would not shorten them."],
    ["more than today", [300, 52, 40, 20, 20], "From 7 on, more would not shorten them."],
    ["no value", [300, 52, 40, 20, 10], "with 7: 20s."],
    ["any value", [20, 20, 20, 20, 20], "None of these values changes the waits."],
    ["no more: it is a pace, and less is better", [10, 20, 30, 40, 50], "with 7: 40s."],
  ])("says that %s is enough", (_, [a = 0, b = 0, c = 0, d = 0, e = 0], end) => {
    const rows = [row("3", a), row("5", b), row("6", c, true), row("7", d), row("9", e)];
    expect(answerWords(rows).endsWith(end), answerWords(rows)).toBe(true);
  });

  test.each([
    ["no value is today's", [row("5", 52), row("7", 10)]],
    ["nobody waited", [row("5", null), row("6", null, true)]],
    ["there is nothing beside it", [row("6", 20, true)]],
  ])("is empty if %s", (_, rows) => {
    expect(answerWords(rows)).toBe("");
  });
});

describe("distrust()", () => {
  test("names both times if the replay is far from the record", () => {
    expect(distrust(part(146), part(265))).toContain("gives 4m25s for 90 % and the record 2m26s");
  });

  test.each([
    [100, 110],
    [1, 4],
    [null, 60],
  ])("says nothing about %s and %s", (was, is) => {
    expect(distrust(part(was), part(is))).toBe("");
  });
});
