import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { brokerOf, type TestBroker } from "../../broker/test-broker.suite.ts";
import { acquire, leave, operator, pool, release } from "../../core/decide/lending.suite.ts";
import type { PoolName, RequestId, ResourceName } from "../../core/model/ids.ts";
import { estimate } from "./estimate.ts";
import { Estimates, type ForecastInput } from "./estimates.ts";
import { RecordedSamples } from "./recorded-samples.ts";

let site: TestBroker;
let holds: RecordedSamples;
let estimates: Estimates;
/** Called while the futures of some pools are computed. */
let meanwhile: (pools: string) => Promise<void>;
/** The pools of each forecast. */
let made: string[];
let elapsedMs: number;

beforeEach(async () => {
  site = await brokerOf([pool("aws", 1), pool("gcp", 1)]);
  holds = new RecordedSamples();
  meanwhile = async () => {};
  made = [];
  elapsedMs = 0;
  // Does the work of the thread, but in this thread.
  const foresee = async ({ part, samples, now, seed }: ForecastInput) => {
    const pools = part.pools.map(({ name }) => name).join(" ");
    made.push(pools);
    await meanwhile(pools);
    return estimate(part, samples, now, seed);
  };
  // Only when the test calls refresh().
  estimates = new Estimates(site.broker, holds, foresee, {
    ...{ everyMs: 1e8, idleMs: 1e8, elapsedMs: () => elapsedMs },
  });
});
afterEach(async () => {
  await estimates.close();
  await site.broker.close();
});

function remember(holdMs: number, name = "aws"): void {
  const asked = { space: "", priority: 0, count: 1, askedAt: 0, asked: null };
  const ended = {
    ...{ id: "x", ...asked, pool: name, purpose: "use" as const },
    ...{ grantedAt: 0, endedAt: holdMs, how: "released" },
  };
  holds.record(Array.from({ length: 20 }, () => ended));
}

const whyNone = (id: string) => estimates.whyNone(id as RequestId);
const of = (id: string) => estimates.of(id as RequestId, site.clock.now());

