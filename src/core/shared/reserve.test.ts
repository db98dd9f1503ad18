/** Which requests are evaluated again in a shared pool, and when reservations are made again. */
import { describe, expect, test } from "vitest";
import { checkState } from "../../../sim/invariants.ts";
import { acquire, change, Lending, leave, pool, release } from "../decide/lending.suite.ts";
import type { Item } from "../model/command.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import type { PoolPolicy, PoolSpec } from "../model/policy.ts";
import { capacityPool, type MemberText, want } from "./capacity.suite.ts";
import { reachMax } from "./place.ts";

const size = (cpus: number, more: MemberText = {}) => ({ capacity: { cpus }, ...more });
const cpus = (amount: number, more: Partial<Item> = {}) => ({ amount: { cpus: amount }, ...more });
const on = (room: string) => ({ selector: { room } });
const roomOf = (cpuCount: number, room: string) => size(cpuCount, { labels: { room } });

function sharedPool(
  name: string,
  members: Readonly<Record<string, MemberText>>,
  policy: Partial<PoolPolicy> = {},
): PoolSpec {
  const patient = { patienceMs: 1_000, ttlMs: 9e9, lockDelayMs: 0 };
  return { ...capacityPool(members, { ...patient, ...policy }), name: name as PoolName };
}

function reserved(lending: Lending, id: string): readonly string[] | undefined {
  const request = lending.state.requests.get(id as RequestId);
  return request?.reservations?.map(({ resource }) => resource);
}

const one = (members: Readonly<Record<string, MemberText>>, policy: Partial<PoolPolicy> = {}) =>
  new Lending(sharedPool("vsphere", members, policy));

describe("a request that did not fit is evaluated again", () => {
  test("when the gate of one of its pools opens, although another was only full", () => {
    const pace = { everyMs: 1_000, burst: 1, jitter: 0 };
    const lending = new Lending(
      sharedPool("a", { a1: size(10) }, { pace }),
      sharedPool("b", { b1: size(10) }),
    );
    const [a, b] = ["a" as PoolName, "b" as PoolName];
    lending.outcome(want("first", cpus(1, { pool: a })), want("w", cpus(9, { pool: b })));
    lending.outcome(want("v", cpus(1, { pool: b })), want("x", cpus(5, { pool: a, anyOf: [b] })));
    lending.do(release("v"));
    expect(lending.held("x")).toBeUndefined();
    lending.tickAt(1_000);
    expect(lending.held("x")).toEqual(["a1"]);
  });

  test("when it has come within reach", () => {
    const lending = one({ r: size(10) }, { patienceMs: 9e9 });
    lending.do(want("holder", cpus(5)));
    for (let place = 0; place < reachMax; place++) lending.do(want(`big-${place}`, cpus(9)));
    lending.do(want("small", cpus(1)));
    expect(lending.held("small")).toBeUndefined();
    lending.do(leave("big-7"));
    expect(lending.held("small")).toEqual(["r"]);
  });

  test("when a resource gets the label that it wants", () => {
    const lending = one({ r: roomOf(10, "r"), s: size(10) });
    lending.outcome(want("holder", cpus(9, on("r"))), want("x", cpus(5, on("r"))));
    expect(lending.held("x")).toBeUndefined();
    lending.do(change("s", { labels: { room: "r" } }));
    expect(lending.held("x")).toEqual(["s"]);
  });

  test("when a part is no longer reserved for another, wherever that part is", () => {
    const parts = { nets: ["n"] };
    const lending = one({
      r: size(10, { labels: { room: "r" }, parts }),
      s: size(10, { labels: { room: "s" }, parts }),
    });
    const net = (room: string, amount: number) => ({
      ...{ amount: { cpus: amount, nets: 1 } },
      ...on(room),
    });
    lending.outcome(want("holder", cpus(5, on("r"))), want("big", net("r", 9)));
    lending.tickAt(1_000);
    expect(reserved(lending, "big")).toEqual(["r"]);
    lending.do(want("x", net("s", 1)));
    expect(lending.held("x")).toBeUndefined();
    lending.do(leave("big"));
    expect(lending.held("x")).toEqual(["s"]);
  });

  test("when another is lent other room than was reserved for it", () => {
    const lending = new Lending(
      pool("aws", 1),
      sharedPool("vsphere", { r: roomOf(10, "r"), s: roomOf(10, "s") }),
    );
    lending.outcome(want("r5", cpus(5, on("r"))), want("s9", cpus(9, on("s"))));
    lending.do(acquire("a", "aws", { ttlMs: 9e9 }));
    const both = [{ pool: "aws" as PoolName }, cpus(8)];
    lending.do(want("big", both));
    lending.tickAt(1_000);
    expect(reserved(lending, "big")).toEqual(["r"]);
    lending.outcome(want("x", cpus(3, on("r"))), release("s9"));
    expect(lending.held("x")).toBeUndefined();
    lending.do(release("a"));
    expect(lending.held("big")).toEqual(["aws-1", "s"]);
    expect(lending.held("x")).toEqual(["r"]);
  });
});

