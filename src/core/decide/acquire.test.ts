import { describe, expect, test } from "vitest";
import { acquire, Lending, leave, pool, release, revoke } from "./lending.suite.ts";

describe("acquire()", () => {
  test("grants a free resource at once, in one event that has everything", () => {
    const lending = new Lending(pool("aws", 2, { ttlMs: 60_000 }));
    const { events, outcome } = lending.do(acquire("a", "aws", { key: "k", labels: { job: "1" } }));
    expect(events).toEqual([
      {
        type: "lease-granted",
        id: "a",
        ask: {
          holder: "job-a",
          items: [{ pool: "aws", count: 1 }],
          key: "k",
          labels: { job: "1" },
          ttlMs: 60_000,
        },
        claims: [{ id: "1", resource: "aws-1", fence: 1 }],
      },
    ]);
    expect(outcome).toMatchObject({
      type: "granted",
      lease: { id: "a", key: "k", grantedAt: 0, expiresAt: 60_000, endsAt: null },
    });
  });

  test("queues behind a held resource, and says which place", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("a", "aws"));
    const { events, outcome } = lending.do(acquire("b", "aws", { waitMs: 9 }));
    expect(events.map(({ type }) => type)).toEqual(["request-queued", "request-seen"]);
    expect(outcome).toMatchObject({ type: "waiting", request: { id: "b", position: 1 } });
    expect(lending.outcome(acquire("c", "aws"))).toMatchObject({ request: { position: 2 } });
  });

  test("serves first come, first served", () => {
    const lending = new Lending(pool("aws", 1));
    for (const id of ["a", "b", "c", "d"]) lending.do(acquire(id, "aws"));
    expect(lending.line("aws")).toEqual(["b", "c", "d"]);
    lending.do(release("a"));
    expect(lending.held("b")).toEqual(["aws-1"]);
    lending.do(leave("c"));
    lending.do(release("b"));
    expect(lending.held("d")).toEqual(["aws-1"]);
  });

  test("lets higher priority go first, and equals in order of arrival", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("a", "aws"));
    lending.do(acquire("plain", "aws"));
    lending.do(acquire("low", "aws", { priority: -1 }));
    lending.do(acquire("urgent", "aws", { priority: 5 }));
    lending.do(acquire("urgent-too", "aws", { priority: 5 }));
    lending.do(acquire("zero", "aws", { priority: 0 }));
    expect(lending.line("aws")).toEqual(["urgent", "urgent-too", "plain", "zero", "low"]);
  });

  test("lets no request overtake the first of an exclusive pool, even if enough are free", () => {
    const lending = new Lending(pool("aws", 3));
    lending.do(acquire("a", "aws:2"));
    lending.do(acquire("big", "aws:2"));
    expect(lending.outcome(acquire("small", "aws"))).toMatchObject({ type: "waiting" });
    expect(lending.line("aws")).toEqual(["big", "small"]);
    lending.do(release("a"));
    expect(lending.held("big")).toHaveLength(2);
    expect(lending.held("small")).toHaveLength(1);
  });

  test("lets higher priority past a head that cannot go yet", () => {
    const lending = new Lending(pool("aws", 3));
    lending.do(acquire("a", "aws:2"));
    lending.do(acquire("big", "aws:2"));
    lending.do(acquire("urgent", "aws", { priority: 1 }));
    expect(lending.held("urgent")).toEqual(["aws-3"]);
    expect(lending.line("aws")).toEqual(["big"]);
  });

  test("lends the longest idle resource", () => {
    const lending = new Lending(pool("aws", 3));
    lending.do(acquire("a", "aws"));
    lending.do(release("a"));
    expect(lending.outcome(acquire("b", "aws:3"))).toMatchObject({ type: "granted" });
    expect(lending.held("b")).toEqual(["aws-2", "aws-3", "aws-1"]);
  });

  test("adds up items of one pool, and numbers the claims through", () => {
    const lending = new Lending(pool("aws", 3), pool("gcp", 1));
    lending.do(acquire("a", "aws gcp aws:2"));
    const lease = [...lending.state.leases.values()][0];
    expect(lease?.claims.map(({ id, resource }) => [id, resource.name])).toEqual([
      ["1", "aws-1"],
      ["2", "aws-2"],
      ["3", "aws-3"],
      ["4", "gcp-1"],
    ]);
  });

  test("takes the shortest ttl of the pools, unless the request names one", () => {
    const lending = new Lending(
      pool("aws", 9, { ttlMs: 60_000 }),
      pool("gcp", 9, { ttlMs: 30_000 }),
    );
    expect(lending.outcome(acquire("a", "aws gcp"))).toMatchObject({ lease: { ttlMs: 30_000 } });
    expect(lending.outcome(acquire("b", "aws", { ttlMs: 5_000 }))).toMatchObject({
      lease: { ttlMs: 5_000 },
    });
  });
});