describe("Estimates", () => {
  test("says that nothing is known to end, if enough holds are known", async () => {
    remember(10_000);
    const drained = { type: "change-resource", change: { drained: true } } as const;
    const reason = { by: "ann", why: "" };
    await site.broker.submit({ ...drained, resource: "aws-1" as ResourceName, reason });
    await site.broker.submit(acquire("a", "aws"));
    await estimates.refresh();
    expect([of("a"), whyNone("a")]).toEqual([null, "no_end_known"]);
    await site.broker.submit(leave("a"));
    expect(whyNone("a")).toBe("not_computed");
  });

  test("says that an admission check decides, also while all are held", async () => {
    await site.broker.close();
    const checked = pool("aws", 1, { admission: { by: "capacity" } });
    site = await brokerOf([checked]);
    estimates = new Estimates(site.broker, holds, async () => [], { everyMs: 1e8, idleMs: 1e8 });
    remember(10_000);
    for (const id of ["a", "b"]) await site.broker.submit(acquire(id, "aws"));
    await estimates.refresh();
    expect([of("b"), whyNone("b")]).toEqual([null, "admission"]);
  });

  test("has no estimates before enough holds are known, and does not try", async () => {
    await site.broker.submit(acquire("a", "aws"));
    await site.broker.submit(acquire("b", "aws"));
    expect([of("b"), whyNone("b")]).toEqual([null, "not_computed"]);
    await estimates.refresh();
    expect([of("b"), whyNone("b"), made]).toEqual([null, "too_few_holds", []]);
    remember(10_000);
    await estimates.refresh();
    expect([of("b"), made]).toMatchObject([
      { p50Ms: 10_000, p90Ms: 10_000, samples: 20, exact: false },
      ["aws"],
    ]);
  });

  test("forgets the time of a request that an operator has moved", async () => {
    remember(10_000);
    for (const id of ["a", "b", "c"]) await site.broker.submit(acquire(id, "aws"));
    await estimates.refresh();
    expect([of("b"), of("c")]).toEqual([expect.anything(), expect.anything()]);
    const reason = { by: "ada", why: "urgent" };
    await site.broker.submit({ type: "bump", id: "c" as RequestId, priority: 5, reason });
    expect([of("b"), of("c"), whyNone("c")]).toEqual([expect.anything(), null, "not_computed"]);
  });

  test("knows the end of a cooldown exactly, without any recorded hold", async () => {
    await site.broker.submit({
      type: "configure",
      pools: [pool("aws", 1, { cooldownMs: 30_000 })],
    });
    await site.broker.submit(acquire("a", "aws"));
    await site.broker.submit(release("a"));
    await site.broker.submit(acquire("b", "aws"));
    await site.broker.submit(acquire("c", "aws"));
    await site.clock.advance(2_000);
    await estimates.refresh();
    expect(of("b")).toMatchObject({ p50Ms: 28_000, p90Ms: 28_000, samples: 0, exact: true });
    expect(of("c")).toBeNull();
  });

  test("counts down between two passes, and never below zero", async () => {
    remember(10_000);
    await site.broker.submit(acquire("a", "aws"));
    await site.broker.submit(acquire("b", "aws"));
    await estimates.refresh();
    await site.clock.advance(4_000);
    expect(of("b")?.p50Ms).toBe(6_000);
    await site.clock.advance(60_000);
    expect(of("b")?.p50Ms).toBe(0);
  });

  test("compares the first estimate with the grant, not a later estimate", async () => {
    remember(10_000);
    await site.broker.submit(acquire("a", "aws"));
    await site.broker.submit(acquire("b", "aws"));
    await estimates.refresh();
    const first = of("b")?.first;
    await site.clock.advance(12_000);
    await estimates.refresh();
    expect(of("b")?.first).toEqual(first);
    await site.broker.submit(release("a"));
    expect(estimates.accuracy.total).toMatchObject({
      ...{ compared: 1, withinP50: 0, withinP90: 0, meanErrorMs: 2_000 },
    });
    expect([of("b"), estimates.size]).toEqual([null, 0]);
  });

  test("also compares requests that are granted during a pass, and none that leave", async () => {
    remember(10_000);
    await site.broker.submit(acquire("a", "aws"));
    await site.broker.submit(acquire("b", "aws"));
    await site.broker.submit(acquire("c", "aws"));
    meanwhile = async () => {
      await site.broker.submit(release("a"));
      await site.broker.submit(leave("c"));
    };
    await estimates.refresh();
    expect(estimates.accuracy.total).toMatchObject({ compared: 1, withinP50: 1 });
    expect([of("b"), of("c")]).toEqual([null, null]);
  });

  test("estimates short queues first, and keeps each result at once", async () => {
    remember(10_000);
    remember(10_000, "gcp");
    for (const id of ["a", "b", "c"]) await site.broker.submit(acquire(id, "aws"));
    for (const id of ["x", "y"]) await site.broker.submit(acquire(id, "gcp"));
    let known: unknown;
    meanwhile = async (pools) => {
      if (pools === "aws") known = of("y")?.p50Ms;
    };
    await estimates.refresh();
    expect([made, known]).toEqual([["gcp", "aws"], 10_000]);
  });

  test("a queue whose estimates took long rests, and the others go on", async () => {
    remember(10_000);
    remember(10_000, "gcp");
    for (const id of ["a", "b"]) await site.broker.submit(acquire(id, "aws"));
    for (const id of ["x", "y"]) await site.broker.submit(acquire(id, "gcp"));
    meanwhile = async (pools) => {
      if (pools === "aws") elapsedMs += 1_000;
    };
    await estimates.refresh();
    await estimates.refresh();
    expect(made).toEqual(["aws", "gcp", "gcp"]);
    expect([of("b")?.p50Ms, of("y")?.p50Ms]).toEqual([10_000, 10_000]);
    elapsedMs += 9_000;
    await estimates.refresh();
    expect(made.slice(3).sort()).toEqual(["aws", "gcp"]);
  });

  test("after a change of the rate there is no estimate until a pass has computed it", async () => {
    const paced = { pace: { everyMs: 10_000, burst: 1, jitter: 0 } };
    await site.broker.submit({ type: "configure", pools: [pool("aws", 9, paced)] });
    remember(10_000);
    for (const id of ["a", "b", "c"]) await site.broker.submit(acquire(id, "aws"));
    meanwhile = async () => {
      elapsedMs += 1_000;
    };
    await estimates.refresh();
    expect(of("c")?.p50Ms).toBe(20_000);
    const first = of("c")?.first;
    const pin = { type: "pin", pool: "aws" as PoolName, rate: 1 } as const;
    await site.broker.submit({ ...pin, reason: operator });
    expect([of("c"), whyNone("c")]).toEqual([null, "not_computed"]);
    await estimates.refresh();
    expect(made).toEqual(["aws", "aws"]);
    expect(of("c")?.p50Ms).toBeGreaterThan(20_000);
    expect(of("c")?.first).toEqual(first);
    await estimates.refresh();
    expect(made).toHaveLength(2);
  });
});
