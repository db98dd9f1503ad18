import { describe, expect, test } from "vitest";
import { freeze, thaw } from "../apply/snapshot.ts";
import { acquire, Lending, leave, pool, release } from "../decide/lending.suite.ts";
import { exclusiveClaim } from "../model/state.ts";

describe("a request for any of several pools", () => {
  test.each([
    ["the first, while that has one", [], "aws-1"],
    ["the next that has one", ["aws"], "gcp-1"],
    ["the last, if need be", ["aws", "gcp"], "ibm-1"],
  ])("takes %s", (_, taken, want) => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1), pool("ibm", 1));
    for (const name of taken) lending.do(acquire(name, name));
    lending.do(acquire("any", "aws|gcp|ibm"));
    expect(lending.held("any")).toEqual([want]);
  });

  test("is refused by the first where none could ever serve it", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 2));
    const refusal = { code: "never_fits", pool: "aws", asked: 3, size: 1 };
    const refused = { type: "refused", refusal };
    expect(lending.outcome(acquire("any", "aws|gcp:3"))).toMatchObject(refused);
  });

  test("leaves when a reload takes away all that could serve it, though that is still held", () => {
    const lending = new Lending(pool("aws", 2), pool("gcp", 2));
    lending.outcome(acquire("a", "aws:2"), acquire("g", "gcp:2"), acquire("any", "aws|gcp:2"));
    lending.configure(pool("aws", 2));
    expect(lending.end("any")).toBeUndefined();
    lending.configure(pool("aws", 1));
    expect(lending.end("any")).toBeDefined();
  });

  test("takes all that it needs from one of them", () => {
    const lending = new Lending(pool("aws", 2), pool("gcp", 3));
    lending.do(acquire("a", "aws"));
    lending.do(acquire("any", "aws|gcp:2"));
    expect(lending.held("any")).toEqual(["gcp-1", "gcp-2"]);
  });

  test("waits in all their queues, and is granted once, by the first that can", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("any", "aws|gcp"));
    expect([lending.line("aws"), lending.line("gcp")]).toEqual([["any"], ["any"]]);
    lending.do(release("g"));
    expect(lending.held("any")).toEqual(["gcp-1"]);
    expect([lending.line("aws"), lending.line("gcp")]).toEqual([[], []]);
    lending.do(release("a"));
    expect(exclusiveClaim(lending.resource("aws-1"))).toBeNull();
  });

  test("is overtaken in none of its queues", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("any", "aws|gcp"));
    lending.outcome(acquire("later", "gcp"), release("g"));
    expect(lending.held("any")).toEqual(["gcp-1"]);
    expect(lending.held("later")).toBeUndefined();
  });

  test("lets the requests behind it be granted once it is granted in another pool", () => {
    const lending = new Lending(pool("aws", 2), pool("gcp", 2));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp:2"), acquire("any", "aws|gcp:2"));
    lending.do(acquire("small", "aws"));
    expect(lending.held("small")).toBeUndefined();
    lending.do(release("g"));
    expect(lending.held("any")).toEqual(["gcp-1", "gcp-2"]);
    expect(lending.held("small")).toEqual(["aws-2"]);
  });

  test("leaves all its queues at once", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("any", "aws|gcp"));
    lending.do(leave("any"));
    expect([lending.line("aws"), lending.line("gcp")]).toEqual([[], []]);
  });

  test("can also need another pool, all at one time", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1), pool("slot", 1));
    lending.outcome(acquire("s", "slot"), acquire("a", "aws"), acquire("any", "aws|gcp slot"));
    expect(exclusiveClaim(lending.resource("gcp-1"))).toBeNull();
    lending.do(release("s"));
    expect(lending.held("any")).toEqual(["gcp-1", "slot-1"]);
  });

  test("is refused for a name that no pool has, however many others there are", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    expect(lending.outcome(acquire("any", "aws|gpc"))).toMatchObject({
      type: "refused",
      refusal: { code: "pool_not_found", pool: "gpc", nearest: "gcp" },
    });
  });

  test("is refused only when none of them could ever do", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 2));
    lending.do(acquire("g", "gcp"));
    expect(lending.outcome(acquire("two", "aws|gcp:2"))).toMatchObject({ type: "waiting" });
    expect(lending.outcome(acquire("three", "aws|gcp:3"))).toMatchObject({ type: "refused" });
  });

  test("waits on while one of its pools is left in the file", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("any", "aws|gcp"));
    lending.configure(pool("aws", 1));
    lending.do(release("g"));
    expect(lending.line("aws")).toEqual(["any"]);
    lending.do(release("a"));
    expect(lending.held("any")).toEqual(["aws-1"]);
    expect([...lending.state.pools.keys()]).toEqual(["aws"]);
  });

  test("is the same request only if it names the same pools", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.do(acquire("x", "aws|gcp", { key: "k", holder: "job" }));
    const again = lending.outcome(acquire("y", "aws", { key: "k", holder: "job" }));
    expect(again).toMatchObject({ refusal: { code: "request_id_reused" } });
  });

  test("reports its best position, and survives a snapshot", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("b", "aws"));
    const told = lending.outcome(acquire("any", "aws|gcp"));
    expect(told).toMatchObject({ type: "waiting", request: { position: 1 } });
    const frozen = freeze(lending.state);
    expect(freeze(thaw(frozen))).toEqual(frozen);
  });
});

test("a request that needs several pools in one of its alternatives may be overtaken", () => {
  const lending = new Lending(pool("aws", 1), pool("gcp", 2));
  lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("x", "aws|gcp gcp"));
  lending.do(acquire("y", "gcp"));
  expect([lending.held("x"), lending.held("y")]).toEqual([undefined, ["gcp-2"]]);
});
