import { describe, expect, test } from "vitest";
import type { Command } from "../model/command.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
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
  test("gives back and asks again behind those who wait, in one decision", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    expect(lending.outcome(refresh("a", "a2"))).toMatchObject({ type: "waiting" });
    expect(lending.held("b")).toEqual(["aws-1"]);
    expect(lending.line("aws")).toEqual(["a2"]);
    expect(lending.end("a")).toBe("released");
  });

  test("lets everybody go first who waits for it, also who may be overtaken", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("both", "aws gcp"), refresh("a", "a2"));
    expect([lending.held("both"), lending.held("a2")]).toEqual([["aws-1", "gcp-1"], undefined]);
  });

  test("gets it at once when nobody waits, as the same holder with the same wishes", () => {
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

  test("of one pool lets the rest of the lease go on, also once its hold was over", () => {
    const lending = new Lending(pool("aws", 1), pool("slot", 1, { holdMs: 1_000 }));
    lending.do(acquire("a", "aws slot"));
    lending.tickAt(1_000);
    expect(lending.outcome(refresh("a", "a2", { pool: "slot" }))).toMatchObject({
      type: "granted",
      lease: { claims: [{ resource: "slot-1" }] },
    });
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("sent again because its answer was lost finds the same", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(acquire("a", "aws", { key: "first" }));
    lending.do(refresh("a", "a2", { key: "second" }));
    expect(lending.outcome(refresh("a", "a3", { key: "second" }))).toMatchObject({
      type: "granted",
      lease: { id: "a2" },
    });
  });

  test("of one pool, sent again, gives nothing more back and finds the same", () => {
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

  test("keeps what it has when the same could never be had again", () => {
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
