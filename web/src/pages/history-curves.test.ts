import { describe, expect, test } from "vitest";
import type { Stats } from "../../../src/api/history-schemas.ts";
import { heldLines, startBars, waitLines, waitsUntilNow } from "./history-curves.ts";

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

test("startBars() reads a bar under one name: started, or the last one so far", () => {
  const { lines, barSeconds } = startBars({
    ...statsOf([60, 60, 12], 60),
    to: new Date(start + 132_000).toISOString(),
  });
  const readAt = (index: number) =>
    lines.flatMap(({ label, values }) => (values[index] === undefined ? [] : [label]));
  expect(readAt(0)).toEqual(["started", "expired"]);
  expect(readAt(2)).toEqual(["last bar so far", "expired"]);
  expect(barSeconds).toBe(60);
});

test("startBars() has another colour for a bar that is not over, and all bars are the total", () => {
  const stats = statsOf([60, 60, 12], 60);
  const to = new Date(start + 132_000).toISOString();
  expect(valuesOf({ ...stats, to })).toEqual([60, 60, undefined]);
  const [over, going] = startBars({ ...stats, to }).lines;
  expect(going).toMatchObject({
    values: [undefined, undefined, 12],
    total: 12,
    colour: "started-soft",
  });
  expect(over?.total).toBe(60 + 60 + 12);
  // The only one is all that there is.
  expect(valuesOf({ ...statsOf([12], 60), to: new Date(start + 12_000).toISOString() })).toEqual([
    12,
  ]);
});

test("startBars() ends with a whole bar although the last step goes on", () => {
  const stats = statsOf([...Array(24).fill(1), 7], 5);
  const to = new Date(start + 121_000).toISOString();
  expect(valuesOf({ ...stats, to })).toEqual([12, 12, undefined]);
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

test("waitLines() leave a step out that goes on until it has enough starts", () => {
  const to = new Date(start + 125_000).toISOString();
  const [p90] = waitLines(statsOf([9, 9, 3], 60, { to }));
  expect(p90?.values).toEqual([2, 2, null]);
  const [enough] = waitLines(statsOf([9, 9, 5], 60, { to }));
  expect(enough?.values).toEqual([2, 2, 2]);
  const [longest] = waitLines(statsOf([1, 1, 1], 60, { to }));
  expect(longest?.values).toEqual([4, 4, 4]);
});

test("the figures beside the names are of the whole time", () => {
  const stats = statsOf([9, 9, 0], 60);
  expect(waitLines(stats).map(({ total }) => total)).toEqual([2, 1]);
  expect(heldLines(stats)).toMatchObject([{ total: 0.5, aside: "on average" }]);
});

describe("waitsUntilNow()", () => {
  const at = start / 1_000;
  const end = at + 180;
  const longestOf = (stats: Stats, now: Parameters<typeof waitsUntilNow>[1]) => {
    const { times, lines } = waitsUntilNow(stats, now);
    return { times, line: lines.find(({ label }) => label === "waits longest now") };
  };

  test("has the longest wait from the moment the request came to the end of the chart", () => {
    const stats = statsOf([9, 9, 0], 60);
    const found = longestOf(stats, { since: at + 50, end, now: end });
    expect(found).toMatchObject({
      times: [at, at + 50, at + 60, at + 120, end],
      line: { values: [undefined, 0, 10, 70, 130], total: 130 },
    });
    // A minute later the same chart, if somebody has zoomed to it: no value has changed.
    const later = longestOf(stats, { since: at + 50, end, now: end + 60 });
    expect(later.line).toMatchObject({ values: found.line?.values, total: 190 });
  });

  test("draws it in steps that are longer than the wait, and within the chart", () => {
    // The statistics in long steps may have been read after those that give the chart its end.
    const stats = statsOf([9, 9], 600, { to: new Date(start + 1_220_000).toISOString() });
    const found = longestOf(stats, { since: at + 1_062, end: at + 1_200, now: at + 1_220 });
    expect(found).toMatchObject({
      times: [at, at + 600, at + 1_062, at + 1_200],
      line: { values: [undefined, undefined, 0, 138], total: 158 },
    });
  });

  test.each([
    ["its end", [9, 9, 2], [2, 2, 2, undefined]],
    ["now, if it goes on and has enough starts", [9, 9, 6], [2, 2, 2, 2]],
    ["no further, if nothing started after it", [9, 0, 0], [2, null, null, undefined]],
  ])("leads the value of the last step to %s", (_, granted, values) => {
    const now = at + 1_700;
    const stats = statsOf(granted, 600, { to: new Date(now * 1_000).toISOString() });
    expect(waitsUntilNow(stats, { since: null, end: now, now }).lines[0]?.values).toEqual(values);
  });

  test("has no such line in a chart that ends before the request came", () => {
    const stats = statsOf([9], 60);
    const before = { since: at + 61, end: at + 60, now: at + 500 };
    expect(longestOf(stats, before).line).toBeUndefined();
    const nobody = longestOf(stats, { since: null, end: at + 60, now: at + 60 });
    expect(nobody.line).toMatchObject({ values: [undefined, undefined], total: null });
  });
});