describe("acquire() refuses at once", () => {
  const lending = new Lending(pool("aws-account", 2), pool("slots", 3), pool("empty", 0));

  test.each([
    [
      "an unknown pool, with the nearest name",
      "aws-acount",
      {
        code: "pool_not_found",
        pool: "aws-acount",
        nearest: "aws-account",
        known: ["aws-account", "slots", "empty"],
      },
    ],
    [
      "an unknown pool with no name near",
      "vsphere",
      {
        code: "pool_not_found",
        pool: "vsphere",
        known: ["aws-account", "slots", "empty"],
      },
    ],
    [
      "more than the pool has",
      "slots:4",
      {
        code: "never_fits",
        pool: "slots",
        asked: 4,
        size: 3,
      },
    ],
    [
      "more than the pool has, in several items",
      "slots:2 aws-account slots:2",
      {
        code: "never_fits",
        pool: "slots",
        asked: 4,
        size: 3,
      },
    ],
    ["one of an empty pool", "empty", { code: "never_fits", pool: "empty", asked: 1, size: 0 }],
    [
      "a mixture with one unknown pool",
      "slots nowhere",
      {
        code: "pool_not_found",
        pool: "nowhere",
        known: ["aws-account", "slots", "empty"],
      },
    ],
  ])("%s", (_, wanted, refusal) => {
    const { events, outcome } = lending.do(acquire("x", wanted));
    expect(outcome).toEqual({ type: "refused", refusal });
    expect(events).toEqual([]);
  });

  test("but counts drained and quarantined resources as there", () => {
    const state = new Lending(pool("aws", ["one"]));
    state.do({
      type: "change-resource",
      resource: state.resource("one").name,
      change: { drained: true, state: "quarantined" },
      reason: { by: "ann", why: "" },
    });
    expect(state.outcome(acquire("a", "aws"))).toMatchObject({ type: "waiting" });
  });

  test("and names ten pools at the most", () => {
    const names = Array.from({ length: 30 }, (_, index) => pool(`p${index}`, 1));
    const outcome = new Lending(...names).outcome(acquire("a", "something-else"));
    expect(outcome).toMatchObject({ refusal: { known: expect.any(Array) } });
    expect(JSON.parse(JSON.stringify(outcome)).refusal.known).toHaveLength(10);
  });
});

describe("acquire() with the same key", () => {
  test("answers with the same waiting request, and counts as a sign of life", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("a", "aws"));
    lending.do(acquire("b", "aws", { key: "k" }));
    const { events, outcome } = lending.do(
      acquire("c", "aws", { key: "k", holder: "job-b", waitMs: 7 }),
    );
    expect(outcome).toMatchObject({ type: "waiting", request: { id: "b", position: 1 } });
    expect(events).toEqual([{ type: "request-seen", id: "b", waitMs: 7 }]);
    expect(lending.line("aws")).toEqual(["b"]);
  });

  test("answers with the same lease, and renews it", () => {
    const lending = new Lending(pool("aws", 2));
    lending.do(acquire("a", "aws", { key: "k" }));
    const { events, outcome } = lending.do(acquire("b", "aws", { key: "k", holder: "job-a" }));
    expect(outcome).toMatchObject({ type: "granted", lease: { id: "a" } });
    expect(events).toEqual([{ type: "lease-renewed", id: "a" }]);
    expect(lending.state.leases.size).toBe(1);
  });

  test("finds the lease that a waiting request became", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws", { key: "k" }), release("a"));
    const again = acquire("c", "aws", { key: "k", holder: "job-b" });
    expect(lending.outcome(again)).toMatchObject({ type: "granted", lease: { id: "b" } });
  });

  test.each([
    ["released", (lending: Lending) => lending.do(release("a"))],
    ["revoked", (lending: Lending) => lending.do(revoke("a"))],
    ["expired", (lending: Lending) => lending.tickAt(3_600_000)],
  ])("never lends a second time, when the first lease was %s", (how, end) => {
    const lending = new Lending(pool("aws", 2));
    lending.do(acquire("a", "aws", { key: "k" }));
    end(lending);
    expect(lending.outcome(acquire("b", "aws", { key: "k", holder: "job-a" }))).toEqual({
      type: "refused",
      refusal: { code: "request_ended", id: "a", how, endedAt: lending.now },
    });
    expect(lending.held("b")).toBeUndefined();
  });

  test.each([
    ["another holder", acquire("b", "aws", { key: "k", holder: "someone" })],
    ["another pool", acquire("b", "gcp", { key: "k", holder: "job-a" })],
    ["another count", acquire("b", "aws:2", { key: "k", holder: "job-a" })],
    ["more items", acquire("b", "aws gcp", { key: "k", holder: "job-a" })],
  ])("refuses %s, while the first waits and while it is held", (_, other) => {
    const refusal = { code: "request_id_reused", key: "k", id: "a" };
    const held = new Lending(pool("aws", 2), pool("gcp", 2));
    held.do(acquire("a", "aws", { key: "k" }));
    expect(held.do(other)).toEqual({ events: [], outcome: { type: "refused", refusal } });
    const waiting = new Lending(pool("aws", 2), pool("gcp", 2));
    waiting.outcome(acquire("first", "aws:2"), acquire("a", "aws", { key: "k" }));
    expect(waiting.do(other)).toEqual({ events: [], outcome: { type: "refused", refusal } });
  });

  test("takes another ttl, priority or label for the same request", () => {
    const lending = new Lending(pool("aws", 2));
    lending.do(acquire("a", "aws", { key: "k" }));
    const again = acquire("b", "aws", { key: "k", holder: "job-a", ttlMs: 1, priority: 9 });
    expect(lending.outcome(again)).toMatchObject({ type: "granted", lease: { id: "a" } });
  });

  test("is told so before it is refused for a pool that is gone", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.do(acquire("a", "aws", { key: "k" }));
    lending.configure(pool("gcp", 1));
    const again = acquire("b", "aws", { key: "k", holder: "job-a" });
    expect(lending.outcome(again)).toMatchObject({ type: "granted", lease: { id: "a" } });
  });
});
