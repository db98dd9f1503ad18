import { expect, test } from "vitest";
import { inOrderOf } from "./steady-order.ts";

test("inOrderOf() keeps the places of what was there, and puts what is new last", () => {
  const now = ["d", "c", "a", "e"];
  expect(inOrderOf(["a", "b", "c"], now, (name) => name)).toEqual(["a", "c", "d", "e"]);
  expect(inOrderOf([], now, (name) => name)).toEqual(now);
});
