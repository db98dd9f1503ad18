import { expect, test } from "vitest";
import { UsualWaits, usualWaitsOf } from "./usual-waits.ts";

const hourMs = 3_600_000;
const waits = (pool: string, ...waitsMs: number[]) => waitsMs.map((ms) => [pool, ms, 0] as const);
const hundred = Array.from({ length: 100 }, (_, index) => (index + 1) * 1_000);

test("usualWaitsOf() has what 99 of 100 did not exceed, of pools with enough grants", () => {
  const found = usualWaitsOf([...waits("aws", ...hundred), ...waits("rare", 9e6)], 2 * hourMs);
  expect(found).toEqual([{ pool: "aws", p99Ms: 99_000 }]);
});

test("usualWaitsOf() leaves out the last hour, unless too little is older", () => {
  const now = Array.from({ length: 30 }, () => ["aws", 9e6, hourMs] as const);
  const p99 = (...all: readonly (readonly [string, number, number])[]) =>
    usualWaitsOf(all, 2 * hourMs).map(({ p99Ms }) => p99Ms);
  expect(p99(...waits("aws", ...hundred), ...now)).toEqual([99_000]);
  expect(p99(...waits("aws", 1_000), ...now)).toEqual([9e6]);
});

test("UsualWaits reads again after five minutes, and keeps what it knows while it cannot", async () => {
  const asked: number[] = [];
  let fails = false;
  const usual = new UsualWaits(async (since) => {
    asked.push(since);
    if (fails) throw new Error("history cannot be read");
    return [{ pool: "aws", p99Ms: asked.length }];
  });
  const weekMs = 7 * 24 * 3_600_000;
  usual.refresh(weekMs);
  await expect.poll(() => [...usual.known]).toEqual([["aws", 1]]);
  usual.refresh(weekMs + 299_999);
  expect(asked).toEqual([0]);
  fails = true;
  usual.refresh(weekMs + 300_000);
  expect(asked).toEqual([0, 300_000]);
  expect([...usual.known]).toEqual([["aws", 1]]);
});
