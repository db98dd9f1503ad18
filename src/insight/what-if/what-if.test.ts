import { describe, expect, test } from "vitest";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { pool } from "../../core/decide/lending.suite.ts";
import type { PoolName } from "../../core/model/ids.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import { Random } from "../forecast/random.ts";
import type { Demand } from "./demand.ts";
import { record, simulate } from "./recorded-days.suite.ts";
import { parseSetting, withSettings } from "./settings.ts";
import { whatIf } from "./what-if.ts";

const exponential = (random: Random, mean: number) =>
  Math.max(1, Math.round(-Math.log(1 - random.next()) * mean));

/** Jobs over two pools: some need both, some have a higher priority, some leave, some expire. */
function mixedJobs(seed: number, count: number): Demand[] {
  const random = new Random(seed);
  let askedAt = 0;
  return Array.from({ length: count }, (_, index) => {
    askedAt += exponential(random, 900);
    const both = random.chance(0.2);
    const items = both
      ? [
          { pool: "aws", count: 1 },
          { pool: "gcp", count: 1 },
        ]
      : [{ pool: random.pick(["aws", "gcp"]), count: random.between(1, 2) }];
    const holdMs = exponential(random, 3_500);
    const early = { claim: "1", afterMs: Math.ceil(holdMs / 2), forced: false };
    return {
      ...{ id: `job${index}`, holder: "ci", items, priority: random.chance(0.2) ? 5 : 0 },
      ...{ askedAt, order: index, patienceMs: random.chance(0.1) ? 2_000 : null },
      ends: [
        ...(both && random.chance(0.5) ? [early] : []),
        { claim: null, afterMs: holdMs, forced: random.chance(0.1) },
      ],
    };
  });
}

const mixedPools = [
  pool("aws", 5, { cooldownMs: 300, patienceMs: 2_000 }),
  pool("gcp", 4, { lockDelayMs: 900, holdMs: 6_000 }),
];

describe("whatIf() with the configuration unchanged", () => {
  test.each([1, 2, 3])("reproduces the recording from the beginning (seed %i)", async (seed) => {
    await using recorded = await record(mixedPools, mixedJobs(seed, 300));
    const { total, pools, requests } = simulate(recorded, mixedPools);
    expect(requests).toBe(300);
    expect(total.recorded.waitMs?.p90, "there is something to wait for").toBeGreaterThan(500);
    expect(total.simulated).toEqual(total.recorded);
    for (const { simulated, recorded: real } of pools) expect(simulated).toEqual(real);
  });

  test("reproduces it from a moment at which some hold and some wait", async () => {
    await using recorded = await record(mixedPools, mixedJobs(7, 300));
    const { total } = simulate(recorded, mixedPools, { from: recorded.start + 100_000 });
    // Deadlines that began before that moment (overtaking, cooldowns) may be a little earlier or
    // later.
    const [real, made] = [total.recorded.waitMs?.mean ?? 0, total.simulated.waitMs?.mean ?? 0];
    expect(Math.abs(made - real) / real).toBeLessThan(0.02);
    expect(total.simulated.granted).toBe(total.recorded.granted);
  });
});

describe("whatIf() with a pool that makes clusters", () => {
  const jobs = [1, 2, 3].map((index): Demand => {
    const items = [{ pool: "ocp", count: 1 }];
    const ends = [{ claim: null, afterMs: 5_000, forced: false }];
    return {
      ...{ id: `job${index}`, holder: "ci", items, priority: 0, ends },
      ...{ askedAt: index * 1_000, order: index, patienceMs: null },
    };
  });
  const day = () => record([pool("ocp", 3)], jobs, 60_000);

  test.each([{}, { max: 3 }])(
    "grants all of them, with clusters made at once (%o)",
    async (more) => {
      await using recorded = await day();
      const { total, refused } = simulate(recorded, [clusterPool("ocp", more)]);
      expect(refused).toBe(0);
      expect(total.simulated).toMatchObject({ asked: 3, granted: 3, ended: 3 });
      expect(total.simulated.holdMs?.mean).toBe(5_000);
    },
  );

  test("makes them wait for a smaller max, and refuses them if it is 0", async () => {
    await using recorded = await day();
    const { total } = simulate(recorded, [clusterPool("ocp", { max: 1 })]);
    expect(total.simulated).toMatchObject({ granted: 3, waitMs: { mean: 4_000, max: 8_000 } });
    expect(simulate(recorded, [clusterPool("ocp", { max: 0 })])).toMatchObject({ refused: 3 });
  });
});

