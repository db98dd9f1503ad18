import { expect, test } from "vitest";
import { shownRows } from "./shown-rows.ts";

test.each([
  ["a short list", 5, 3, 5],
  ["one row too many", 5, 6, 6],
  ["two rows too many", 5, 7, 5],
])("shownRows() of %s", (_, limit, of, want) => {
  expect(shownRows(limit, of)).toBe(want);
});
