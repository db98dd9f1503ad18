import { describe, expect, test } from "vitest";
import { keepSame } from "./keep-same.ts";

describe("keepSame()", () => {
  test("returns the old value if nothing has changed", () => {
    const before = { pools: [{ name: "aws", states: { free: 1 } }], next: null };
    expect(keepSame(before, structuredClone(before))).toBe(before);
  });

  test("keeps the parts that have not changed, and only those", () => {
    const before = [
      { name: "aws", free: 1 },
      { name: "gcp", free: 2 },
    ];
    const after = [
      { name: "aws", free: 0 },
      { name: "gcp", free: 2 },
    ];
    const merged = keepSame(before, after);
    expect(merged).toEqual(after);
    expect(merged[0]).not.toBe(before[0]);
    expect(merged[1]).toBe(before[1]);
  });

  test.each([
    ["a removed key", { a: 1, b: 2 }, { a: 1 }],
    ["a new key", { a: 1 }, { a: 1, b: 2 }],
    ["a key that was undefined", { a: 1, b: undefined }, { a: 1, c: undefined }],
    ["a shorter list", [1, 2], [1]],
    ["a list instead of an object", { 0: 1 }, [1]],
    ["null instead of an object", { a: {} }, { a: null }],
    ["another number", 1, 2],
  ])("notices %s", (_, before: unknown, after: unknown) => {
    expect(keepSame(before, after)).toEqual(after);
    expect(keepSame(before, after)).not.toBe(before);
  });
});
