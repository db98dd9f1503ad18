import { describe, expect, test } from "vitest";
import { nextDueAt } from "./decide.ts";
import { acquire, Lending, poll, pool, release, renew } from "./lending.suite.ts";

describe("ttl", () => {
  test("ends a lease that is not heard from, and not a moment earlier", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 1_000 }));
    lending.do(acquire("a", "aws"));
    expect(nextDueAt(lending.state)).toBe(1_000);
    expect(lending.tickAt(999).events).toEqual([]);
    expect(lending.tickAt(1_000).events).toEqual([
      {
        type: "lease-ended",
        id: "a",
        why: "expired",
        back: [{ resource: "aws-1", state: "free" }],
      },
    ]);
  });

  test("starts again with every heartbeat", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 1_000 }));
    lending.do(acquire("a", "aws"));
    lending.tickAt(900);
    expect(lending.outcome(renew("a"))).toMatchObject({ lease: { expiresAt: 1_900 } });
    expect(lending.tickAt(1_899).events).toEqual([]);
    expect(lending.tickAt(1_900).events).toHaveLength(1);
  });

  test("lends the resource of an expired lease to the next request, in the same decision", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 1_000 }));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws", { ttlMs: 9_000 }));
    lending.tickAt(1_000);
    expect(lending.held("b")).toEqual(["aws-1"]);
  });

  test("refuses the heartbeat of a lease that has ended", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 1_000 }));
    lending.do(acquire("a", "aws"));
    lending.tickAt(1_000);
    expect(lending.outcome(renew("a"))).toEqual({
      type: "refused",
      refusal: { code: "lease_ended", id: "a", how: "expired", endedAt: 1_000 },
    });
  });
});

describe("lifetime", () => {
  test("ends a lease however alive its holder is", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 1_000, lifetimeMs: 1_500 }));
    expect(lending.outcome(acquire("a", "aws"))).toMatchObject({ lease: { endsAt: 1_500 } });
    lending.tickAt(900);
    lending.do(renew("a"));
    expect(lending.tickAt(1_500).events).toMatchObject([{ type: "lease-ended", why: "lifetime" }]);
  });

  test("counts from the grant, not from the asking", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 60_000, lifetimeMs: 10_000 }));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    lending.now = 5_000 as typeof lending.now;
    lending.do(release("a"));
    expect([...lending.state.leases.values()]).toMatchObject([{ id: "b", endsAt: 15_000 }]);
  });

  test.each([
    [{ aws: 9_000, gcp: 5_000 }, undefined, 5_000],
    [{ aws: 9_000, gcp: null }, undefined, 9_000],
    [{ aws: null, gcp: null }, 3_000, 3_000],
    [{ aws: 9_000, gcp: 5_000 }, 3_000, 3_000],
    [{ aws: 9_000, gcp: 5_000 }, 60_000, 5_000],
    [{ aws: null, gcp: null }, undefined, null],
  ])("is the strictest of the pools %j and the wish %j", (lifetimes, wish, want) => {
    const lending = new Lending(
      pool("aws", 1, { lifetimeMs: lifetimes.aws }),
      pool("gcp", 1, { lifetimeMs: lifetimes.gcp }),
    );
    const ask = acquire("a", "aws gcp", wish === undefined ? {} : { lifetimeMs: wish });
    expect(lending.outcome(ask)).toMatchObject({ lease: { endsAt: want } });
  });

  test("is named as the cause when both are over", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 1_000, lifetimeMs: 1_500 }));
    lending.do(acquire("a", "aws"));
    lending.tickAt(5_000);
    expect(lending.end("a")).toBe("lifetime");
  });
});

describe("hold", () => {
  const slots = pool("slots", 1, { holdMs: 1_000, onRelease: "free", ttlMs: 60_000 });

  test("releases a claim while the rest of the lease continues", () => {
    const lending = new Lending(slots, pool("aws", 1, { ttlMs: 60_000 }));
    expect(lending.outcome(acquire("a", "slots aws"))).toMatchObject({
      lease: { claims: [{ heldUntil: 1_000 }, { heldUntil: null }] },
    });
    expect(lending.tickAt(1_000).events).toEqual([
      {
        type: "claim-ended",
        id: "a",
        claim: "1",
        why: "hold",
        back: { resource: "slots-1", state: "free" },
      },
    ]);
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("keeps counting through heartbeats", () => {
    const lending = new Lending(slots);
    lending.do(acquire("a", "slots"));
    lending.tickAt(900);
    lending.do(renew("a"));
    lending.tickAt(1_000);
    expect(lending.held("a")).toEqual([]);
  });

  test("leaves a lease without claims alive, which its holder may still release", () => {
    const lending = new Lending(slots);
    lending.do(acquire("a", "slots"));
    lending.tickAt(1_000);
    expect(lending.outcome(renew("a"))).toMatchObject({ type: "granted", lease: { claims: [] } });
    expect(lending.do(release("a")).events).toEqual([
      { type: "lease-ended", id: "a", why: "released", back: [] },
    ]);
  });

  test("lends the slot to the next at once", () => {
    const lending = new Lending(slots);
    lending.outcome(acquire("a", "slots"), acquire("b", "slots"));
    lending.tickAt(1_000);
    expect(lending.held("b")).toEqual(["slots-1"]);
  });

  test("is cleared when the claim is released earlier", () => {
    const lending = new Lending(slots, pool("aws", 1, { ttlMs: 60_000 }));
    lending.outcome(acquire("a", "slots aws"), release("a", { claim: "1" }));
    expect(lending.tickAt(1_000).events).toEqual([]);
  });
});

describe("presence", () => {
  test("of a waiter that is not heard from ends after its ttl", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 60_000 }));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws", { ttlMs: 1_000 }));
    expect(lending.tickAt(999).events).toEqual([]);
    expect(lending.tickAt(1_000).events).toEqual([
      { type: "request-left", id: "b", why: "abandoned" },
    ]);
  });

  test("lasts for the announced wait and a ttl more", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 60_000 }));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws", { ttlMs: 1_000, waitMs: 10_000 }));
    expect(lending.tickAt(10_999).events).toEqual([]);
    expect(lending.tickAt(11_000).events).toHaveLength(1);
  });

  test("is shown by asking after it, with a wait or without", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 60_000 }));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws", { ttlMs: 1_000 }));
    lending.tickAt(900);
    expect(lending.outcome(poll("b", 5_000))).toMatchObject({ type: "waiting" });
    lending.tickAt(6_800);
    lending.do(poll("b"));
    expect(lending.tickAt(7_799).events).toEqual([]);
    expect(lending.tickAt(7_800).events).toHaveLength(1);
  });

  test("of an absent client never gets a resource that is freed at that time", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 1_000 }));
    lending.do(acquire("a", "aws"));
    lending.do(acquire("gone", "aws"));
    lending.do(acquire("here", "aws", { waitMs: 5_000 }));
    lending.tickAt(1_000);
    expect(lending.end("gone")).toBe("abandoned");
    expect(lending.held("here")).toEqual(["aws-1"]);
  });

  test("is renewed by asking after a request that was granted meanwhile", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 1_000 }));
    lending.do(acquire("a", "aws"));
    lending.tickAt(500);
    expect(lending.outcome(poll("a"))).toMatchObject({
      type: "granted",
      lease: { expiresAt: 1_500 },
    });
  });
});