describe("an impatient request gets a reservation", () => {
  /** `first` has a reservation on the resource that `second` needs. */
  function twoImpatient(): Lending {
    const lending = one({ r: roomOf(10, "r"), s: roomOf(10, "s") });
    lending.outcome(want("r5", cpus(5, on("r"))), want("s8", cpus(8, on("s"))));
    lending.do(change("s", { drained: true }));
    lending.outcome(want("first", cpus(9)), want("second", cpus(9)));
    lending.tickAt(1_000);
    lending.do(change("r", { note: "has been looked at" })); // Caches that none is possible.
    expect([reserved(lending, "first"), reserved(lending, "second")]).toEqual([["r"], []]);
    expect(lending.shared("r").pool.cache.triedReservations).toBe(true);
    return lending;
  }

  test("once another resource is usable", () => {
    const lending = twoImpatient();
    lending.do(change("s", { drained: false }));
    expect(reserved(lending, "second")).toEqual(["s"]);
  });

  test("once the one ahead has left", () => {
    const lending = twoImpatient();
    lending.do(leave("first"));
    expect(reserved(lending, "second")).toEqual(["r"]);
  });

  test("and no longer counts among those without, so that nothing is reserved twice", () => {
    const lending = twoImpatient();
    lending.do(change("s", { drained: false }));
    expect(lending.state.pools.get("vsphere" as PoolName)?.impatient.size).toBe(0);
    checkState(lending.state, lending.now);
  });
});

describe("a reservation", () => {
  test("is for all needs of a request or for none, and for the first in the queue", () => {
    const [vsphere, q] = ["vsphere" as PoolName, "q" as PoolName];
    const lending = new Lending(
      sharedPool("vsphere", { r: size(10) }),
      sharedPool("q", { q1: size(10) }, { patienceMs: 5_000 }),
    );
    lending.outcome(want("h", cpus(5)), want("first", cpus(9)));
    lending.do(want("x", [cpus(9, { pool: vsphere }), cpus(1, { pool: q })]));
    lending.do(want("y", cpus(9)));
    for (const now of [1_000, 5_000]) lending.tickAt(now);
    const all = () => ["first", "x", "y"].map((id) => reserved(lending, id));
    expect(all()).toEqual([["r"], [], []]);
    lending.do(leave("first"));
    expect(all()).toEqual([undefined, ["r", "q1"], []]);
  });

  test.each([
    ["the pool's strategy", {}],
    ["the request's", { strategy: "pack" as const }],
  ])("is where the least must still come free, whatever %s says", (_, more) => {
    const placement = { strategy: "least-used" as const, choices: ["pack" as const] };
    const lending = one({ r: roomOf(10, "r"), s: roomOf(10, "s") }, { placement });
    lending.outcome(want("r9", cpus(9, on("r"))), want("s5", cpus(5, on("s"))));
    lending.do(want("big", cpus(8, more)));
    lending.tickAt(1_000);
    expect(reserved(lending, "big")).toEqual(["s"]);
  });

  test("takes a part that another has now", () => {
    const lending = one({ r: size(10, { parts: { nets: ["n"] } }) });
    const net = { amount: { cpus: 1, nets: 1 } };
    lending.outcome(want("h", net), want("x", net));
    lending.tickAt(1_000);
    expect(lending.state.requests.get("x" as RequestId)?.reservations).toMatchObject([
      { resource: "r", parts: { nets: ["n"] } },
    ]);
  });

  test("counts later claims once, with any number of other reservations", () => {
    const lending = one({ r: size(20) });
    lending.outcome(want("h", cpus(13)), want("a", cpus(8)), want("b", cpus(8)));
    lending.tickAt(1_000);
    lending.outcome(want("n1", cpus(2)), want("n2", cpus(2)), want("n3", cpus(1)));
    expect(["n1", "n2", "n3"].map((id) => lending.held(id))).toEqual([["r"], ["r"], undefined]);
  });
});

describe("the patience of a request", () => {
  test("means nothing once it has gone", () => {
    const lending = one({ r: size(10) });
    lending.outcome(want("a", cpus(9)), want("b", cpus(9)), want("c", cpus(8)), leave("b"));
    lending.do(release("a"));
    expect(lending.held("c")).toEqual(["r"]);
    expect(lending.tickAt(1_000).events).toEqual([]);
  });

  test("is the longest of those of its pools", () => {
    const [a, b] = ["a" as PoolName, "b" as PoolName];
    const lending = new Lending(
      sharedPool("a", { a1: size(10) }, { patienceMs: 5_000 }),
      sharedPool("b", { b1: size(10) }, { patienceMs: 1_000 }),
    );
    lending.outcome(want("h", cpus(9, { pool: a })));
    lending.do(want("x", [cpus(5, { pool: a }), cpus(5, { pool: b })]));
    lending.tickAt(4_999);
    expect(reserved(lending, "x")).toBeUndefined();
    lending.tickAt(5_000);
    expect(reserved(lending, "x")).toEqual(["a1", "b1"]);
  });
});

test("a lease from before a reservation may end without loss to it", () => {
  const lending = one({ r: size(10) });
  lending.outcome(want("h0", cpus(3)), want("h1", cpus(5)), want("big", cpus(9)));
  lending.tickAt(1_000);
  lending.outcome(release("h1"), want("n1", cpus(1)), want("n2", cpus(1)));
  expect([lending.held("n1"), lending.held("n2")]).toEqual([["r"], undefined]);
  lending.do(release("h0"));
  expect(lending.held("big")).toEqual(["r"]);
});

test("no resource is marked as freed while no request waits", () => {
  const lending = one({ r: size(10) });
  lending.outcome(want("a", cpus(5)), release("a"));
  expect(lending.state.pools.get("vsphere" as PoolName)?.cache.freed.size).toBe(0);
});
