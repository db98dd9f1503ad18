import { expect, test } from "vitest";
import { expiredShare, type PoolPart, worstBy, worstWords } from "./worst-facts.ts";

const part = (pool: string, waits: readonly number[], utilisation: number, lost = 0) => {
  const mean = waits.reduce((sum, wait) => sum + wait, 0) / Math.max(1, waits.length);
  const max = Math.max(...waits);
  const waitSeconds = waits.length === 0 ? null : { p50: max, p90: max, p99: max, max, mean };
  return {
    pool,
    granted: waits.length,
    waitedSeconds: mean * waits.length,
    waitSeconds,
    utilisation,
    expired: lost,
    left: 0,
  } as PoolPart;
};
const names = (pools: readonly PoolPart[], order: string) =>
  worstBy(pools, order).map(({ pool }) => pool);

const many = part("many", Array(100).fill(30), 0.95);
const slow = part("slow", [600], 0.1, 2);
const quiet = part("quiet", [0], 0.5);

test("worstBy() has the worst first, and leaves out what is no trouble in this order", () => {
  const pools = [quiet, slow, many];
  expect(names(pools, "")).toEqual(["many", "slow"]);
  expect(names(pools, "p90")).toEqual(["slow", "many"]);
  expect(names(pools, "use")).toEqual(["many", "quiet", "slow"]);
  expect(names(pools, "lost")).toEqual(["slow"]);
});

test.each(["unheard of", "__proto__", "constructor"])("the order %s is the first", (order) => {
  expect(worstBy([slow, many], order)).toEqual(worstBy([slow, many], ""));
  expect(worstWords([slow, many], order)).toEqual(worstWords([slow, many], ""));
});

test.each([
  ["a full pool", [many, quiet], /^100 % of all waiting was for many: 50m in all/],
  ["a pool that is free on average", [slow], /for slow: 10m.* 10 % in use\.$/],
  ["no waits", [quiet], /^Nobody waited\. The fullest pool was quiet, 50 % in use\.$/],
  ["nothing", [], /^Nothing was lent/],
])("worstWords() with %s", (_, pools, want) => {
  expect(worstWords(pools, "").text).toMatch(want);
});

test.each([
  ["", "83 % of all waiting was for many: 50m in all", undefined],
  ["p90", "The slowest request of slow waited 10m; 10 % in use.", undefined],
  ["use", "The fullest pool was many, 95 % in use; 9 in 10 started within 30s.", "many"],
  ["lost", "100 % of what was lost was of slow: 2 expired leases of 1 granted.", undefined],
])("worstWords() has a sentence for the order %j", (order, text, lacking) => {
  const { text: told, lacking: of } = worstWords([quiet, slow, many], order);
  expect(told).toContain(text);
  if (lacking !== undefined) expect(of).toBe(lacking);
});

test("worstBy() counts the waiting of those that have not started", () => {
  const stuck = { ...part("stuck", [], 1), waitedSeconds: 9_000 };
  expect(names([many, stuck], "")).toEqual(["stuck", "many"]);
  expect(worstWords([many, stuck], "").text).toContain("nothing started");
});

test("worstWords() says of which pool more would help", () => {
  expect(worstWords([many, quiet], "").lacking).toBe("many");
  expect(worstWords([slow], "")).toMatchObject({ halfFree: "slow" });
  expect(worstWords([slow], "").lacking).toBeUndefined();
  expect(worstWords([many], "lost").text).toMatch(/^Nothing was lost/);
});

test.each([
  [0, 10, ""],
  [1, 400, "< 1 %"],
  [30, 120, "25 %"],
  [3, 2, "100 %"],
])("expiredShare() of %i expired and %i ended is %j", (expired, ended, words) => {
  expect(expiredShare({ expired, ended })).toBe(words);
});
