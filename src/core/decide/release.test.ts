import { describe, expect, test } from "vitest";
import { freeze, thaw } from "../apply/snapshot.ts";
import type { Command } from "../model/command.ts";
import type { RequestId } from "../model/ids.ts";
import { shownState } from "../model/state.ts";
import { acquire, Lending, leave, poll, pool, release, renew, revoke } from "./lending.suite.ts";

const done = { type: "done" };

describe("release()", () => {
  test("releases everything in one event", () => {
    const lending = new Lending(pool("aws", 2), pool("gcp", 1));
    lending.do(acquire("a", "aws:2 gcp"));
    expect(lending.do(release("a"))).toEqual({
      outcome: done,
      events: [
        {
          type: "lease-ended",
          id: "a",
          why: "released",
          back: [
            { resource: "aws-1", state: "free" },
            { resource: "aws-2", state: "free" },
            { resource: "gcp-1", state: "free" },
          ],
        },
      ],
    });
  });

  test("releases one claim, and keeps the rest", () => {
    const lending = new Lending(pool("aws", 2));
    lending.outcome(acquire("a", "aws:2"), acquire("b", "aws"));
    const { events } = lending.do(release("a", { claim: "1", state: "free" }));
    expect(events).toMatchObject([
      { type: "claim-ended", claim: "1", why: "released", back: { resource: "aws-1" } },
      { type: "lease-granted", id: "b" },
    ]);
    expect([lending.held("a"), lending.held("b")]).toEqual([["aws-2"], ["aws-1"]]);
  });

  test("of the last claim ends the lease", () => {
    const lending = new Lending(pool("aws", 2));
    lending.outcome(acquire("a", "aws:2"), release("a", { claim: "2" }));
    expect(lending.do(release("a", { claim: "1" })).events).toMatchObject([
      { type: "lease-ended", why: "released" },
    ]);
  });

  test("sends each claim to its own state", () => {
    const lending = new Lending(pool("aws", 2));
    lending.outcome(acquire("a", "aws:2"), release("a", { claim: "2", state: "dirty" }));
    lending.do(release("a"));
    expect([lending.resource("aws-1").state, lending.resource("aws-2").state]).toEqual([
      "free",
      "dirty",
    ]);
  });

  test.each([
    ["the whole lease", release("a"), release("a")],
    ["one claim of several", release("a", { claim: "1" }), release("a", { claim: "1" })],
    ["a claim of a lease that was given back since", release("a"), release("a", { claim: "1" })],
  ])("may be repeated, for %s", (_, first, again) => {
    const lending = new Lending(pool("aws", 3));
    lending.outcome(acquire("a", "aws:2"), first);
    expect(lending.do(again)).toEqual({ events: [], outcome: done });
  });

  test.each([
    "0",
    "3",
    "-1",
    "x",
    "1x",
    "1.5",
    "",
    "__proto__",
    "01",
    "1.0",
    "1e0",
    "+1",
    " 1",
    "0x1",
  ])("refuses claim %j, which the lease never had", (claim) => {
    const lending = new Lending(pool("aws", 2));
    lending.do(acquire("a", "aws:2"));
    expect(lending.do(release("a", { claim }))).toEqual({
      events: [],
      outcome: { type: "refused", refusal: { code: "claim_not_found", id: "a", claim } },
    });
  });

  test.each(["busy", "cooling", "drained"])(
    "refuses the state %s, which is the broker's own",
    (state) => {
      const lending = new Lending(pool("aws", 2));
      lending.do(acquire("a", "aws:2"));
      const refusal = { code: "state_reserved", state };
      for (const command of [release("a", { state }), release("a", { state, claim: "1" })]) {
        expect(lending.do(command)).toEqual({ events: [], outcome: { type: "refused", refusal } });
      }
    },
  );

  test("accepts a claim that its hold has ended", () => {
    const lending = new Lending(pool("slots", 1, { holdMs: 10 }));
    lending.do(acquire("a", "slots"));
    lending.tickAt(10);
    expect(lending.do(release("a", { claim: "1" }))).toEqual({ events: [], outcome: done });
    expect(lending.outcome(release("a", { claim: "2" }))).toMatchObject({
      refusal: { code: "claim_not_found" },
    });
  });

  test("of an old holder touches nothing of the new one", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 1_000 }));
    lending.outcome(acquire("old", "aws"), acquire("new", "aws", { ttlMs: 9_000 }));
    lending.tickAt(1_000);
    expect(lending.held("new")).toEqual(["aws-1"]);
    for (const late of [release("old"), release("old", { claim: "1" }), renew("old")]) {
      expect(lending.do(late)).toEqual({
        events: [],
        outcome: {
          type: "refused",
          refusal: { code: "lease_ended", id: "old", how: "expired", endedAt: 1_000 },
        },
      });
    }
    expect(lending.held("new")).toEqual(["aws-1"]);
  });
});

