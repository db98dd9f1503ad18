import { expect, test } from "vitest";
import { setBounded } from "./set-bounded.ts";

test("setBounded() removes the oldest entry, and counts a repeated one as new", () => {
  const map = new Map<string, number>();
  for (const [at, key] of ["a", "b", "a", "c", "d"].entries()) setBounded(map, key, at, 3);
  expect([...map]).toEqual([
    ["a", 2],
    ["c", 3],
    ["d", 4],
  ]);
});
