import { describe, expect, test } from "vitest";
import type { Command } from "../model/command.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { decide, isOwn } from "./decide.ts";
import { acquire, Lending, pool } from "./lending.suite.ts";

function refresh(id: string, next: string, more: { key?: string; pool?: string } = {}): Command {
  const { key, pool: name } = more;
  return {
    type: "refresh",
    id: id as RequestId,
    next: next as RequestId,
    waitMs: 0,
    ...(key === undefined ? undefined : { key }),
    ...(name === undefined ? undefined : { pool: name as PoolName }),
  };
}

describe("refresh()", () => {
  test("releases and queues again behind all waiting requests, in one decision", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    expect(lending.outcome(refresh("a", "a2"))).toMatchObject({ type: "waiting" });
    expect(lending.held("b")).toEqual(["aws-1"]);
    expect(lending.line("aws")).toEqual(["a2"]);
    expect(lending.end("a")).toBe("released");
  });

  test("grants all waiting requests first, also those that may be overtaken", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("both", "aws gcp"), refresh("a", "a2"));
    expect([lending.held("both"), lending.held("a2")]).toEqual([["aws-1", "gcp-1"], undefined]);
  });

  test("is the act of its caller, but for the grants to others in between", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    const decision = decide(lending.state, refresh("a", "a2"), lending.now);
    const acts = decision.events.map(({ type }, index) => [type, isOwn(decision, index)]);
    expect(acts.slice(0, 3)).toEqual([
      ["lease-ended", true],
      ["lease-granted", false],
      ["request-queued", true],
    ]);
  });

  test("is granted at once if no request waits, with the same holder and ask", () => {
    const lending = new Lending(pool("aws", 2));
    lending.do(acquire("a", "aws:2", { priority: 3, ttlMs: 7_000 }));
    expect(lending.outcome(refresh("a", "a2"))).toMatchObject({
      type: "granted",
      lease: { id: "a2", holder: "job-a", priority: 3, ttlMs: 7_000 },
    });
  });

  test("pays for a new start where there is a pace", () => {
    const pace = { everyMs: 10_000, burst: 1, jitter: 0 };
    const lending = new Lending(pool("aws", 2, { pace }));
    lending.do(acquire("a", "aws"));
    expect(lending.outcome(refresh("a", "a2"))).toMatchObject({
      type: "waiting",
      request: { reason: { code: "paced" } },
    });
    lending.tickAt(10_000);
    expect(lending.held("a2")).toEqual(["aws-2"]);
  });

  test("of one pool keeps the rest of the lease, also after the pool's hold", () => {
    const lending = new Lending(pool("aws", 1), pool("slot", 1, { holdMs: 1_000 }));
    lending.do(acquire("a", "aws slot"));
    lending.tickAt(1_000);
    expect(lending.outcome(refresh("a", "a2", { pool: "slot" }))).toMatchObject({
      type: "granted",
      lease: { claims: [{ resource: "slot-1" }] },
    });
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("repeated after a lost reply returns the same", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("a", "aws", { key: "first" }));
    lending.do(refresh("a", "a2", { key: "second" }));
    expect(lending.outcome(refresh("a", "a3", { key: "second" }))).toMatchObject({
      type: "granted",
      lease: { id: "a2" },
    });
  });

  test("of one pool, repeated, releases nothing more and returns the same", () => {
    const lending = new Lending(pool("aws", 1), pool("slot", 2));
    lending.do(acquire("a", "aws slot"));
    const again = { pool: "slot", key: "second" };
    lending.do(refresh("a", "a2", again));
    expect(lending.outcome(refresh("a", "a3", again))).toMatchObject({ lease: { id: "a2" } });
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test.each([
    ["its own", "first"],
    ["another's", "theirs"],
    ["one that has ended", "over"],
  ])("keeps what it has when the request id is %s", (_, key) => {
    const lending = new Lending(pool("aws", 2), pool("gcp", 1));
    lending.do(acquire("o", "gcp", { key: "over" }));
    lending.do({ type: "release", id: "o" as RequestId });
    lending.outcome(acquire("a", "aws", { key: "first" }), acquire("b", "gcp", { key: "theirs" }));
    const code = key === "over" ? "request_ended" : "request_id_reused";
    expect(lending.outcome(refresh("a", "a2", { key }))).toMatchObject({ refusal: { code } });
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("keeps its resources if the same ask could never be granted again", () => {
    const lending = new Lending(pool("aws", 2));
    lending.do(acquire("a", "aws:2"));
    lending.do({ type: "configure", pools: [pool("aws", 1)] });
    expect(lending.outcome(refresh("a", "a2"))).toMatchObject({ refusal: { code: "never_fits" } });
    expect(lending.held("a")).toEqual(["aws-1", "aws-2"]);
  });

  test.each([
    ["a lease that has ended", refresh("gone", "x"), "lease_ended"],
    [
      "a pool that the lease has nothing of",
      refresh("a", "x", { pool: "gcp" }),
      "pool_not_in_lease",
    ],
  ])("refuses %s", (_, command, code) => {
    const lending = new Lending(pool("aws", 2));
    lending.outcome(acquire("a", "aws"), acquire("gone", "aws"), {
      type: "release",
      id: "gone" as RequestId,
    });
    expect(lending.outcome(command)).toMatchObject({ refusal: { code } });
    expect(lending.held("a")).toEqual(["aws-1"]);
  });
});
