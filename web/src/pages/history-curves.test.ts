import { describe, expect, test } from "vitest";
import type { Stats } from "../../../src/api/history-schemas.ts";
import {
  allAtOnceText,
  heldLines,
  isSparse,
  startBars,
  waitLines,
  waitsUntilNow,
} from "./history-curves.ts";

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

test("startBars() has the part of the leases that expired, which no bar shows", () => {
  const total = { ...statsOf([1], 60).total, expired: 3, ended: 300 };
  const expired = startBars({ ...statsOf([1], 60), total }).lines.find(
    ({ label }) => label === "expired",
  );
  expect(expired).toMatchObject({ total: 3, aside: "in all, 1 %" });
});

test("startBars() begins bars at full minutes; the first one may begin before the chart", () => {
  const later = new Date(start + 40_000).toISOString();
  const stats = statsOf([1, 2, 2, 2, 3, 3, 3], 20);
  expect(valuesOf(stats)).toEqual([5, 8, undefined]);
  const shifted = { ...stats, steps: stats.steps.slice(2), from: later };
  expect(valuesOf(shifted)).toEqual([2, 8, undefined]);
  expect(startBars(shifted).times).toEqual([0, 60, 120].map((at) => start / 1_000 + at));
  expect(startBars(shifted).span[0]).toBe(start / 1_000);
});

test("startBars() does not promise more for a bar that the end of a past time cuts", () => {
  const stats = statsOf([60, 12], 60, { to: new Date(start + 72_000).toISOString() });
  expect(startBars(stats, true).lines[1]?.label).toBe("part of a bar");
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

test.each([
  [
    [1, 1, 9, 9],
    [true, false],
  ],
  [
    [1, 1, 1, 9],
    [true, true],
  ],
  [
    [1, 9, 9, 9],
    [false, false],
  ],
])("isSparse() of %j stays as it was near the middle: %j", (granted, want) => {
  const stats = statsOf(granted, 60);
  expect([isSparse(stats, true), isSparse(stats, false)]).toEqual(want);
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

test("waitLines() have no longest wait of a step that goes on and has few of the usual starts", () => {
  const to = new Date(start + 125_000).toISOString();
  const [longest] = waitLines(statsOf([9, 9, 1], 60, { to, pool: null }));
  expect(longest?.values).toEqual([4, 4, null]);
});

test.each([
  [[3, 1], 0.4, "All 4 started at once"],
  [[1], 0, "The only one started at once"],
  [[3, 1], 1.2, undefined],
])("allAtOnceText() of %j with a longest wait of %d s", (granted, max, text) => {
  const stats = statsOf(granted, 60);
  const waitSeconds = { p50: 0, p90: 0, p99: 0, mean: 0, max };
  expect(allAtOnceText({ ...stats, total: { ...stats.total, waitSeconds } })).toBe(text);
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

  test("has the longest wait as a dot at the end: what was before it, nobody has recorded", () => {
    const stats = statsOf([9, 9, 0], 60);
    expect(longestOf(stats, { since: at + 50, end, now: end + 2 })).toMatchObject({
      times: [at, at + 60, at + 120, end],
      line: { values: [undefined, undefined, undefined, 132], total: 132, draw: "dots" },
    });
    const nobody = longestOf(stats, { since: null, end, now: end });
    expect(nobody.line).toMatchObject({ values: Array(4).fill(undefined), total: null });
  });

  test("has nothing of now in a time that is over", () => {
    const found = longestOf(statsOf([9], 60), { since: undefined, end, now: end + 500 });
    expect(found.line).toBeUndefined();
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

  test("has what started in a step that goes on, pale and apart from the line", () => {
    const now = at + 1_700;
    const to = new Date(now * 1_000).toISOString();
    const linesOf = (granted: readonly number[]) => {
      return waitsUntilNow(statsOf(granted, 600, { to }), { since: null, end: now, now }).lines;
    };
    const few = linesOf([9, 9, 2]);
    const values = [undefined, undefined, 2, 2];
    expect(few[1]).toMatchObject({ label: "9 in 10 so far", isPale: true, total: 2, values });
    // The line before ends there, and is not read in this step.
    expect(few[0]).toMatchObject({ values: [2, 2, 2, undefined], readUntil: 2 });
    for (const granted of [
      [9, 9, 6],
      [9, 0, 0],
    ]) {
      expect(linesOf(granted).filter(({ isPale }) => isPale)).toEqual([]);
    }
  });
});
