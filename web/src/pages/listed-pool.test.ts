import { expect, test } from "vitest";
import type { Pool, Resource, WaitingRequest } from "../../../src/api/schemas.ts";
import { listedPool } from "./listed-pool.ts";

const nowMs = 100_000;
const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
const plain = { name: "aws", total: 9, held: 9, free: 0, waiting: 9, states: { busy: 9 } };
const pool = { ...plain, oldestWaitSeconds: 9 } as unknown as Pool;
const queue = [40, 70].map((seconds) => ({ queuedAt: at(seconds) }) as WaitingRequest);
const resource = (state: string, isLent = false, more: object = {}) =>
  ({ state, lease: isLent ? {} : null, ...more }) as Resource;

test("listedPool() has the counts of the lists", () => {
  const resources = [
    ...[resource("busy", true), resource("busy", true), resource("free"), resource("drained")],
    ...[resource("cleaning", true), resource("creating", true, { cluster: true })],
    // In a pool that makes nothing this is a word of Boskos's users.
    resource("creating", true),
  ];
  const listed = listedPool(pool, { queue, resources }, nowMs);
  expect(listed).toMatchObject({ total: 7, held: 3, free: 1, waiting: 2, oldestWaitSeconds: 60 });
  expect(listed.states).toEqual({ busy: 2, free: 1, drained: 1, cleaning: 1, creating: 2 });
});

test("listedPool() keeps what no list has yet", () => {
  expect(listedPool(pool, { queue: undefined, resources: undefined }, nowMs)).toEqual(pool);
  const empty = listedPool(pool, { queue: [], resources: undefined }, nowMs);
  expect(empty).toMatchObject({ held: 9, waiting: 0, oldestWaitSeconds: null });
});

test("listedPool() adds up the amounts of a shared pool", () => {
  const shared = { ...pool, usage: [{ dimension: "vcpus", used: 0, capacity: 1 }] };
  const usage = [{ dimension: "vcpus", used: 3, capacity: 8 }];
  const resources = [resource("free", false, { usage }), resource("free", false, { usage })];
  const listed = listedPool(shared, { queue, resources }, nowMs);
  expect(listed.usage).toEqual([{ dimension: "vcpus", used: 6, capacity: 16 }]);
  expect(listed.held).toBe(9);
});

test("listedPool() has the queue of a limit in its limit", () => {
  const limit = { used: 3, limit: 4, waiting: 7, oldestWaitSeconds: 1 };
  const listed = listedPool({ ...pool, limit }, { queue, resources: [] }, nowMs);
  expect(listed.limit).toEqual({ used: 3, limit: 4, waiting: 2, oldestWaitSeconds: 60 });
});

test("listedPool() has the use of its limits from the list that has those who share them", () => {
  const limits = [{ pool: "account", used: 4, limit: 4 }];
  const limit = { used: 4, limit: 4, waiting: 0, oldestWaitSeconds: null };
  const listed = { ...pool, limit, flow: { ...pool.flow, limits } };
  const read = { ...pool, limit: { ...limit, used: 3 } };
  const lists = { queue: undefined, resources: undefined, pools: [listed] };
  expect(listedPool(read, lists, nowMs)).toMatchObject({ limit, flow: { limits } });
});
