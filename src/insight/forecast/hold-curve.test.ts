import { describe, expect, test } from "vitest";
import { HoldCurve } from "./hold-curve.ts";
import { Random } from "./random.ts";

function draws(curve: HoldCurve, ageMs = 0, count = 4_000): number[] {
  const random = new Random(5);
  return Array.from({ length: count }, () => curve.draw(random, ageMs));
}

const share = (values: readonly number[], test: (value: number) => boolean) =>
  values.filter(test).length / values.length;

describe("HoldCurve", () => {
  test("draws each recorded hold with the same probability", () => {
    const found = draws(new HoldCurve([10, 20, 30, 40], []));
    for (const length of [10, 20, 30, 40]) {
      expect(share(found, (value) => value === length)).toBeCloseTo(0.25, 1);
    }
  });

  test("draws only longer holds for a lease that is already held for a while", () => {
    const found = draws(new HoldCurve([10, 20, 30, 40], []), 25);
    expect(share(found, (value) => value === 30)).toBeCloseTo(0.5, 1);
    expect(Math.min(...found)).toBe(30);
  });

  test("includes running holds, so that short finished ones are not all that counts", () => {
    const found = draws(new HoldCurve([10, 100], [50, 50, 50]));
    // One in five ended at 10. For the rest, only one end is known, at 100.
    expect(share(found, (value) => value === 10)).toBeCloseTo(0.2, 1);
    expect(share(found, (value) => value === 100)).toBeCloseTo(0.8, 1);
  });

  test("continues beyond the longest known hold for a lease that is older", () => {
    const found = draws(new HoldCurve([10, 20], []), 500);
    expect(Math.min(...found)).toBe(510);
    expect(Math.max(...found)).toBe(520);
  });

  test("returns infinity without a recorded hold", () => {
    expect(new HoldCurve([], [5, 6]).draw(new Random(1))).toBe(Number.POSITIVE_INFINITY);
  });

  test("has a mean", () => {
    expect(new HoldCurve([10, 20, 60], []).meanMs).toBeCloseTo(30, 6);
  });
});
