/** What a decision fails on is set aside; everything else goes on. */
import { describe, expect, test } from "vitest";
import { acquire, release } from "../core/decide/lending.suite.ts";
import type { RequestId } from "../core/model/ids.ts";
import { settled } from "./hand-clock.suite.ts";
import { ask, poisonedAsk, pools } from "./poisoned.suite.ts";
import { brokerOf, typesOf } from "./test-broker.suite.ts";

describe("a request that cannot be decided", () => {
  test("leaves the queue with the reason, and the others go on", async () => {
    const { broker, journal, reported } = await brokerOf(pools());
    await broker.submit(ask("all", 4));
    await broker.submit(poisonedAsk("bad"));
    await broker.submit(ask("good", 4));
    expect(await broker.submit(release("all"))).toEqual({ type: "done" });
    expect(journal.appends.flat()).toContainEqual({
      type: "request-left",
      id: "bad",
      why: "undecidable",
      reason: { by: "berth", why: expect.stringContaining("Cannot decide about request bad") },
    });
    expect(await broker.read(({ leases }) => [...leases.keys()])).toEqual(["good"]);
    expect(reported.fatal).toEqual([]);
  });

  test("does not stop the server when a deadline has led to it", async () => {
    const { broker, clock, reported } = await brokerOf(pools());
    await broker.submit(ask("all", 4, 10_000));
    await broker.submit(poisonedAsk("bad"));
    await broker.submit(ask("good", 4));
    await clock.advance(10_000);
    await clock.advance(10_000); // After the failure every holder has got grace.
    await settled();
    expect(await broker.read(({ leases }) => [...leases.keys()])).toEqual(["good"]);
    expect(reported.fatal).toEqual([]);
  });
});

describe("a pool that fails twice", () => {
  async function suspended() {
    const all = await brokerOf(pools());
    const { broker } = all;
    await broker.submit(ask("holds", 2, 60_000));
    await broker.submit(ask("all", 2));
    await broker.submit(poisonedAsk("bad1"));
    await broker.submit(poisonedAsk("bad2"));
    await broker.submit(release("all"));
    return all;
  }

  test("is suspended, and the other pools go on", async () => {
    const { broker, journal, reported } = await suspended();
    expect(typesOf(journal.appends.flat())).toContain("pool-suspended");
    expect(await broker.submit(ask("good", 1))).toMatchObject({
      type: "waiting",
      request: { reason: { code: "suspended" } },
    });
    expect(await broker.submit(acquire("a", "aws"))).toMatchObject({ type: "granted" });
    expect(reported.fatal).toEqual([]);
  });

  test("keeps its leases, whose deadlines wait", async () => {
    const { broker, clock, reported } = await suspended();
    await clock.advance(3_600_000);
    expect(await broker.read(({ leases }) => [...leases.keys()])).toEqual(["holds"]);
    await broker.submit({ type: "configure", pools: pools() });
    await clock.advance(120_000);
    expect(await broker.read(({ leases }) => leases.size)).toBe(0);
    expect(reported.fatal).toEqual([]);
  });

  test("is tried again by a reload", async () => {
    const { broker } = await suspended();
    await broker.submit(ask("good", 1));
    await broker.submit({ type: "leave", id: "bad2" as RequestId, why: "cancelled" });
    await broker.submit({ type: "configure", pools: pools() });
    expect(await broker.read(({ leases }) => [...leases.keys()])).toEqual(["holds", "good"]);
  });
});
