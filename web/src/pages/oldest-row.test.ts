import { expect, test } from "vitest";
import { withOldestOf } from "./oldest-row.ts";

const row = (id: string, second: number) => ({ id, queuedAt: `2026-01-01T00:00:0${second}Z` });
const rows = [row("a", 5), row("b", 3), row("c", 9), row("d", 1), row("e", 2)];

test.each([
  [2, "abd", "d"],
  [3, "abcd", undefined],
  [4, "abcd", undefined],
  [5, "abcde", undefined],
])("withOldestOf() the first %d of a queue", (count, want, apart) => {
  const first = [{ name: "", rows: rows.slice(0, count), count: 5 }];
  const [group] = withOldestOf([{ name: "", rows }], first);
  expect(group?.rows.map(({ id }) => id).join("")).toBe(want);
  expect(group?.count).toBe(5);
  expect(group?.apart).toBe(apart);
});
