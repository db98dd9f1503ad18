/** Every decision ends with nobody waiting who could go, whichever event has made room. */
import { describe, expect, test } from "vitest";
import type { Command } from "../model/command.ts";
import type { PoolName, RequestId, ResourceName } from "../model/ids.ts";
import { acquire, change, Lending, leave, pool, release } from "./lending.suite.ts";

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

describe("somebody goes", () => {
  test("when one leaves whose gang stood before it in another pool", () => {
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

  test("when a resource is gone that one before it could have had, within a limit", () => {
    const set = (size: number) => pool("set", size, { parent });
    const lending = new Lending(account(2), pool("aws", 2, { parent }), set(3));
    lending.outcome(change("set-2", { state: "dirty" }), change("set-3", { state: "dirty" }));
    lending.outcome(acquire("a", "aws"), ofState("big", "set", "dirty", 2), acquire("b", "aws"));
    expect(lending.held("b")).toBeUndefined();
    lending.configure(account(2), pool("aws", 2, { parent }), set(2));
    expect(lending.held("b")).toEqual(["aws-2"]);
  });

  test("when a resource is taken that one before it could have had, within a limit", () => {
    const lending = new Lending(
      ...[account(3), pool("aws", 3, { parent }), pool("set", 3, { parent })],
    );
    lending.outcome(acquire("a", "aws"), acquire("big", "set:3"), acquire("b", "aws"));
    expect(lending.held("b")).toBeUndefined();
    lending.do(take("set-1"));
    expect(lending.held("b")).toEqual(["aws-2"]);
  });

  test("first who has waited longest, whatever state it asks for, when the pace opens", () => {
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

test("a pool that is gone from the file stays for who waits in it, and goes with them", () => {
  const lending = new Lending(pool("aws", 1), pool("gcp", 1));
  lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("x", "aws|gcp"));
  lending.configure(pool("gcp", 1));
  lending.do(release("a"));
  expect(lending.state.pools.get("aws" as PoolName)).toMatchObject({ retired: true, waiting: 1 });
  lending.do(release("g"));
  expect(lending.held("x")).toEqual(["gcp-1"]);
  expect([...lending.state.pools.keys()]).toEqual(["gcp"]);
});
