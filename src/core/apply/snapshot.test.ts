import { expect, test } from "vitest";
import { checkSnapshot, checkState } from "../../../sim/invariants.ts";
import { stateDifference } from "../../../sim/state-difference.ts";
import { decide, nextDueAt } from "../decide/decide.ts";
import {
  acquire,
  change,
  Lending,
  leave,
  operator,
  pool,
  release,
} from "../decide/lending.suite.ts";
import type { Command } from "../model/command.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { defaultAdaptive } from "../model/policy.ts";
import type { Instant } from "../model/time.ts";
import { capacityPool, want } from "../shared/capacity.suite.ts";
import { freeze, thaw } from "./snapshot.ts";

/** A state with one of each kind of object. */
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
    // No two deadlines are equal, because the order of equal ones is undefined.
    lending.now = (lending.now + 1) as typeof lending.now;
    lending.do(command);
  }
  lending.configure(
    pool("aws", 4, { cooldownMs: 9_000, onRelease: "dirty" }),
    pool("gcp", [...["gcp-1", "gcp-2", "gcp-3"], "v"]),
  );
  return lending;
}

test("thaw() restores the state that freeze() took, through JSON", () => {
  checkSnapshot(richState().state);
});

const aws = "aws" as PoolName;
const dynamic = (max: number) => ({ min: 0, max, state: "free", lifespanMs: null });
const cleaning = { retries: 3, backoffMs: 1_000 };
const clean = (state: string): Command => {
  const items = [{ pool: aws, count: 1, state, into: "cleaning" }];
  return { type: "acquire", id: "c" as RequestId, ask: { holder: "cleaner", items }, waitMs: 0 };
};
const room = (vcpus: number) => ({ amount: { vcpus } });
const pin: Command = { type: "pin", pool: aws, rate: 6, reason: operator };

function reservedState(): Lending {
  const policy = { patienceMs: 1_000, ttlMs: 9e9 };
  const lending = new Lending(capacityPool({ m: { capacity: { vcpus: 9 } } }, policy));
  lending.outcome(want("a", room(5)), want("big", room(7)));
  lending.tickAt(1_000);
  lending.do(want("b", room(2)));
  expect(lending.shared("m").reservations).toMatchObject([{ since: 1 }]);
  expect(lending.shared("m").reservations[0]?.taken.get("vcpus")).toBe(2);
  return lending;
}

/** Rare data that cannot be derived from the rest of the state. */
const rareStates: Record<string, () => Lending> = {
  "reservations of requests whose priorities change later": () => {
    const policy = { patienceMs: 1_000, ttlMs: 9e9 };
    const lending = new Lending(capacityPool({ m: { capacity: { vcpus: 9 } } }, policy));
    lending.outcome(want("a", room(9)), want("first", room(4)), want("second", room(5)));
    lending.tickAt(1_000);
    expect(lending.shared("m").reservations).toHaveLength(2);
    const id = "second" as RequestId;
    lending.do({ type: "bump", id, priority: 5, reason: operator });
    return lending;
  },
  "how often a cleaning has failed": () => {
    const lending = new Lending(pool("aws", 1, { cleaning }));
    lending.outcome(change("aws-1", { state: "dirty" }), clean("dirty"));
    lending.do({ type: "release", id: "c" as RequestId, failure: "no route" });
    return lending;
  },
  "a deletion while a cleaner has it": () => {
    const lending = new Lending(pool("aws", [], { dynamic: dynamic(1) }));
    lending.outcome(acquire("a", "aws"), release("a"));
    lending.configure(pool("aws", [], { dynamic: dynamic(0) }));
    lending.do(clean("toBeDeleted"));
    expect(lending.resource("aws-1")).toMatchObject({ state: "cleaning", leaving: true });
    return lending;
  },
  "the number of the last dynamic resource": () => {
    const lending = new Lending(pool("aws", [], { dynamic: dynamic(1) }));
    lending.outcome(acquire("a", "aws"), release("a", { state: "tombstone" }));
    expect(lending.state.made).toBe(1);
    return lending;
  },
  "user data as it was when it was lent": () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), change("aws-1", { userData: { k: "v" } }));
    return lending;
  },
  "that nobody has come for a lease": () => {
    const lending = new Lending(pool("aws", 1));
    const polled = { key: "k", presenceMs: 500 };
    lending.outcome(acquire("a", "aws"), acquire("b", "aws", polled), release("a"));
    expect(lending.state.leases.get("b" as RequestId)?.delivered).toBe(false);
    return lending;
  },
  "a pin before the first grant": () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(pin);
    return lending;
  },
  "a rate that was never cut": () => {
    const adaptive = { ...defaultAdaptive, min: 1, max: 6 };
    return new Lending(pool("aws", 1, { adaptive }));
  },
  "when a share was last lent or given back": () => {
    const lending = new Lending(capacityPool({ m: { capacity: { vcpus: 9 } } }));
    lending.outcome(want("a", room(3)), want("b", room(3)));
    lending.now = 5 as Instant;
    lending.do(release("b"));
    expect(lending.shared("m")).toMatchObject({ lastFence: 2, changedAt: 5 });
    return lending;
  },
  "what is reserved, and what has been lent since": reservedState,
};

test.each(Object.entries(rareStates))("thaw() restores %s", (_, make) => {
  checkSnapshot(make().state);
});

test("thaw() does not wait for a patience that is over", () => {
  const frozen = freeze(reservedState().state);
  const thawed = thaw(JSON.parse(JSON.stringify(frozen)));
  expect(decide(thawed, { type: "tick" }, 9_000 as Instant).events).toEqual([]);
});

test("thaw() lends when the pace opens, without any other command", () => {
  const pace = { everyMs: 1_000, burst: 1, jitter: 0 };
  const lending = new Lending(pool("aws", 2, { pace }));
  lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
  const thawed = thaw(JSON.parse(JSON.stringify(freeze(lending.state))));
  expect(nextDueAt(thawed)).toBe(1_000);
  decide(thawed, { type: "tick" }, 1_000 as Instant);
  expect(thawed.leases.has("b" as RequestId)).toBe(true);
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

test("thaw() keeps a cooldown", () => {
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

test("thaw() knows the pools below a pool that was gone for a while as the frozen state does", () => {
  const parent = "account" as PoolName;
  const account = pool("account", [], { limit: 1 });
  const lending = new Lending(account, pool("aws", 1, { parent }));
  lending.do(acquire("a", "aws"));
  lending.configure(pool("other", 1));
  lending.configure(account, pool("gcp", 1, { parent }));
  checkState(lending.state, lending.now);
  const thawed = thaw(JSON.parse(JSON.stringify(freeze(lending.state))));
  for (const state of [lending.state, thawed]) {
    // A resource that is still held under the old name counts for the account too.
    const { outcome } = decide(state, acquire("g", "gcp"), lending.now);
    expect(outcome).toMatchObject({
      type: "waiting",
      request: { reason: { code: "limit_reached" } },
    });
  }
});

test("thaw() knows which request a client's key names, also if an older lease has the same key", () => {
  const lending = new Lending(pool("aws", 2));
  const polled = { key: "k", presenceMs: 500 };
  lending.do(acquire("older", "aws", polled));
  lending.now = (lending.now + 600_000) as typeof lending.now;
  lending.do(acquire("newer", "aws", polled));
  expect(lending.state.keys.get("k")).toBe("newer");
  lending.do(release("newer"));
  expect(lending.held("older")).toHaveLength(1);
  checkSnapshot(lending.state);
  lending.do(release("older"));
  checkSnapshot(lending.state);
});
