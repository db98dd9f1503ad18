import { expect, test } from "vitest";
import { inTurns } from "./in-turns.ts";

test("inTurns() takes one of each owner after the other, and keeps the order of each", () => {
  const first = (item: string) => item[0];
  expect(inTurns(["a1", "a2", "a3", "b1", "c1", "c2"], first)).toEqual([
    ...["a1", "b1", "c1", "a2", "c2", "a3"],
  ]);
  expect(inTurns([], first)).toEqual([]);
});

test("inTurns() does not delay one object behind thousands of another namespace", () => {
  const crowd = Array.from({ length: 100_000 }, (_, at) => `crowd ${at}`);
  expect(inTurns([...crowd, "quiet 1"], (item) => item.split(" ")[0])[1]).toBe("quiet 1");
});
