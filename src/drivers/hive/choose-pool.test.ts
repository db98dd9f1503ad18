import { expect, test } from "vitest";
import { betterPool, choosePool } from "./choose-pool.ts";
import type { ClusterClaim, ClusterPool } from "./objects.ts";

const pool = (name: string, ready: number, more: Partial<ClusterPool> = {}): ClusterPool => ({
  metadata: { name },
  spec: { size: 1 },
  status: { ready },
  ...more,
});
const claim = (name: string, clusterPoolName: string, namespace?: string): ClusterClaim => ({
  metadata: { name, creationTimestamp: `2026-01-0${name.length}T00:00:00Z` },
  spec: { clusterPoolName, ...(namespace !== undefined && { namespace }) },
});
const nameOf = (found: ClusterPool | undefined) => found?.metadata.name;

const full = { conditions: [{ type: "CapacityAvailable", status: "False" }] };

test.each([
  ["the one with more that runs", [pool("a", 1), pool("b", 2)], [], "b"],
  ["another if claims wait for what runs", [pool("a", 1), pool("b", 2)], ["b", "b"], "a"],
  [
    "one that sleeps before one with nothing",
    [pool("a", 0), pool("b", 0, { status: { ready: 0, standby: 1 } })],
    [],
    "b",
  ],
  ["one that can grow", [pool("a", 0, { status: { ready: 0, ...full } }), pool("b", 0)], [], "b"],
  [
    "none that is parked, if there is another",
    [pool("a", 0, { spec: { size: 1, maxSize: 0 } }), pool("b", 0)],
    [],
    "b",
  ],
  [
    "none that is being deleted",
    [pool("a", 9, { metadata: { name: "a", deletionTimestamp: "x" } }), pool("b", 0)],
    [],
    "b",
  ],
  ["none, if there is none", [], [], undefined],
])("choosePool() takes %s", (_, pools, waiting, want) => {
  const claims = waiting.map((name, index) => claim(`w${index}`, name));
  expect(nameOf(choosePool(pools, claims, "i1"))).toBe(want);
});

test("choosePool() spreads equal claims over equal pools, and decides the same again", () => {
  const pools = ["a", "b", "c"].map((name) => pool(name, 0));
  const chosen = Array.from({ length: 60 }, (_, i) => nameOf(choosePool(pools, [], `i${i}`)));
  const counts = ["a", "b", "c"].map((name) => chosen.filter((each) => each === name).length);
  expect(Math.min(...counts)).toBeGreaterThan(8);
  expect(nameOf(choosePool(pools.toReversed(), [], "i7"))).toBe(chosen[7]);
});

test.each([
  ["moves to what runs", [pool("own", 0), pool("b", 1)], [], "b"],
  ["stays if its own pool has one for it", [pool("own", 1), pool("b", 5)], [], undefined],
  ["moves if older claims get what its own pool has", [pool("own", 1), pool("b", 1)], ["own"], "b"],
  [
    "stays if others wait for what runs elsewhere",
    [pool("own", 0), pool("b", 1)],
    ["b"],
    undefined,
  ],
  ["stays if nothing runs anywhere", [pool("own", 0), pool("b", 0)], [], undefined],
])("betterPool() %s", (_, pools, older, want) => {
  const mine = claim("mine", "own");
  const claims = [...older.map((name, index) => claim(`w${index}`, name)), mine];
  expect(nameOf(betterPool(mine, pools, claims, "i1"))).toBe(want);
});
