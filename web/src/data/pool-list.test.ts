import { expect, test } from "vitest";
import { poolAnswer } from "../../../src/api/pool-answer.suite.ts";
import type { PoolChanges } from "../../../src/api/pool-changes-schema.ts";
import { withChanges } from "./pool-list.ts";

const at = "2026-01-01T00:00:00.000Z";
const atMs = Date.parse(at);
const changes = (cursor: string, pools: PoolChanges["pools"], whole = false): PoolChanges => {
  return { cursor, whole, pools };
};
const both = changes(
  "1",
  [
    { name: "aws", free: 1, waiting: 1, oldestQueuedAt: at, policy: poolAnswer().policy },
    { name: "gcp", free: 2, waiting: 0, oldestQueuedAt: null },
  ],
  true,
);

test("withChanges() merges changed fields, and keeps the objects of other pools", () => {
  const before = withChanges(undefined, both, atMs);
  const after = withChanges(before, changes("2", [{ name: "aws", free: 0 }]), atMs);
  expect(after).toMatchObject({ cursor: "2", pools: [{ free: 0, waiting: 1 }, { free: 2 }] });
  expect(after.pools[1]).toBe(before.pools[1]);
});

test("withChanges() adds new pools, and drops the pools that a whole list does not have", () => {
  const before = withChanges(undefined, both, atMs);
  const added = changes("2", [{ name: "new", free: 1, oldestQueuedAt: null }]);
  const names = ({ pools }: ReturnType<typeof withChanges>) => pools.map(({ name }) => name);
  expect(names(withChanges(before, added, atMs))).toEqual(["aws", "gcp", "new"]);
  expect(names(withChanges(before, { ...added, whole: true }, atMs))).toEqual(["new"]);
});

test("withChanges() lets waits grow without a change", () => {
  const before = withChanges(undefined, both, atMs + 1_500);
  expect(before.pools.map(({ oldestWaitSeconds }) => oldestWaitSeconds)).toEqual([1, null]);
  const after = withChanges(before, changes("1", []), atMs + 9_999);
  expect(after.pools.map(({ oldestWaitSeconds }) => oldestWaitSeconds)).toEqual([9, null]);
});

test("withChanges() shows the oldest wait below a limit as that of the limit, by the same clock", () => {
  const limit = { used: 2, limit: 2, waiting: 2, oldestWaitSeconds: 3 };
  const below = (name: string, parent: string, oldestQueuedAt: string | null = null) => {
    return { ...poolAnswer({ name, policy: { parent } }), oldestQueuedAt };
  };
  const pools = [
    { ...poolAnswer({ name: "cloud", limit }), oldestQueuedAt: null },
    { ...below("region", "cloud"), limit },
    below("east", "region", "2026-01-01T00:00:02.000Z"),
    below("west", "region", at),
  ];
  const { pools: shown } = withChanges(undefined, changes("1", pools, true), atMs + 9_500);
  expect(shown).toMatchObject([
    { oldestQueuedAt: at, limit: { oldestWaitSeconds: 9 } },
    { oldestQueuedAt: at, limit: { oldestWaitSeconds: 9 } },
    { oldestWaitSeconds: 7 },
    { oldestWaitSeconds: 9 },
  ]);
});
