import { expect, test } from "vitest";
import type { Stats } from "../../../src/api/history-schemas.ts";
import {
  closerLook,
  dataSince,
  fittingRange,
  rangeOf,
  rangeOver,
  shownRange,
  timesNow,
  wholeDay,
  widerSteps,
  zoomedRange,
  zoomedTimes,
  zoomText,
  zoomTimes,
} from "./chart-fit.ts";

const now = Date.UTC(2026, 10, 17, 12) / 1_000;
const step = (minutesAgo: number, asked: number, utilisation: number | null) =>
  ({
    ...{ at: new Date((now - minutesAgo * 60) * 1_000).toISOString() },
    ...{ asked, ended: 0, utilisation },
  }) as Stats["steps"][number];
const fitting = (...steps: Stats["steps"]) =>
  fittingRange({ steps, to: new Date(now * 1_000).toISOString() });

test.each([
  ["nothing at all", [step(900, 0, null)], 60, undefined],
  ["a pool that nobody uses, of today", [step(900, 0, null), step(20, 0, 0)], 20, 20],
  ["a pool that nobody uses", [step(900, 0, 0)], 60, 60],
  ["a few seconds", [step(900, 0, null), step(0.1, 1, 0)], 1, 0.1],
  ["a few minutes", [step(900, 0, null), step(8, 1, 0)], 8, 8],
  ["held, but nobody asks", [step(900, 0, 0), step(50, 0, 0.5)], 50, 50],
  ["a good hour", [step(80, 1, 0)], 80, 80],
  ["a whole day", [step(1_440, 1, 0)], 1_440, undefined],
])("fittingRange() with %s begins where the data does", (_, steps, minutes, sinceMinutes) => {
  const { lengthSeconds, stepSeconds, until, since } = fitting(...steps);
  expect([lengthSeconds / 60, until]).toEqual([minutes, null]);
  expect(since).toBe(sinceMinutes === undefined ? undefined : now - sinceMinutes * 60);
  expect(lengthSeconds / stepSeconds).toBeGreaterThan(24);
  expect(lengthSeconds / stepSeconds).toBeLessThanOrEqual(75);
  expect([60 % stepSeconds, stepSeconds % 60]).toContain(0);
});

test("timesNow() grows with the data, unless a window of fixed length was chosen", () => {
  const range = fitting(step(8, 1, 0));
  expect(timesNow(range, now + 60)).toEqual({ from: now - 480, to: now + 60 });
  expect(timesNow(wholeDay, now + 60)).toEqual({ from: now - 86_400, to: now + 60 });
});

test.each([
  ["a window of an hour", rangeOf("1h"), [3_600, 3_600, 3_600, 3_540]],
  ["a window of a week", rangeOf("7d"), [604_800, 604_800, 604_800, 604_800]],
  ["a time of a few minutes", { ...rangeOver(90, null), since: now - 85 }, [120, 120, 120, 120]],
])("timesNow() has full minutes and full steps, whoever reads %s, and when", (_, range, ago) => {
  const read = [0.4, 17, 59.9, 60].map((later) => timesNow(range, now + later));
  expect(read.map(({ from }) => now - from)).toEqual(ago);
  expect(read.map(({ to }) => to - now)).toEqual([0, 17, 59, 60]);
});

test("timesNow() of one step over all of the time is exactly as long", () => {
  const week = { lengthSeconds: 604_800, stepSeconds: 604_800, until: null };
  expect(timesNow(week, now + 17)).toEqual({ from: now + 17 - 604_800, to: now + 17 });
});

test.each([
  ["full minutes", [-701, -329], [-720, -300]],
  ["full steps, if they are longer", [-40_001, -20_001], [-40_200, -19_800]],
  ["the present minute at most", [-40_001, -1], [-40_200, 0]],
  ["a minute at least", [-50, -45], [-60, 0]],
])("zoomTimes() have %s", (_, selected, wanted) => {
  const [from = 0, to = 0] = selected.map((ago) => now + ago);
  const found = zoomTimes({ from, to }, now);
  expect([found.from - now, found.to - now]).toEqual(wanted);
  const range = zoomedRange(found);
  expect(timesNow(range, now + 99_999)).toEqual(found);
  expect(zoomedTimes(range)).toEqual([found.from * 1_000, found.to * 1_000]);
});

test("shownRange() begins with the data if a longer time was chosen", () => {
  const fit = fitting(step(900, 0, null), step(30, 1, 0));
  expect(shownRange(rangeOf("7d"), fit)).toBe(fit);
  expect(shownRange(null, fit)).toBe(fit);
  expect(shownRange(rangeOf("7d"), undefined)).toBeUndefined();
  const quarter = { lengthSeconds: 900, stepSeconds: 15, until: null };
  expect(shownRange(quarter, fit)).toBe(quarter);
  const zoomed = { lengthSeconds: 7_200, stepSeconds: 120, until: now };
  expect(shownRange(zoomed, fit)).toBe(zoomed);
  expect(shownRange(zoomed, undefined)).toBe(zoomed);
  expect(shownRange(rangeOf("7d"), fitting(step(1_440, 1, 0)))).toEqual(rangeOf("7d"));
});

test("closerLook() is for what the first look cannot see: less than its own steps", () => {
  expect(closerLook(fitting(step(8, 1, 0)))?.lengthSeconds).toBe(9 * 60);
  expect(closerLook(fitting(step(1_440, 1, 0)))).toBeUndefined();
});

test.each([
  ["enough starts", 600, 30],
  ["few in each step", 160, 120],
  ["so few that no line says anything", 20, 30],
])("widerSteps() with %s", (_, granted, stepSeconds) => {
  const range = { lengthSeconds: 1_800, stepSeconds: 30, until: null };
  const stats = { total: { granted }, steps: Array(60).fill(step(1, 1, 0)) } as unknown as Stats;
  expect(widerSteps(range, stats)).toEqual({ ...range, stepSeconds });
});

test("zoomedTimes() are from and to, in milliseconds, as zoomText() writes them", () => {
  const to = Math.floor(new Date().setHours(15, 46, 0, 0) / 1_000);
  const range = rangeOver(420, to);
  expect(zoomedTimes(range)).toEqual([(to - 420) * 1_000, to * 1_000]);
  expect(zoomText(range)).toBe("15:39:00–15:46:00");
});

test("dataSince() is the first step with any use", () => {
  const step = (hour: number, asked: number) =>
    ({ at: new Date(Date.UTC(2026, 10, 17, hour)).toISOString(), asked, ended: 0 }) as never;
  expect(dataSince({ steps: [step(0, 0), step(3, 2), step(6, 0)] })).toBe(
    Date.UTC(2026, 10, 17, 3) / 1_000,
  );
  expect(dataSince({ steps: [step(0, 0)] })).toBeUndefined();
});
