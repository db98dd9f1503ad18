import { expect, test } from "vitest";
import type { Stats } from "../../../src/api/history-schemas.ts";
import { heldLines, longestNow, startBars, waitLines } from "./history-curves.ts";

const start = Date.UTC(2026, 10, 17, 12);

/** Steps with so many leases each, which waited as many seconds as their number in all. */
function statsOf(granted: readonly number[], stepSeconds: number, more: object = {}): Stats {
  const spread = (count: number) =>
    count === 0 ? null : { p50: 1, p90: 2, p99: 3, max: 4, mean: 1 };
  const part = (count: number) => ({
    ...{ asked: count, granted: count, ended: 0, expired: 0, left: 0, utilisation: 0.5 },
    ...{ waitSeconds: spread(count), dimensions: [] },
  });
  const all = granted.reduce((sum, count) => sum + count, 0);
  return {
    ...{ pool: "aws", stepSeconds, outages: [], total: part(all) },
    from: new Date(start).toISOString(),
    to: new Date(start + granted.length * stepSeconds * 1_000).toISOString(),
    steps: granted.map((count, index) => ({
      ...{ at: new Date(start + index * stepSeconds * 1_000).toISOString(), ...part(count) },
    })),
    ...more,
  } as unknown as Stats;
}

const valuesOf = (stats: Stats) => startBars(stats).lines[0]?.values;

test("startBars() counts by the minute at least: one lease in a second is one, and not 60", () => {
  const stats = statsOf([...Array(59).fill(0), 1], 1);
  expect(startBars(stats).about).toBe("each bar is 1 min");
  expect(valuesOf(stats)).toEqual([1]);
  expect(startBars(stats).lines[0]).toMatchObject({ total: 1, aside: "in all" });
});

test("startBars() ends with a whole bar; the first one may begin before the chart", () => {
  const stats = statsOf([1, 2, 2, 2, 3, 3, 3], 20);
  expect(valuesOf(stats)).toEqual([1, 6, 9]);
  expect(startBars(stats).times).toEqual([-40, 20, 80].map((at) => start / 1_000 + at));
  expect(startBars(stats).span[0]).toBe(start / 1_000 - 40);
});

test("startBars() has another colour for a bar that is not over, and all bars are the total", () => {
  const stats = statsOf([60, 60, 12], 60);
  const to = new Date(start + 132_000).toISOString();
  expect(valuesOf({ ...stats, to })).toEqual([60, 60, null]);
  const [over, going] = startBars({ ...stats, to }).lines;
  expect(going).toMatchObject({ values: [null, null, 12], total: 12, colour: "started-soft" });
  expect(over?.total).toBe(60 + 60 + 12);
  // The only one is all that there is.
  expect(valuesOf({ ...statsOf([12], 60), to: new Date(start + 12_000).toISOString() })).toEqual([
    12,
  ]);
});

test("startBars() ends with a whole bar although the last step goes on", () => {
  const stats = statsOf([...Array(24).fill(1), 7], 5);
  const to = new Date(start + 121_000).toISOString();
  expect(valuesOf({ ...stats, to })).toEqual([12, 12, null]);
});

test("startBars() of long steps counts what each has", () => {
  const stats = statsOf([5, 0, 7], 1_200);
  expect(startBars(stats).about).toBe("each bar is 20 min");
  expect(valuesOf(stats)).toEqual([5, 0, 7]);
});

test("startBars() has nothing where there was nothing to lend, or no server", () => {
  const stats = statsOf([0, 0, 3], 60);
  const [none, ...others] = stats.steps;
  const away = { from: others[0]?.at ?? "", to: others[1]?.at ?? "" };
  const steps = [{ ...none, utilisation: null }, ...others] as Stats["steps"];
  expect(valuesOf({ ...stats, steps, outages: [away] } as Stats)).toEqual([null, null, 3]);
});

test.each([
  ["many", "aws", [9, 8, 0, 1], ["9 in 10 within", "half within"]],
  ["few", "aws", [1, 2, 0, 9], ["longest"]],
  ["no", "aws", [0, 0], ["9 in 10 within", "half within"]],
  ["all pools'", null, [9, 9], ["longest", "99 in 100 within"]],
])("waitLines() of %s waits", (_, pool, granted, labels) => {
  expect(waitLines(statsOf(granted, 60, { pool })).map(({ label }) => label)).toEqual(labels);
});

test("waitLines() leave a step out that goes on: its few starts would be a spike or a fall", () => {
  const to = new Date(start + 125_000).toISOString();
  const [p90] = waitLines(statsOf([9, 9, 3], 60, { to }));
  expect(p90?.values).toEqual([2, 2, null]);
  const [longest] = waitLines(statsOf([1, 1, 1], 60, { to }));
  expect(longest?.values).toEqual([4, 4, 4]);
});

test("the figures beside the names are of the whole time", () => {
  const stats = statsOf([9, 9, 0], 60);
  expect(waitLines(stats).map(({ total }) => total)).toEqual([2, 1]);
  expect(heldLines(stats)).toMatchObject([{ total: 0.5, aside: "on average" }]);
});

test("longestNow() begins when the request came, and ends with the chart", () => {
  const stats = statsOf([9, 9, 0], 60);
  const at = start / 1_000;
  const now = at + 180;
  expect(longestNow(stats, at + 50, now)).toMatchObject({
    times: [at, at + 60, at + 120, now],
    line: { values: [undefined, 10, 70, 130], total: 130 },
  });
  // A minute later the same chart, if somebody has zoomed to it: no value has changed.
  expect(longestNow(stats, at + 50, now + 60)?.line.values).toEqual([undefined, 10, 70, 130]);
  expect(longestNow(stats, at + 50, now + 60)?.line.total).toBe(190);
});

test("longestNow() is not in a chart that ends before the request came", () => {
  const at = start / 1_000;
  expect(longestNow(statsOf([9], 60), at + 61, at + 500)).toBeUndefined();
  expect(longestNow(statsOf([9], 60), null, at + 60)?.line).toMatchObject({
    ...{ values: [undefined, undefined], total: null },
  });
});
