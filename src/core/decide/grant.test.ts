import { describe, expect, test } from "vitest";
import { exclusiveClaim } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { overtakenMax } from "../queue/leftover.ts";
import { lastFence } from "./fence.ts";
import { acquire, change, Lending, leave, pool, release } from "./lending.suite.ts";

const patient = { patienceMs: 60_000 };

describe("a request over several pools", () => {
  test("is granted whole, when the last of its needs comes free", () => {
    const lending = new Lending(pool("aws", 2), pool("gcp", 1));
    lending.outcome(acquire("g", "gcp"), acquire("both", "aws:2 gcp"));
    expect(lending.held("both")).toBeUndefined();
    expect(exclusiveClaim(lending.resource("aws-1"))).toBeNull();
    lending.do(release("g"));
    expect(lending.held("both")).toEqual(["aws-1", "aws-2", "gcp-1"]);
  });

  test("holds nothing while it waits, so two of them cannot deadlock", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"));
    lending.outcome(acquire("x", "aws gcp"), acquire("y", "gcp aws"));
    lending.outcome(release("a"), release("g"));
    expect(lending.held("x")).toEqual(["aws-1", "gcp-1"]);
    lending.do(release("x"));
    expect(lending.held("y")).toEqual(["gcp-1", "aws-1"]);
  });

  test("waits in the queue of every pool that it needs", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("both", "aws gcp"));
    expect([lending.line("aws"), lending.line("gcp")]).toEqual([["both"], ["both"]]);
    lending.do(leave("both"));
    expect([lending.line("aws"), lending.line("gcp")]).toEqual([[], []]);
  });

  test("may be overtaken while its patience lasts", () => {
    const lending = new Lending(pool("aws", 1, patient), pool("gcp", 1, patient));
    lending.outcome(acquire("g", "gcp"), acquire("both", "aws gcp"));
    lending.tickAt(59_999);
    expect(lending.outcome(acquire("small", "aws"))).toMatchObject({ type: "granted" });
  });

  test("keeps freed resources once its patience is over", () => {
    const lending = new Lending(pool("aws", 2, patient), pool("gcp", 1, patient));
    lending.outcome(
      acquire("g", "gcp", { ttlMs: 9e6 }),
      acquire("both", "aws gcp", { ttlMs: 9e6 }),
    );
    lending.tickAt(60_000);
    expect(lending.outcome(acquire("one", "aws"))).toMatchObject({ type: "granted" });
    expect(lending.outcome(acquire("two", "aws"))).toMatchObject({
      type: "waiting",
      request: { reason: { code: "kept_for_others" } },
    });
    lending.do(release("g"));
    expect(lending.held("both")).toEqual(["aws-2", "gcp-1"]);
    expect(lending.line("aws")).toEqual(["two"]);
  });

  test("keeps by each pool's own patience", () => {
    const lending = new Lending(
      pool("aws", 1, { patienceMs: 10 }),
      pool("gcp", 1, { patienceMs: 1_000 }),
      pool("vms", 1),
    );
    lending.outcome(acquire("v", "vms"), acquire("all", "aws gcp vms"));
    lending.tickAt(500);
    expect(lending.outcome(acquire("x", "aws"))).toMatchObject({ type: "waiting" });
    expect(lending.outcome(acquire("y", "gcp"))).toMatchObject({ type: "granted" });
  });

  test("stops keeping resources when it leaves", () => {
    const lending = new Lending(pool("aws", 1, patient), pool("gcp", 1, patient));
    lending.outcome(
      acquire("g", "gcp", { ttlMs: 9e6 }),
      acquire("both", "aws gcp", { ttlMs: 9e6 }),
    );
    lending.tickAt(60_000);
    lending.do(acquire("small", "aws"));
    lending.do(leave("both"));
    expect(lending.held("small")).toEqual(["aws-1"]);
  });

  test("stops keeping resources when it is abandoned", () => {
    const lending = new Lending(pool("aws", 1, patient), pool("gcp", 1, patient));
    lending.outcome(
      acquire("g", "gcp", { ttlMs: 9e6 }),
      acquire("both", "aws gcp", { ttlMs: 61_000 }),
    );
    lending.tickAt(60_000);
    lending.do(acquire("small", "aws"));
    lending.tickAt(61_000);
    expect(lending.end("both")).toBe("abandoned");
    expect(lending.held("small")).toEqual(["aws-1"]);
  });

  test("never overtakes a request for one of its pools alone", () => {
    const lending = new Lending(pool("aws", 2, patient), pool("gcp", 1, patient));
    lending.outcome(acquire("a", "aws"), acquire("two", "aws:2"));
    expect(lending.outcome(acquire("both", "aws gcp"))).toMatchObject({
      type: "waiting",
      request: { reason: { code: "behind_others", pool: "aws" } },
    });
  });

  test("does not stop those behind it from a pool that it does not need", () => {
    const lending = new Lending(pool("aws", 1, { patienceMs: 0 }), pool("gcp", 1), pool("vms", 1));
    lending.outcome(acquire("g", "gcp"), acquire("both", "aws gcp"));
    expect(lending.outcome(acquire("v", "vms"))).toMatchObject({ type: "granted" });
  });

  test("with no patience keeps from the first moment", () => {
    const lending = new Lending(pool("aws", 1, { patienceMs: 0 }), pool("gcp", 1));
    lending.outcome(acquire("g", "gcp"), acquire("both", "aws gcp"));
    expect(lending.outcome(acquire("small", "aws"))).toMatchObject({ type: "waiting" });
  });

  test("keeps nothing from those of higher priority", () => {
    const lending = new Lending(pool("aws", 1, { patienceMs: 0 }), pool("gcp", 1));
    lending.outcome(acquire("g", "gcp"), acquire("both", "aws gcp"));
    const urgent = acquire("urgent", "aws", { priority: 1 });
    expect(lending.outcome(urgent)).toMatchObject({ type: "granted" });
  });
});

