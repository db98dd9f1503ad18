import { expect, test } from "vitest";
import { checkSnapshot, checkState } from "../../../sim/invariants.ts";
import { stateDifference } from "../../../sim/state-difference.ts";
import { decide } from "../decide/decide.ts";
import { acquire, change, Lending, leave, pool, release } from "../decide/lending.suite.ts";
import type { PoolName } from "../model/ids.ts";
import { freeze, thaw } from "./snapshot.ts";

/** One of everything that a state can hold. */
function richState(): Lending {
  const lending = new Lending(
    pool("aws", 4, { cooldownMs: 9_000, onRelease: "dirty", lifetimeMs: 99_000 }),
    pool("gcp", 3, { holdMs: 5_000 }),
    pool("vms", ["v"]),
  );
  const commands = [
    acquire("a", "aws:2 gcp", { key: "ka", labels: { job: "1" }, priority: 2 }),
    acquire("b", "aws", { key: "kb" }),
    acquire("v", "vms"),
    release("b"),
    acquire("w", "aws:3", { key: "kw", priority: -1 }),
    acquire("x", "gcp:3"),
    acquire("gone", "vms"),
    leave("gone"),
    release("a", { claim: "1" }),
    change("aws-4", { state: "quarantined", note: "broken", userData: { k: "v" } }),
    change("gcp-2", { drained: true, labels: { a: "1", b: "2" } }),
    change("gcp-2", { labels: { a: null } }),
  ];
  for (const command of commands) {
    // No two deadlines are equal: which of those comes first is nobody's business.
    lending.now = (lending.now + 1) as typeof lending.now;
    lending.do(command);
  }
  lending.configure(
    pool("aws", 4, { cooldownMs: 9_000, onRelease: "dirty" }),
    pool("gcp", [...["gcp-1", "gcp-2", "gcp-3"], "v"]),
  );
  return lending;
}

test("thaw() gives back what freeze() took, through JSON", () => {
  checkSnapshot(richState().state);
});

test("thaw() gives a state that goes on as the frozen one does", () => {
  const live = richState();
  const thawed = thaw(JSON.parse(JSON.stringify(freeze(live.state))));
  for (const state of [live.state, thawed]) decide(state, { type: "give-grace" }, live.now);
  checkState(thawed, live.now);
  const future = [
    acquire("n1", "aws", { key: "ka", holder: "job-a" }),
    acquire("again", "aws", { key: "kb", holder: "job-b" }),
    acquire("n2", "gcp"),
    release("v"),
    release("a"),
    acquire("n3", "gcp"),
    { type: "tick" } as const,
  ];
  for (const [index, command] of future.entries()) {
    const now = (live.now + index * 5_000) as typeof live.now;
    expect(decide(thawed, command, now)).toEqual(decide(live.state, command, now));
    expect(stateDifference(thawed, live.state)).toBeUndefined();
  }
  expect(thawed.leases.has("again" as never)).toBe(false);
});

test("thaw() remembers which resource has been idle the longest", () => {
  const lending = new Lending(pool("aws", 3));
  lending.outcome(acquire("a", "aws"), release("a"));
  const thawed = thaw(JSON.parse(JSON.stringify(freeze(lending.state))));
  const { outcome } = decide(thawed, acquire("b", "aws:3"), lending.now);
  expect(outcome).toMatchObject({
    lease: { claims: [{ resource: "aws-2" }, { resource: "aws-3" }, { resource: "aws-1" }] },
  });
});

test("thaw() still rests what rested", () => {
  const lending = new Lending(pool("aws", 1, { cooldownMs: 9_000, onRelease: "dirty" }));
  lending.outcome(acquire("a", "aws"), release("a"));
  const thawed = thaw(JSON.parse(JSON.stringify(freeze(lending.state))));
  expect(decide(thawed, { type: "tick" }, 9_000 as typeof lending.now).events).toEqual([
    { type: "resource-rested", resource: "aws-1", state: "dirty" },
  ]);
});

test("thaw() knows labels as they were listed from those that an operator set", () => {
  const lending = new Lending(pool("aws", 1));
  lending.do(change("aws-1", { labels: { by: "hand" } }));
  const thawed = thaw(JSON.parse(JSON.stringify(freeze(lending.state))));
  const same = { type: "configure", pools: [pool("aws", 1)] } as const;
  expect(decide(thawed, same, lending.now).events).toEqual([]);
  expect(thawed.resources.get(lending.resource("aws-1").name)?.labels).toEqual({ by: "hand" });
});

test("thaw() knows what draws on a pool that was gone for a while as the frozen state does", () => {
  const parent = "account" as PoolName;
  const account = pool("account", [], { limit: 1 });
  const lending = new Lending(account, pool("aws", 1, { parent }));
  lending.do(acquire("a", "aws"));
  lending.configure(pool("other", 1));
  lending.configure(account, pool("gcp", 1, { parent }));
  checkState(lending.state, lending.now);
  const thawed = thaw(JSON.parse(JSON.stringify(freeze(lending.state))));
  for (const state of [lending.state, thawed]) {
    // What is still held under the old name is one of the account's all the same.
    const { outcome } = decide(state, acquire("g", "gcp"), lending.now);
    expect(outcome).toMatchObject({
      type: "waiting",
      request: { reason: { code: "limit_reached" } },
    });
  }
});
