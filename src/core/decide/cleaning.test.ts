/** Cleaners hold dirty resources as `cleaning`. Pace, limits and lifetimes do not apply to them. */
import { describe, expect, test } from "vitest";
import type { Command } from "../model/command.ts";
import type { EventOf } from "../model/event.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import type { PoolPolicy } from "../model/policy.ts";
import type { Instant } from "../model/time.ts";
import { acquire, change, Lending, pool, release, runTo } from "./lending.suite.ts";

/** Asks for one resource in a state, to clean it. */
function clean(id: string, state = "dirty", more: object = {}): Command {
  const items = [{ pool: "aws" as PoolName, count: 1, state, into: "cleaning" }];
  return {
    type: "acquire",
    id: id as RequestId,
    ask: { holder: "cleaner", items, ...more },
    waitMs: 0,
  };
}

const failed = (id: string, failure = "no route"): Command => {
  return { type: "release", id: id as RequestId, failure };
};

/** A pool with one dirty resource, which a cleaner holds from 0 as lease `c`. */
function cleaned(policy: Partial<PoolPolicy> = {}): Lending {
  const lending = new Lending(pool("aws", 1, policy));
  lending.outcome(change("aws-1", { state: "dirty" }), clean("c"));
  return lending;
}

const poolOf = (lending: Lending) => lending.state.pools.get("aws" as PoolName);

function waitedFor(lending: Lending, id: string): string | undefined {
  const granted = lending.events.find((event): event is EventOf<"lease-granted"> => {
    return event.type === "lease-granted" && event.id === id;
  });
  return granted?.waitedFor;
}