describe("serve()", () => {
  test("grants every request that fits, after one release", () => {
    const lending = new Lending(pool("aws", 3));
    lending.do(acquire("a", "aws:3"));
    for (const id of ["b", "c", "d", "e"]) lending.do(acquire(id, "aws"));
    const { events } = lending.do(release("a"));
    expect(events.map((event) => [event.type, "id" in event && event.id])).toEqual([
      ["lease-ended", "a"],
      ["lease-granted", "b"],
      ["lease-granted", "c"],
      ["lease-granted", "d"],
    ]);
  });

  test("skips a request over several pools that cannot go, within its patience", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"));
    lending.outcome(acquire("both", "aws gcp"), acquire("small", "aws"));
    lending.do(release("a"));
    expect(lending.held("small")).toEqual(["aws-1"]);
    expect(lending.line("aws")).toEqual(["both"]);
  });

  test(`looks past ${overtakenMax} that cannot go, and no further`, () => {
    const many = Array.from({ length: overtakenMax }, (_, index) => `m${index}`);
    const lending = new Lending(pool("aws", 2), pool("gcp", 1));
    lending.do(acquire("g", "gcp"));
    for (const id of many) lending.do(acquire(id, "aws gcp"));
    expect(lending.outcome(acquire("near", "aws"))).toMatchObject({ type: "granted" });
    lending.do(acquire("one-more", "aws gcp"));
    expect(lending.outcome(acquire("far", "aws"))).toMatchObject({ type: "waiting" });
  });

  test("skips a drained resource, and lends it when it is undrained", () => {
    const lending = new Lending(pool("aws", 1));
    lending.do(change("aws-1", { drained: true }));
    lending.do(acquire("a", "aws"));
    expect(lending.held("a")).toBeUndefined();
    lending.do(change("aws-1", { drained: false }));
    expect(lending.held("a")).toEqual(["aws-1"]);
  });
});

describe("fences", () => {
  test("grow with every grant, over all pools and within a lease", () => {
    const lending = new Lending(pool("aws", 2), pool("gcp", 1));
    lending.outcome(acquire("a", "aws:2"), acquire("g", "gcp"), release("a"));
    lending.outcome(acquire("b", "aws"), release("b"), acquire("c", "aws gcp"), release("g"));
    const fences = lending.events.flatMap((event) =>
      event.type === "lease-granted" ? event.claims.map(({ fence }) => fence) : [],
    );
    expect(fences).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("are larger than those of an earlier journal that was lost", () => {
    const grants = (lending: Lending) =>
      lending.events.flatMap((event) => (event.type === "lease-granted" ? event.claims : []));
    const lost = new Lending(pool("aws", 1));
    for (let turn = 0; turn < 300; turn++)
      lost.outcome(acquire(`r${turn}`, "aws"), release(`r${turn}`));
    const next = new Lending(pool("aws", 1));
    next.now = (lost.now + 1) as Instant;
    next.do(acquire("a", "aws"));
    expect(grants(lost)).toHaveLength(300);
    expect(grants(next)[0]?.fence).toBeGreaterThan(grants(lost).at(-1)?.fence ?? 0);
  });

  test.each([0, 1_700_000_000_000, 4_000_000_000_000, 8e12, 1e15])(
    "are safe integers and grow, at %d",
    (now) => {
      const first = lastFence({ fence: 0 }, now as Instant) + 1;
      const second = lastFence({ fence: first }, now as Instant) + 1;
      const later = lastFence({ fence: second }, (now + 1) as Instant) + 1;
      expect([first, second, later].every(Number.isSafeInteger)).toBe(true);
      expect(first < second && second < later).toBe(true);
    },
  );

  test("of a resource that is removed and added again still grow", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), release("a"));
    lending.configure();
    lending.configure(pool("aws", 1));
    lending.do(acquire("b", "aws"));
    expect(exclusiveClaim(lending.resource("aws-1"))?.fence).toBe(2);
  });
});
