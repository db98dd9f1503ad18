import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { brokerOf, type TestBroker } from "../../broker/test-broker.suite.ts";
import { acquire, leave, pool, release } from "../../core/decide/lending.suite.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { estimate } from "./estimate.ts";
import { Estimates, type ForecastInput } from "./estimates.ts";
import { HoldSamples } from "./hold-samples.ts";

let site: TestBroker;
let holds: HoldSamples;
let estimates: Estimates;
/** Called while the futures are computed. */
let meanwhile: () => Promise<void>;
let made = 0;

beforeEach(async () => {
  site = await brokerOf([pool("aws", 1)]);
  holds = new HoldSamples();
  meanwhile = async () => {};
  made = 0;
  // Does the work of the thread, but in this thread.
  const foresee = async ({ parts, samples, now, seed }: ForecastInput) => {
    made += 1;
    await meanwhile();
    return parts.flatMap((part) => estimate(part, samples, now, seed));
  };
  // Only when the test calls refresh().
  estimates = new Estimates(site.broker, holds, foresee, { everyMs: 1e8, idleMs: 1e8 });
});
afterEach(async () => {
  await estimates.close();
  await site.broker.close();
});

function remember(holdMs: number): void {
  const ended = {
    pool: "aws",
    purpose: "use" as const,
    grantedAt: 0,
    endedAt: holdMs,
    how: "released",
  };
  holds.record(Array.from({ length: 20 }, () => ended));
}

const of = (id: string) => estimates.of(id as RequestId, site.clock.now());

describe("Estimates", () => {
  test("has no estimates before enough holds are known, and does not try", async () => {
    await site.broker.submit(acquire("a", "aws"));
    await site.broker.submit(acquire("b", "aws"));
    await estimates.refresh();
    expect([of("b"), made]).toEqual([null, 0]);
    remember(10_000);
    await estimates.refresh();
    expect([of("b"), made]).toEqual([
      { p50Ms: 10_000, p90Ms: 10_000, samples: 20, exact: false },
      1,
    ]);
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
    expect(of("b")).toEqual({ p50Ms: 28_000, p90Ms: 28_000, samples: 0, exact: true });
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
    await site.clock.advance(12_000);
    await estimates.refresh();
    await site.broker.submit(release("a"));
    expect(estimates.accuracy.total).toEqual({
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
});