describe("whatIf() with a list of changed pools", () => {
  test("replays only the affected pools, with the same result as a full replay", async () => {
    const apart = mixedJobs(11, 200).map((job) => {
      const items = [{ pool: "far", count: 1 }];
      return { ...job, id: `far-${job.id}`, items, ends: job.ends.slice(-1) };
    });
    const jobs = [...mixedJobs(5, 200), ...apart].sort((a, b) => a.askedAt - b.askedAt);
    await using recorded = await record([...mixedPools, pool("far", 2)], jobs);
    const [aws, gcp] = mixedPools;
    if (aws === undefined || gcp === undefined) throw new Error("Cannot test: two pools are there");
    const larger = [pool("aws", 7, aws.policy), gcp, pool("far", 2)];
    const all = simulate(recorded, larger);
    const some = simulate(recorded, larger, { changed: ["aws"] });
    expect(all.pools.map((each) => each.pool)).toEqual(["aws", "far", "gcp"]);
    expect(some.pools).toEqual(all.pools.filter((each) => each.pool !== "far"));
    expect(some.requests).toBe(200);
    expect(some.total.recorded.granted).toBeLessThan(all.total.recorded.granted);
  });
});

test("whatIf() spaces the grants of pools whose parent limit gets a pace", async () => {
  const ends = [{ claim: null, afterMs: 1_000, forced: false }];
  const jobs = Array.from({ length: 10 }, (_, order): Demand => {
    const items = [{ pool: order % 2 === 0 ? "aws" : "gcp", count: 1 }];
    return {
      ...{ id: `job${order}`, holder: "ci", items, priority: 0, askedAt: 0, order },
      ...{ patienceMs: null, ends },
    };
  });
  const under = { parent: "account" as PoolName };
  const pools = [pool("account", [], { limit: 10 }), pool("aws", 5, under), pool("gcp", 5, under)];
  await using recorded = await record(pools, jobs, 100_000);
  const setting = parseSetting("account.pace.every=5s", ["account", "aws", "gcp"]);
  const spaced = withSettings(pools, [setting]);
  const { total, pools: each } = simulate(recorded, spaced, { changed: ["account"] });
  expect(total.recorded.waitMs?.max).toBe(0);
  expect(total.simulated.waitMs).toMatchObject({ mean: 22_500, max: 45_000 });
  expect(each.map(({ pool: name, simulated }) => [name, simulated.waitMs?.max])).toEqual([
    // A pool that is only a limit has the claims of those below it.
    ["account", 45_000],
    ["aws", 40_000],
    ["gcp", 45_000],
  ]);
  const [account] = each;
  expect(account?.simulated).toMatchObject({ asked: 10, granted: 10, utilisation: 0.01 });
});

describe("whatIf() counts the claims that never start", () => {
  const jobs = Array.from({ length: 10 }, (_, order): Demand => {
    const items = [{ pool: "aws", count: order === 9 ? 2 : 1 }];
    return {
      ...{ id: `job${order}`, holder: "ci", items, priority: 0, askedAt: 0, order },
      ...{ patienceMs: null, ends: [{ claim: null, afterMs: 1_000, forced: false }] },
    };
  });

  test.each([
    ["all start", 11, 11, { p50: 0, p90: 0, p99: 0 }],
    ["two at a time, and two together", 2, 11, { p50: 2_000, p90: 5_000, p99: 5_000 }],
    ["two can never start together", 1, 9, { p50: 5_000, p90: null, p99: null }],
  ])("%s", async (_, size, started, withinMs) => {
    await using recorded = await record([pool("aws", 11)], jobs, 60_000);
    const { total } = simulate(recorded, [pool("aws", size)]);
    expect(total.simulated.starts).toEqual({ claims: 11, started, withinMs });
    expect(total.recorded.starts).toMatchObject({ claims: 11, started: 11 });
  });

  test("a pace so slow that the recorded time ends first has no percentiles of the few", async () => {
    await using recorded = await record([pool("aws", 11)], jobs, 8_000);
    const slow = [pool("aws", 11, { pace: { everyMs: 2_000, burst: 1, jitter: 0 } })];
    const { total } = simulate(recorded, slow);
    expect(total.simulated.waitMs?.p99, "of those that started").toBeLessThan(10_000);
    expect(total.simulated.starts.withinMs).toMatchObject({ p90: null, p99: null });
    expect(total.simulated.starts.started).toBeLessThan(9);
  });
});