describe("release(), renew() and revoke()", () => {
  const lending = new Lending(pool("aws", 1));
  lending.outcome(acquire("a", "aws"), acquire("waits", "aws"));

  test.each([release("x"), renew("x"), revoke("x")])(
    "find no lease that never was: %j",
    (command) => {
      const refusal = { code: "lease_not_found", id: "x" };
      expect(lending.do(command)).toEqual({ events: [], outcome: { type: "refused", refusal } });
    },
  );

  test.each([release("waits"), renew("waits"), revoke("waits")])(
    "refuse what has not been granted yet: %j",
    (command) => {
      const refusal = { code: "lease_not_granted", id: "waits" };
      expect(lending.do(command)).toEqual({ events: [], outcome: { type: "refused", refusal } });
    },
  );
});

describe("revoke()", () => {
  test("of a revoked lease is accepted, of a released lease it is not", () => {
    const lending = new Lending(pool("aws", 2));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), revoke("a"), release("b"));
    expect(lending.do(revoke("a"))).toEqual({ outcome: done, events: [] });
    expect(lending.outcome(revoke("b"))).toMatchObject({ refusal: { code: "lease_ended" } });
  });

  const reason = { by: "ann", why: "test" };
  const lendingToA = (): Lending => {
    const delayed = { ttlMs: 60_000, lockDelayMs: 15_000, onExpire: "free" };
    const lending = new Lending(pool("aws", 1, delayed));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    return lending;
  };

  test("lends nothing while the holder may believe that it holds the lease", () => {
    const lending = lendingToA();
    lending.tickAt(20_000);
    lending.do(renew("a"));
    const { events } = lending.do(revoke("a"));
    expect(events).toEqual([{ type: "lease-revoked", id: "a", heldUntil: 80_000, reason }]);
    expect(shownState(lending.resource("aws-1"))).toBe("revoking");
    lending.tickAt(59_999);
    lending.do(poll("b"));
    lending.tickAt(79_999);
    expect(shownState(lending.resource("aws-1"))).toBe("revoking");
    lending.tickAt(80_000);
    expect(lending.end("a")).toBe("revoked");
    lending.tickAt(94_999);
    expect(lending.held("b")).toBeUndefined();
    lending.tickAt(95_000);
    expect(lending.held("b")).toEqual(["aws-1"]);
  });

  test("is confirmed by the holder's release, which learns that it lost the lease", () => {
    const lending = lendingToA();
    lending.do(revoke("a"));
    const refusal = { code: "lease_ended", how: "revoked" };
    const { events, outcome } = lending.do(release("a"));
    expect(outcome).toMatchObject({ refusal });
    expect(events).toMatchObject([
      { type: "lease-ended", why: "revoked", reason },
      { type: "lease-granted", id: "b" },
    ]);
    expect(lending.outcome(release("a"))).toMatchObject({ refusal });
  });

  test.each([
    ["a heartbeat", renew("a"), "lease_ended"],
    ["a poll", poll("a"), "request_ended"],
    ["a second ask", acquire("a2", "aws", { key: "k", holder: "job-a" }), "request_ended"],
  ])("refuses %s of the holder, and prolongs nothing", (_, command, code) => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 60_000 }));
    lending.outcome(acquire("a", "aws", { key: "k" }), revoke("a"));
    lending.tickAt(59_999);
    expect(lending.outcome(command)).toMatchObject({ refusal: { code, how: "revoked" } });
    lending.tickAt(60_000);
    expect(lending.end("a")).toBe("revoked");
  });

  test("gives grace for what the holder may still believe, because a clock may have jumped", () => {
    const lending = lendingToA();
    lending.tickAt(20_000);
    lending.do(revoke("a"));
    lending.tickAt(30_000);
    lending.do({ type: "give-grace" });
    lending.tickAt(69_999);
    expect(lending.end("a")).toBeUndefined();
    lending.tickAt(70_000);
    expect(lending.end("a")).toBe("revoked");
  });

  test("ends with its lifetime, which the holder knows", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 60_000, lifetimeMs: 70_000 }));
    lending.do(acquire("a", "aws"));
    lending.tickAt(50_000);
    lending.outcome(renew("a"), revoke("a"));
    lending.tickAt(70_000);
    expect(lending.end("a")).toBe("lifetime");
  });

  test("holds after a restart", () => {
    const lending = lendingToA();
    lending.do(revoke("a"));
    const restarted = thaw(JSON.parse(JSON.stringify(freeze(lending.state))));
    const lease = restarted.leases.get("a" as RequestId);
    expect(lease?.revoked).toEqual({ at: 0, until: 60_000, reason });
    expect(lease?.dueAt).toBe(60_000);
  });
});

