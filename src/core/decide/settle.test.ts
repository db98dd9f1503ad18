/**
 * After every decision, no request waits that could be granted, whichever event freed its
 * resources.
 */
import { describe, expect, test } from "vitest";
import type { Command } from "../model/command.ts";
import type { PoolName, RequestId, ResourceName } from "../model/ids.ts";
import { capacityPool, want } from "../shared/capacity.suite.ts";
import { acquire, change, Lending, leave, pool, release, runTo } from "./lending.suite.ts";

const parent = "account" as PoolName;
const account = (limit: number) => pool("account", [], { limit });
const gang = (name: string) => ({ group: { name, size: 2 } });

function ofState(id: string, name: string, state: string, count = 1): Command {
  const items = [{ pool: name as PoolName, count, state }];
  return { type: "acquire", id: id as RequestId, ask: { holder: id, items }, waitMs: 0 };
}

function take(...resources: readonly string[]): Command {
  return {
    ...{ type: "take", holder: "prow", state: "free", into: "busy" },
    resources: resources as ResourceName[],
    ids: resources.map((name) => `take-${name}` as RequestId),
  };
}

describe("a waiting request is granted", () => {
  test("when a request leaves whose gang was ahead in another pool", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 2, { patienceMs: 0 }));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"));
    lending.outcome(acquire("m", "aws", gang("x")), acquire("leader", "gcp:2", gang("x")));
    lending.do(acquire("o", "gcp"));
    expect(lending.held("o")).toBeUndefined();
    lending.do(leave("m"));
    expect(lending.held("o")).toEqual(["gcp-2"]);
  });

  test("when a resource moves away and leaves room for a new one", () => {
    const dynamic = { min: 0, max: 1, state: "free", lifespanMs: null };
    const lending = new Lending(pool("dt", ["m"], { dynamic }), pool("other", 1));
    lending.outcome(change("m", { drained: true }), acquire("a", "dt"));
    expect(lending.held("a")).toBeUndefined();
    lending.configure(pool("dt", [], { dynamic }), pool("other", ["other-1", "m"]));
    expect(lending.held("a")).toEqual(["dt-1"]);
  });

  test("when a resource is removed that a request ahead could have used, within a limit", () => {
    const set = (size: number) => pool("set", size, { parent });
    const lending = new Lending(account(2), pool("aws", 2, { parent }), set(3));
    lending.outcome(change("set-2", { state: "dirty" }), change("set-3", { state: "dirty" }));
    lending.outcome(acquire("a", "aws"), ofState("big", "set", "dirty", 2), acquire("b", "aws"));
    expect(lending.held("b")).toBeUndefined();
    lending.configure(account(2), pool("aws", 2, { parent }), set(2));
    expect(lending.held("b")).toEqual(["aws-2"]);
  });

  test("when a resource is taken that a request ahead could have used, within a limit", () => {
    const lending = new Lending(
      ...[account(3), pool("aws", 3, { parent }), pool("set", 3, { parent })],
    );
    lending.outcome(acquire("a", "aws"), acquire("big", "set:3"), acquire("b", "aws"));
    expect(lending.held("b")).toBeUndefined();
    lending.do(take("set-1"));
    expect(lending.held("b")).toEqual(["aws-2"]);
  });

  test("the longest waiting one first, in any state, when the pace opens", () => {
    const pace = { everyMs: 1_000, burst: 1, jitter: 0 };
    const lending = new Lending(pool("aws", 3, { pace }));
    lending.outcome(change("aws-3", { state: "dirty" }), acquire("a", "aws"));
    lending.outcome(ofState("x", "aws", "dirty"), acquire("y", "aws"));
    lending.tickAt(1_000);
    expect([lending.held("x"), lending.held("y")]).toEqual([["aws-3"], undefined]);
  });

  test.each<[string, (lending: Lending) => void]>([
    ["an operator has freed one", (lending) => lending.do(change("aws-1", { state: "free" }))],
    ["one was undrained", (lending) => lending.do(change("aws-2", { drained: false }))],
    ["one was added", (lending) => lending.configure(pool("aws", 3), pool("gcp", 1))],
    [
      "one has moved here",
      (lending) => lending.configure(pool("aws", ["aws-1", "aws-2", "gcp-1"])),
    ],
  ])("when %s", (_, act) => {
    const lending = new Lending(pool("aws", 2), pool("gcp", 1));
    lending.outcome(change("aws-1", { state: "dirty" }), change("aws-2", { drained: true }));
    lending.do(acquire("a", "aws"));
    expect(lending.held("a")).toBeUndefined();
    act(lending);
    expect(lending.held("a")).toHaveLength(1);
  });
});

