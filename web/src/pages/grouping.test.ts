import { expect, test } from "vitest";
import type { Lease } from "../../../src/api/schemas.ts";
import { firstRows, groupedBy, isWanted, leaseGroups, rowCount } from "./grouping.ts";

test("groupedBy() keeps the order of rows, and orders groups by name", () => {
  const groups = groupedBy(["b1", "a1", "b2", ""], (row) => row.slice(0, 1));
  expect(groups).toEqual([
    { name: "a", rows: ["a1"] },
    { name: "b", rows: ["b1", "b2"] },
    { name: "none", rows: [""] },
  ]);
  expect(firstRows(groups, 2)).toEqual([
    { name: "a", rows: ["a1"], count: 1 },
    { name: "b", rows: ["b1"], count: 2 },
  ]);
});

test("firstRows() shows something of each group, also if the first one is long", () => {
  const groups = [
    { name: "long", rows: Array.from({ length: 90 }, (_, index) => index) },
    { name: "short", rows: [1, 2] },
  ];
  const shown = firstRows(groups, 40);
  expect(shown.map(({ rows, count }) => [rows.length, count])).toEqual([
    [20, 90],
    [2, 2],
  ]);
  expect(rowCount(shown)).toBe(22);
  expect(firstRows(groups.slice(0, 1), 40).map(({ rows }) => rows.length)).toEqual([40]);
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

test("leaseGroups() are in the order of the leases, and those without claims come last", () => {
  const lease = (...pools: string[]) => {
    return { claims: pools.map((pool) => ({ pool }) as Lease["claims"][number]) };
  };
  const leases = [lease(), lease("gcp"), lease("aws", "gcp"), lease("aws"), lease("gcp")];
  const names = leaseGroups(leases, "").map(({ name, rows }) => [name, rows.length]);
  expect(names).toEqual([
    ["gcp", 2],
    ["aws + gcp", 1],
    ["aws", 1],
    ["all released, lease still open", 1],
  ]);
  expect(leaseGroups(leases, "none")).toEqual([{ name: "", rows: leases }]);
});

test("firstRows() shows all rows of the group that is open, in its place", () => {
  const group = (name: string, count: number) => ({ name, rows: Array(count).fill(name) });
  const groups = [group("a", 40), group("b", 40), group("c", 40)];
  const shown = (open?: string) => firstRows(groups, 30, open).map(({ rows }) => rows.length);
  expect([shown(), shown("b")]).toEqual([
    [10, 10, 10],
    [10, 40, 10],
  ]);
});
