import { describe, expect, test } from "vitest";
import { poolAnswer as pool } from "../../../src/api/pool-answer.suite.ts";
import { hasProblem, outOf, sortedBy, waitsTooLong } from "./pool-facts.ts";

test("outOf() counts what is neither free nor held", () => {
  expect(outOf(pool({}))).toBe(1);
  expect(outOf(pool({ total: 8 }))).toBe(0);
});

describe("waitsTooLong()", () => {
  test.each([
    ["nobody waits", { oldestWaitSeconds: null }, false],
    ["a moment is never long", { oldestWaitSeconds: 250, meanHoldSeconds: 10 }, false],
    ["longer than a usual hold", { oldestWaitSeconds: 2_000, meanHoldSeconds: 1_800 }, true],
    ["shorter than a usual hold", { oldestWaitSeconds: 1_700, meanHoldSeconds: 1_800 }, false],
    ["where no hold is known", { oldestWaitSeconds: 700, meanHoldSeconds: null }, true],
  ])("%s", (_, facts, want) => {
    expect(waitsTooLong(pool(facts))).toBe(want);
  });
});

test("hasProblem() finds what is quarantined", () => {
  expect(hasProblem(pool({}))).toBe(false);
  expect(hasProblem(pool({ states: { quarantined: 1 } }))).toBe(true);
});

describe("sortedBy()", () => {
  const pools = [
    pool({ name: "b", waiting: 1 }),
    pool({ name: "c", waiting: 9, oldestWaitSeconds: 5 }),
    pool({ name: "a", waiting: 1, held: 9 }),
  ];
  test.each([
    ["", "abc"],
    ["nonsense", "abc"],
    ["waiting", "cab"],
    ["oldest", "cab"],
    ["usage", "abc"],
  ])("%j", (sort, want) => {
    expect(
      sortedBy(pools, sort)
        .map(({ name }) => name)
        .join(""),
    ).toBe(want);
  });
});