describe("a waiting request of a shared pool is granted", () => {
  const room = (cpus: number, zone: string) => ({ capacity: { cpus }, labels: { zone } });
  const file = (members: Record<string, ReturnType<typeof room>>) => {
    return capacityPool(members, { ttlMs: 9e9, patienceMs: 9e9 });
  };
  const cpus = (amount: number) => ({ amount: { cpus: amount } });
  const inZone = (amount: number, zone: string) => ({ ...cpus(amount), selector: { zone } });
  const [r, s] = [room(10, "a"), room(10, "b")];

  test("when its resource is listed again", () => {
    const lending = new Lending(file({ s, r }));
    lending.outcome(want("h", inZone(5, "a")), want("full", inZone(10, "b")));
    lending.configure(file({ s }));
    lending.do(want("x", cpus(4)));
    expect(lending.held("x")).toBeUndefined();
    const { events } = lending.configure(file({ s, r }));
    expect(events[0]).toEqual({ type: "resource-kept", resource: "r" });
    expect(lending.held("x")).toEqual(["r"]);
  });

  test.each([
    ["is larger", { r, s: room(14, "b") }],
    ["has the label that it wants", { r: room(10, "b"), s }],
  ])("when a resource %s in the file", (_, members) => {
    const lending = new Lending(file({ r, s }));
    lending.outcome(want("full", inZone(10, "b")), want("x", inZone(4, "b")));
    expect(lending.held("x")).toBeUndefined();
    lending.configure(file(members));
    expect(lending.held("x")).toHaveLength(1);
  });
});

test("of equal resources the first in the file is lent, also after the file has another order", () => {
  const file = (...names: readonly string[]) => {
    return capacityPool(Object.fromEntries(names.map((name) => [name, { capacity: { cpus: 9 } }])));
  };
  const lending = new Lending(file("r", "s"));
  lending.configure(file("s", "r"));
  lending.do(want("x", { amount: { cpus: 1 } }));
  expect(lending.held("x")).toEqual(["s"]);
});

test("a resource that is no longer listed counts as dynamic at once", () => {
  const dynamic = { min: 1, max: 1, state: "free", lifespanMs: null };
  const lending = new Lending(pool("dt", [], { dynamic }));
  lending.configure(pool("dt", ["m"], { dynamic }));
  expect([...lending.state.resources.keys()]).toEqual(["dt-1", "m"]);
  lending.configure(pool("dt", [], { dynamic }));
  const states = [...lending.state.resources.values()].map(({ state }) => state);
  expect(states.sort()).toEqual(["free", "toBeDeleted"]);
});

test("a pool that is no longer dynamic keeps none that was to be deleted", () => {
  const dynamic = { min: 3, max: 3, state: "free", lifespanMs: null };
  const lending = new Lending(pool("dt", [], { dynamic }));
  lending.configure(pool("dt", [], { dynamic: { ...dynamic, min: 0, max: 1 } }));
  const states = () => [...lending.state.resources.values()].map(({ state }) => state).sort();
  expect(states()).toEqual(["free", "toBeDeleted", "toBeDeleted"]);
  lending.configure(pool("dt", ["dt-1"]));
  runTo(lending, 60_000);
  expect([...lending.state.resources.keys()]).toEqual(["dt-1"]);
});

test("a request that lost its credits no longer keeps a limit from others", () => {
  const admission = { by: "the check" };
  const name = "set" as PoolName;
  const lending = new Lending(
    ...[account(3), pool("aws", 3, { parent }), pool("set", 3, { parent, admission })],
  );
  lending.do({ type: "admit", pool: name, grants: 3, forMs: 9_000 });
  lending.outcome(acquire("a", "aws"), acquire("big", "set:3"), acquire("b", "aws"));
  expect(lending.held("b")).toBeUndefined();
  lending.do({ type: "withhold", pool: name, why: "too little CPU remains" });
  expect(lending.held("b")).toEqual(["aws-2"]);
});

test("a pool that is no longer in the file is removed with its last resource", () => {
  const lending = new Lending(pool("aws", 1), pool("gcp", 1));
  lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("x", "aws|gcp"));
  lending.configure(pool("gcp", 1));
  expect(lending.state.pools.get("aws" as PoolName)).toMatchObject({ retired: true, waiting: 0 });
  lending.do(release("a"));
  expect([...lending.state.pools.keys()]).toEqual(["gcp"]);
  lending.do(release("g"));
  expect(lending.held("x")).toEqual(["gcp-1"]);
});

test.each([
  ["while it is still held", []],
  ["after it was removed", [release("a")]],
])("a pool that comes back %s serves those who name it among others", (_, between) => {
  const lending = new Lending(pool("aws", 1), pool("gcp", 1));
  lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("x", "aws|gcp"));
  lending.configure(pool("gcp", 1));
  for (const command of between) lending.do(command);
  lending.configure(pool("aws", 2), pool("gcp", 1));
  expect(lending.held("x")).toHaveLength(1);
});

test("a resource goes to the pool that lists it last, however often it was moved while held", () => {
  const pools = (...lists: readonly (readonly string[])[]) => {
    return lists.map((members, index) => pool(`p${index}`, members));
  };
  const lending = new Lending(...pools(["v"], ["b"], ["c"]));
  lending.do(acquire("a", "p0"));
  lending.configure(...pools([], ["b", "v"], ["c"]));
  lending.configure(...pools([], ["b"], ["c", "v"]));
  lending.do(release("a"));
  expect(lending.resource("v").pool.name).toBe("p2");
});
