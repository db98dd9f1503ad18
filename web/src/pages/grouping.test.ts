import { expect, test } from "vitest";
import { firstRows, groupedBy, isWanted } from "./grouping.ts";

test("groupedBy() keeps the order of rows, and orders groups by name", () => {
  const groups = groupedBy(["b1", "a1", "b2", ""], (row) => row.slice(0, 1));
  expect(groups).toEqual([
    { name: "a", rows: ["a1"] },
    { name: "b", rows: ["b1", "b2"] },
    { name: "none", rows: [""] },
  ]);
  expect(firstRows(groups, 2)).toEqual([groups[0], { name: "b", rows: ["b1"] }]);
});

test.each([
  ["", "", true],
  ["E2E", "", true],
  ["branch=ma", "", true],
  ["aws", "", true],
  ["pay", "", true],
  ["gcp", "", false],
  ["", "payments", true],
  ["", "web", false],
])("isWanted() with the text %j and the space %j: %j", (text, space, want) => {
  const row = { holder: "e2e/1", labels: { branch: "main" }, space: "payments" };
  expect(isWanted(row, ["aws"], text, space)).toBe(want);
});