describe("leave()", () => {
  test("removes a request from its queue; a repetition is accepted", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), acquire("c", "aws"));
    expect(lending.do(leave("b"))).toEqual({
      outcome: done,
      events: [{ type: "request-left", id: "b", why: "cancelled" }],
    });
    expect(lending.do(leave("b"))).toEqual({ events: [], outcome: done });
    expect(lending.line("aws")).toEqual(["c"]);
  });

  test("lets the requests behind it be granted", () => {
    const lending = new Lending(pool("aws", 2));
    lending.outcome(acquire("a", "aws"), acquire("big", "aws:2"), acquire("small", "aws"));
    lending.do(leave("big"));
    expect(lending.held("small")).toEqual(["aws-2"]);
  });

  test("of a request that was granted meanwhile returns the lease, and keeps it", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("a", "aws"));
    expect(lending.do(leave("a"))).toMatchObject({ events: [], outcome: { type: "granted" } });
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("finds no request that never was", () => {
    const lending = new Lending(pool("aws", 1));
    const refusal = { code: "request_not_found", id: "x" };
    expect(lending.outcome(leave("x"))).toEqual({ type: "refused", refusal });
  });
});

describe("keepWaiting()", () => {
  test.each([
    ["was given up", (lending: Lending) => lending.tickAt(600_000), "abandoned"],
    ["has left", (lending: Lending) => lending.do(leave("b")), "cancelled"],
  ])("says how a request ended that %s", (_, end, how) => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws", { ttlMs: 9e9 }), acquire("b", "aws"));
    end(lending);
    expect(lending.outcome(poll("b"))).toMatchObject({ refusal: { code: "request_ended", how } });
  });

  test("finds no request that never was", () => {
    const refusal = { code: "request_not_found", id: "x" };
    expect(new Lending().outcome(poll("x"))).toEqual({ type: "refused", refusal });
  });
});

describe("a lease whose answer was lost", () => {
  const lost = (id: string, repliesSent: number): Command => {
    return { type: "not-delivered", id: id as RequestId, repliesSent };
  };

  test("ends if its client cannot ask again", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), lost("a", 1));
    expect(lending.end("a")).toBe("uncollected");
    expect(lending.resource("aws-1").state).toBe("free");
  });

  test("stays with a holder that has confirmed it", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), renew("a"), lost("a", 1));
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("waits for a client that can ask again; a later reply counts", () => {
    const lending = new Lending(pool("aws", 1));
    const asked = acquire("a", "aws", { key: "k", presenceMs: 500 });
    const delivered = () => lending.state.leases.get("a" as RequestId)?.delivered;
    lending.outcome(asked, asked, lost("a", 1));
    expect(delivered()).toBe(true);
    lending.do(lost("a", 2));
    expect(delivered()).toBe(false);
    lending.tickAt(500);
    expect(lending.end("a")).toBe("uncollected");
  });
});