/** One pool with one queue and exponential gaps and holds, for which textbooks have formulas. */
function queueJobs(seed: number, count: number, meanGapMs: number, meanHoldMs: number): Demand[] {
  const random = new Random(seed);
  let askedAt = 0;
  return Array.from({ length: count }, (_, index) => {
    askedAt += exponential(random, meanGapMs);
    const ends = [{ claim: null, afterMs: exponential(random, meanHoldMs), forced: false }];
    const items = [{ pool: "slot", count: 1 }];
    const rest = { holder: "ci", items, priority: 0, patienceMs: null, ends };
    return { id: `job${index}`, askedAt, order: index, ...rest };
  });
}

/**
 * Kiefer and Wolfowitz: each arrival takes the server that is free first. This uses no code of
 * Berth.
 */
function waitsBySchoolbook(jobs: readonly Demand[], servers: number): number[] {
  const freeAt = Array.from({ length: servers }, () => 0);
  return jobs.map(({ askedAt, ends: [end] }) => {
    freeAt.sort((a, b) => a - b);
    const startsAt = Math.max(askedAt, freeAt[0] ?? 0);
    freeAt[0] = startsAt + (end?.afterMs ?? 0);
    return startsAt - askedAt;
  });
}

/** The mean wait in an M/M/c queue. */
function erlangC(servers: number, meanGapMs: number, meanHoldMs: number): number {
  const load = meanHoldMs / meanGapMs;
  let blocked = 1;
  for (let server = 1; server <= servers; server++) {
    blocked = (load * blocked) / (server + load * blocked);
  }
  const waits = blocked / (1 - (load / servers) * (1 - blocked));
  return (waits * meanHoldMs) / (servers - load);
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

describe("whatIf() with one more slot on a saturated pool", () => {
  const [gapMs, holdMs] = [1_000, 4_850];

  test("gives the waits of the textbook to the millisecond", async () => {
    const jobs = queueJobs(11, 1_500, gapMs, holdMs);
    await using recorded = await record([pool("slot", 5)], jobs, 100_000);
    const { total } = simulate(recorded, [pool("slot", 6)]);
    const [five, six] = [waitsBySchoolbook(jobs, 5), waitsBySchoolbook(jobs, 6)];
    expect(total.recorded.utilisation).toBeGreaterThan(0.9);
    expect(total.recorded.waitMs?.mean).toBeCloseTo(mean(five), 6);
    expect(total.simulated.waitMs?.mean).toBeCloseTo(mean(six), 6);
    expect(total.simulated.waitMs?.max).toBe(Math.max(...six));
    expect(mean(six)).toBeLessThan(mean(five) / 2);
  });

  /** A mean wait over many days varies by some percent. 15 % is a safe limit for these seeds. */
  test("agrees with Erlang's formula within 15 %", () => {
    const waits = [21, 22, 23].map((seed) => {
      const jobs = queueJobs(seed, 12_000, gapMs, holdMs);
      return mean(replayedWaits(jobs, pool("slot", 6)));
    });
    const wanted = erlangC(6, gapMs, holdMs);
    expect(Math.abs(mean(waits) - wanted) / wanted).toBeLessThan(0.15);
  });
});

/** No recording is needed if only the demand counts. */
function replayedWaits(jobs: readonly Demand[], slots: PoolSpec): number[] {
  const ended = jobs.map((job, index) => ({
    ...{ number: index + 1, id: job.id, claim: "1", holder: "ci", space: "default", pool: "slot" },
    ...{ resource: "slot-1", count: 1, priority: 0, askedAt: job.askedAt, askedSeq: index },
    ...{ grantedAt: job.askedAt, endedAt: job.askedAt + (job.ends[0]?.afterMs ?? 0) },
    ...{ waitedFor: null, how: "released", purpose: "use" as const, amount: null, asked: null },
  }));
  const to = (jobs.at(-1)?.askedAt ?? 0) + 10_000_000;
  const run = whatIf(
    { from: 0, to, pools: [slots] },
    { ended, open: [], sizes: [], upkeep: [], dirty: [] },
  );
  for (;;) {
    const step = run.next();
    if (step.done) return [step.value.total.simulated.waitMs?.mean ?? 0];
  }
}