describe("a resource that is being cleaned", () => {
  const slow = { cooldownMs: 100, lockDelayMs: 5_000, onRelease: "dirty", onExpire: "broken" };

  test("is free the moment that it is clean", () => {
    const lending = cleaned(slow);
    lending.do(release("c"));
    expect(lending.resource("aws-1")).toMatchObject({ state: "free", claim: null });
  });

  test("is as dirty as before, at once, when its cleaner vanishes", () => {
    const lending = cleaned({ ...slow, ttlMs: 1_000 });
    lending.tickAt(1_000);
    expect(lending.end("c")).toBe("expired");
    expect(lending.resource("aws-1")).toMatchObject({ state: "dirty", claim: null });
  });

  test("has neither a hold nor a lifetime", () => {
    const lending = cleaned({ holdMs: 10, lifetimeMs: 20 });
    const granted = lending.events.find(({ type }) => type === "lease-granted");
    expect(granted).not.toHaveProperty("endsAt");
    expect(granted).not.toHaveProperty("claims.0.heldUntil");
  });

  test("is not used, by no count of its pool", () => {
    const lending = cleaned({ limit: 1 });
    expect(poolOf(lending)).toMatchObject({ used: 0, held: 0 });
    lending.do(release("c"));
    expect(poolOf(lending)).toMatchObject({ used: 0, held: 0, holds: { count: 0 } });
    lending.outcome(acquire("a", "aws"), release("a"));
    expect(poolOf(lending)?.holds.count).toBe(1);
  });

  test("counts as expected: no other is made for the waiting request", () => {
    const dynamic = { min: 0, max: 3, state: "free", lifespanMs: null };
    const lending = cleaned({ dynamic });
    lending.do(acquire("a", "aws"));
    expect([...lending.state.resources.keys()]).toEqual(["aws-1"]);
    lending.do(release("c"));
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("and a dirty resource is expected too; a quarantined one is not", () => {
    const dynamic = { min: 0, max: 3, state: "free", lifespanMs: null };
    const lending = new Lending(pool("aws", 1, { dynamic }));
    lending.outcome(change("aws-1", { state: "dirty" }), acquire("a", "aws"));
    expect([...lending.state.resources.keys()]).toEqual(["aws-1"]);
    lending.do(change("aws-1", { state: "quarantined" }));
    expect(lending.held("a")).toEqual(["aws-2"]);
  });

  test("is not expected if it is marked for deletion", () => {
    const dynamic = { min: 0, max: 3, state: "free", lifespanMs: null };
    const lending = new Lending(pool("aws", [], { dynamic }));
    lending.outcome(acquire("a", "aws"), release("a"), change("aws-1", { state: "toBeDeleted" }));
    lending.outcome(clean("c", "toBeDeleted"), acquire("b", "aws"));
    expect(lending.held("b")).toEqual(["aws-2"]);
  });

  test("needs a credit if it is taken from the free resources", () => {
    const lending = new Lending(pool("aws", 1, { admission: { by: "the check" } }));
    lending.do(clean("c", "free"));
    expect(lending.held("c")).toBeUndefined();
    lending.do({ type: "admit", pool: "aws" as PoolName, grants: 1, forMs: 1_000 });
    expect(lending.held("c")).toEqual(["aws-1"]);
    expect(poolOf(lending)?.admission.credits).toBe(0);
  });
});

describe("cleaning that fails", () => {
  const cleaning = { retries: 3, backoffMs: 60_000 };

  test("is tried again, each time after twice the delay, until quarantine", () => {
    const lending = cleaned({ cleaning });
    for (const [failures, restMs] of [60_000, 120_000].entries()) {
      const { now } = lending;
      lending.do(failed("c", `no. ${failures + 1}`));
      const rests = { state: "cooling", restsTo: "dirty", restsUntil: now + restMs };
      expect(lending.resource("aws-1")).toMatchObject({ ...rests, failures: failures + 1 });
      runTo(lending, now + restMs);
      lending.do(clean("c"));
    }
    lending.do(failed("c", "no. 3"));
    expect(lending.resource("aws-1")).toMatchObject({
      ...{ state: "quarantined", failures: 3, note: "no. 3" },
    });
  });

  test("is tried again after at most an hour", () => {
    const lending = cleaned({ cleaning: { retries: 9, backoffMs: 1_800_000 } });
    for (const restMs of [1_800_000, 3_600_000, 3_600_000]) {
      const { now } = lending;
      lending.do(failed("c"));
      expect(lending.resource("aws-1").restsUntil).toBe(now + restMs);
      runTo(lending, now + restMs);
      lending.do(clean("c"));
    }
  });

  test.each<[string, (lending: Lending) => void, number]>([
    ["is forgotten once it has worked", (lending) => lending.do(release("c")), 0],
    ["is not forgotten when a cleaner vanishes", (lending) => lending.tickAt(61_000 + 9_000), 1],
  ])("%s", (_, end, failures) => {
    const lending = cleaned({ cleaning, ttlMs: 9_000 });
    lending.do(failed("c"));
    runTo(lending, 61_000);
    lending.do(clean("c"));
    end(lending);
    expect(lending.resource("aws-1")).toMatchObject({ claim: null, failures });
  });

  test("is kept although a holder used the resource in between", () => {
    const lending = cleaned({ cleaning, onRelease: "dirty" });
    lending.outcome(failed("c"), change("aws-1", { state: "free" }));
    lending.outcome(acquire("a", "aws"), release("a"));
    expect(lending.resource("aws-1")).toMatchObject({ state: "dirty", failures: 1 });
  });
});

describe("a resource whose holder wants it deleted", () => {
  const dynamic = { min: 1, max: 1, state: "free", lifespanMs: null };
  /** Holds it as `toBeDeleted`, as Boskos's clients do. */
  const condemn = (id: string, more: object = {}): Command => {
    const items = [{ pool: "aws" as PoolName, count: 1, into: "toBeDeleted" }];
    return { type: "acquire", id: id as RequestId, ask: { holder: id, items, ...more }, waitMs: 0 };
  };

  test.each([
    ["its cleaning failed", 2],
    ["its cleaning failed for the last time", 1],
  ])("is to be deleted also when %s", (_, retries) => {
    const cleaning = { retries, backoffMs: 1_000 };
    const lending = new Lending(pool("aws", [], { dynamic, cleaning }));
    lending.outcome(condemn("c"), failed("c"));
    runTo(lending, 1_000);
    expect(lending.resource("aws-1")).toMatchObject({ state: "toBeDeleted", claim: null });
  });

  test("stays marked for deletion also if the lease is uncollected", () => {
    const lending = new Lending(pool("aws", [], { dynamic }));
    const polled = { key: "k", presenceMs: 500 };
    lending.outcome(acquire("a", "aws"), condemn("b", polled), release("a"));
    expect(lending.resource("aws-1")).toMatchObject({ state: "toBeDeleted", leaving: true });
    lending.tickAt(500);
    expect(lending.end("b")).toBe("uncollected");
    expect(lending.resource("aws-1")).toMatchObject({ state: "toBeDeleted", claim: null });
  });
});

describe("a client that never received its lease", () => {
  test("was not its resource's last holder, and its hold does not count", () => {
    const lending = new Lending(pool("aws", 1));
    const polled = { key: "k", presenceMs: 500 };
    lending.outcome(acquire("a", "aws"), acquire("b", "aws", polled), release("a"));
    const { count } = poolOf(lending)?.holds ?? { count: -1 };
    lending.tickAt(500);
    expect(lending.end("b")).toBe("uncollected");
    expect(lending.resource("aws-1").last).toMatchObject({ holder: "job-a", how: "released" });
    expect(poolOf(lending)?.holds.count).toBe(count);
  });
});

test("an operator who frees a resource that is to be deleted keeps it", () => {
  const dynamic = (max: number) => ({ min: 0, max, state: "free", lifespanMs: null });
  const lending = new Lending(pool("aws", [], { dynamic: dynamic(1) }));
  lending.outcome(acquire("a", "aws"), release("a"), change("aws-1", { state: "toBeDeleted" }));
  expect(lending.resource("aws-1").leaving).toBe(true);
  lending.do(change("aws-1", { state: "free" }));
  lending.outcome(acquire("b", "aws"), release("b"));
  expect(lending.resource("aws-1")).toMatchObject({ state: "free", leaving: false });
});

test("a resource that became listed has no lifespan after its release", () => {
  const dynamic = { min: 1, max: 2, state: "free", lifespanMs: 60_000 };
  const lending = new Lending(pool("aws", [], { dynamic }));
  lending.outcome(acquire("a", "aws"), release("a"));
  expect(lending.resource("aws-1").expiresAt).toBe(60_000);
  lending.configure(pool("aws", ["aws-1"]));
  lending.outcome(acquire("b", "aws"), release("b"));
  expect(lending.resource("aws-1").expiresAt).toBe(Number.POSITIVE_INFINITY);
});

describe("a grant to a cleaner does not change what others have waited for:", () => {
  test("a limit", () => {
    const lending = new Lending(pool("aws", 2, { limit: 1, onRelease: "dirty" }));
    lending.outcome(acquire("a", "aws"), clean("c"), acquire("x", "aws"));
    lending.now = 1 as Instant;
    lending.do(release("a"));
    expect([lending.held("c"), lending.held("x")]).toEqual([["aws-1"], ["aws-2"]]);
    expect(waitedFor(lending, "x")).toBe("limit_reached");
  });

  test("a free one", () => {
    const policy = { ttlMs: 1_000, onExpire: "dirty", cooldownMs: 1_000 };
    const lending = new Lending(pool("aws", 2, policy));
    lending.outcome(acquire("gone", "aws"), acquire("a", "aws", { ttlMs: 9_000 }));
    lending.configure(pool("aws", 2, { ...policy, cooldownMs: 0 }));
    lending.now = 1 as Instant;
    lending.outcome(clean("c", "dirty", { ttlMs: 9_000 }), acquire("x", "aws", { ttlMs: 9_000 }));
    lending.configure(pool("aws", 2, { ...policy, cooldownMs: 999 }));
    lending.do(release("a"));
    lending.configure(pool("aws", 2, { ...policy, cooldownMs: 0 }));
    lending.tickAt(1_000); // `gone` expires, and the cooldown of a's resource ends.
    expect([lending.held("c"), lending.held("x")]).toEqual([["aws-1"], ["aws-2"]]);
    expect(waitedFor(lending, "x")).toBe("no_free");
  });

  test("its own pace", () => {
    const pace = { everyMs: 1_000, burst: 1, jitter: 0 };
    const lending = new Lending(pool("aws", 3, { pace, ttlMs: 9_000 }));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), change("aws-3", { state: "dirty" }));
    const two = [{ pool: "aws" as PoolName, count: 2, state: "dirty", into: "cleaning" }];
    const ask = { holder: "cleaner", items: two, ttlMs: 1_000 };
    lending.do({ type: "acquire", id: "both" as RequestId, ask, waitMs: 0 });
    lending.do(clean("c"));
    lending.tickAt(1_000); // The pace opens for `b`, and the request `both` leaves the queue.
    expect([lending.held("b"), lending.held("c")]).toEqual([["aws-2"], ["aws-3"]]);
    expect(waitedFor(lending, "c")).toBe("behind_others");
  });
});

test("an ordinary holder cannot report a failed cleaning to skip the one that comes", () => {
  const lending = new Lending(pool("aws", 1, { onRelease: "dirty", cooldownMs: 500 }));
  lending.do(acquire("a", "aws"));
  lending.do({ type: "release", id: "a" as RequestId, failure: "no" });
  expect(lending.resource("aws-1")).toMatchObject({ restsTo: "dirty", failures: 0 });
});