describe("a lease that was granted between two polls", () => {
  const polled = (id: string, waitMs = 0) =>
    acquire(id, "aws", { key: id, presenceMs: 1_000, ttlMs: null, byName: true, waitMs });

  test("waits for its client for the rest of the presence, counted from its last poll", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 60_000 }));
    lending.outcome(acquire("a", "aws"), polled("gone"));
    lending.tickAt(800);
    lending.do(release("a"));
    expect(lending.held("gone")).toEqual(["aws-1"]);
    expect(lending.tickAt(999).events).toEqual([]);
    lending.tickAt(1_000);
    expect(lending.end("gone")).toBe("uncollected");
  });

  test("waits for the whole presence, if its client has an open connection", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 60_000 }));
    lending.outcome(acquire("a", "aws"), polled("here", 5_000));
    lending.tickAt(3_000);
    lending.do(release("a"));
    expect(lending.tickAt(3_999).events).toEqual([]);
    lending.tickAt(4_000);
    expect(lending.end("here")).toBe("uncollected");
  });
});

describe("give-grace", () => {
  test("gives every lease and every waiter one full ttl", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 1_000 }));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    lending.now = 5_000 as typeof lending.now;
    expect(lending.do({ type: "give-grace" }).events).toEqual([{ type: "grace-given" }]);
    expect(lending.tickAt(5_999).events).toEqual([]);
    lending.tickAt(6_000);
    expect([lending.end("a"), lending.end("b")]).toEqual(["expired", "abandoned"]);
  });

  test("gives nothing to a holder and a waiter for whom the pause was short", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("long", "aws", { ttlMs: 3_000 }));
    lending.do(acquire("short", "aws", { ttlMs: 2_999 }));
    lending.now = 1_000 as typeof lending.now;
    lending.do({ type: "give-grace", pausedMs: 1_000 });
    lending.tickAt(3_000);
    expect([lending.end("long"), lending.held("short")]).toEqual(["expired", ["aws-1"]]);
  });

  test("takes no time from a client with an open connection", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 9e9 }));
    lending.do(acquire("a", "aws"));
    lending.do(acquire("b", "aws", { ttlMs: 60_000, waitMs: 3_600_000 }));
    lending.now = 1_000 as typeof lending.now;
    lending.do({ type: "give-grace" });
    expect(lending.tickAt(3_659_999).events).toEqual([]);
    expect(lending.tickAt(3_660_000).events).toHaveLength(1);
  });

  test("does not lengthen a lifetime, a hold or a cooldown", () => {
    const lending = new Lending(
      pool("aws", 1, { ttlMs: 10_000, lifetimeMs: 1_000 }),
      pool("slots", 1, { ttlMs: 10_000, holdMs: 1_000 }),
      pool("cold", 1, { ttlMs: 10_000, cooldownMs: 1_000 }),
    );
    lending.outcome(acquire("a", "aws"), acquire("s", "slots"), acquire("c", "cold"), release("c"));
    lending.now = 900 as typeof lending.now;
    lending.do({ type: "give-grace" });
    lending.tickAt(1_000);
    expect(lending.end("a")).toBe("lifetime");
    expect(lending.held("s")).toEqual([]);
    expect(lending.resource("cold-1").state).toBe("free");
  });
});

test("tick() does everything that is overdue, in order of time", () => {
  const lending = new Lending(pool("aws", 3, { onExpire: "dirty" }));
  lending.do(acquire("late", "aws", { ttlMs: 3_000 }));
  lending.do(acquire("early", "aws", { ttlMs: 1_000 }));
  lending.do(acquire("middle", "aws", { ttlMs: 2_000 }));
  const ended = lending.tickAt(10_000).events.map((event) => "id" in event && event.id);
  expect(ended).toEqual(["early", "middle", "late"]);
  expect(nextDueAt(lending.state)).toBeUndefined();
});

test("tick() changes nothing while nothing is due", () => {
  const lending = new Lending(pool("aws", 1));
  expect(lending.tickAt(1e9)).toEqual({ events: [], outcome: { type: "done" } });
});
