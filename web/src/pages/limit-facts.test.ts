import { expect, test } from "vitest";
import { poolAnswer } from "../../../src/api/pool-answer.suite.ts";
import type { Pool, WaitingRequest } from "../../../src/api/schemas.ts";
import { fullOf, notReachedWords, sharersOf, waitsOf } from "./limit-facts.ts";

const limit = { used: 3, limit: 5, waiting: 0, oldestWaitSeconds: null };
const pool = (name: string, parent: string | null, held: number, more: Partial<Pool> = {}) => {
  const answer = poolAnswer({ name, held, ...more });
  return { ...answer, policy: { ...answer.policy, parent } };
};

test("sharersOf() has all pools below a limit, at any level, with the largest first", () => {
  const pools = [
    pool("cloud", null, 0, { limit }),
    pool("region", "cloud", 0, { limit }),
    pool("east", "region", 1),
    pool("west", "region", 2),
    pool("other", null, 9),
  ];
  expect(sharersOf("cloud", pools)).toEqual([
    { name: "west", held: 2, total: 10, free: 4 },
    { name: "east", held: 1, total: 10, free: 4 },
  ]);
  expect(sharersOf("east", pools)).toEqual([]);
});

test("sharersOf() counts the pool itself if it has resources, and survives a circle", () => {
  const pools = [
    pool("own", null, 4),
    pool("below", "own", 1),
    pool("a", "b", 1),
    pool("b", "a", 1),
  ];
  expect(sharersOf("own", pools).map(({ name }) => name)).toEqual(["own", "below"]);
});

const waiting = (pool: string, queuedAt: string) =>
  ({ items: [{ pool }], queuedAt }) as WaitingRequest;

test("waitsOf() counts the pools of a limit in its queue, so that all figures are of one answer", () => {
  const own = pool("cloud", null, 0, { limit: { ...limit, waiting: 9 } });
  const west = { ...pool("west", "cloud", 1, { waiting: 7 }), oldestQueuedAt: "09:00" };
  const all = [{ ...own, oldestQueuedAt: "09:00" }, west];
  const queue = [waiting("west", "10:02"), waiting("east", "10:00"), waiting("west", "10:01")];
  expect(waitsOf(own, all, queue)("west")).toEqual({ waiting: 2, since: "10:01" });
  expect(waitsOf(own, all, [])("west")).toEqual({ waiting: 0, since: null });
  // Of a queue that is not seen whole, the pool says how many wait.
  expect(waitsOf(own, all, undefined)("west")).toEqual({ waiting: 7, since: "09:00" });
  expect(waitsOf(own, all, queue)("cloud")).toEqual({ waiting: 9, since: "09:00" });
});

test("fullOf() names the pools that hold requests back where the limit does not", () => {
  const below = { held: 1, total: 1 };
  const sharers = [
    { ...below, name: "west", free: 0 },
    { ...below, name: "east", free: 1 },
    { ...below, name: "idle", free: 0 },
    { name: "vms", held: 1, total: undefined, free: undefined },
  ];
  const waitsFor = (name: string) => ({ waiting: name === "idle" ? 0 : 3, since: null });
  expect(fullOf(sharers, waitsFor)).toEqual(["west"]);
  expect(notReachedWords(["west"])).toBe("not reached; west has none free");
  expect(notReachedWords(["west", "south"])).toBe("not reached; 2 pools have none free");
  expect(notReachedWords([])).toBe("not reached");
});
