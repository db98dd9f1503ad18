import { describe, expect, test } from "vitest";
import type { Command } from "../model/command.ts";
import type { PoolPolicy } from "../model/policy.ts";
import { acquire, change, Lending, pool, release, revoke } from "./lending.suite.ts";

const tick: Command = { type: "tick" };

/** Grants one resource, ends the lease with `end` at 1,000, and returns the core. */
function afterEnd(policy: Partial<PoolPolicy>, end: Command): Lending {
  const lending = new Lending(pool("aws", 1, { ttlMs: 1_000, ...policy }));
  lending.do(acquire("a", "aws"));
  lending.now = 1_000 as typeof lending.now;
  lending.do(end);
  return lending;
}

const states = { onRelease: "dirty", onExpire: "broken" };
const rests = { cooldownMs: 100, lockDelayMs: 5_000 };

describe("a resource that comes back", () => {
  test.each([
    ["released", release("a"), states, "dirty"],
    ["released with a state", release("a", { state: "tombstone" }), states, "tombstone"],
    ["expired", tick, states, "broken"],
    ["at the end of its lifetime", tick, { ...states, ttlMs: 9e9, lifetimeMs: 1_000 }, "broken"],
    ["revoked", revoke("a"), states, "broken"],
    ["after its hold", tick, { ...states, ttlMs: 9e9, holdMs: 1_000 }, "dirty"],
  ])("%s goes to the state that the pool names for it", (_, end, policy, want) => {
    const lending = afterEnd(policy, end);
    expect(lending.resource("aws-1")).toMatchObject({ state: want, claim: null });
  });

  test.each([
    ["released", release("a"), rests, 1_100],
    ["released with a state", release("a", { state: "free" }), rests, 1_100],
    ["after its hold", tick, { ...rests, ttlMs: 9e9, holdMs: 1_000 }, 1_100],
    ["expired", tick, rests, 6_000],
    ["at the end of its lifetime", tick, { ...rests, ttlMs: 9e9, lifetimeMs: 1_000 }, 6_000],
    ["revoked", revoke("a"), rests, 6_000],
    ["expired, where the cooldown is longer", tick, { cooldownMs: 9_000, lockDelayMs: 1 }, 10_000],
  ])("%s rests for as long as it must", (_, end, policy, until) => {
    const lending = afterEnd(policy, end);
    expect(lending.resource("aws-1").state).toBe("cooling");
    expect(lending.tickAt(until - 1).events).toEqual([]);
    expect(lending.tickAt(until).events).toEqual([
      { type: "resource-rested", resource: "aws-1", state: "free" },
    ]);
  });

  test.each([
    ["released, without a cooldown", release("a"), { lockDelayMs: 5_000 }],
    ["expired, without any delay", tick, { lockDelayMs: 0 }],
  ])("%s is there at once", (_, end, policy) => {
    expect(afterEnd(policy, end).resource("aws-1").state).toBe("free");
  });

  test("rests before it goes to its state, and is lent only from there", () => {
    const lending = afterEnd({ ...states, ...rests }, tick);
    lending.do(acquire("b", "aws", { ttlMs: 9e9 }));
    expect(lending.tickAt(6_000).events).toEqual([
      { type: "resource-rested", resource: "aws-1", state: "broken" },
    ]);
    lending.do(change("aws-1", { state: "free" }));
    expect(lending.held("b")).toEqual(["aws-1"]);
  });

  test("is lent to a waiting request as soon as its cooldown ends", () => {
    const lending = afterEnd(rests, tick);
    lending.do(acquire("b", "aws", { ttlMs: 9e9 }));
    expect(lending.held("b")).toBeUndefined();
    lending.tickAt(6_000);
    expect(lending.held("b")).toEqual(["aws-1"]);
  });

  test("goes by the policy in force when it comes back", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("a", "aws"));
    lending.configure(pool("aws", 1, { onRelease: "dirty" }));
    lending.do(release("a"));
    expect(lending.resource("aws-1").state).toBe("dirty");
  });

  test("stays drained, and is shown so", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), change("aws-1", { drained: true }));
    expect(lending.resource("aws-1").state).toBe("busy");
    lending.outcome(release("a"), acquire("b", "aws"));
    expect(lending.resource("aws-1")).toMatchObject({ state: "free", drained: true, claim: null });
    expect(lending.held("b")).toBeUndefined();
  });
});
