/**
 * What-if with the configuration unchanged, for each kind of pool: a real broker runs some days on a
 * virtual clock and records them, and the replay must have the same waits, holds and use.
 */
import { describe, expect, test } from "vitest";
import type { Tenancy } from "../../core/decide/configure.ts";
import { pool } from "../../core/decide/lending.suite.ts";
import type { PoolName, SpaceName } from "../../core/model/ids.ts";
import { defaultAdaptive, type PoolPolicy, type PoolSpec } from "../../core/model/policy.ts";
import { capacityPool } from "../../core/shared/capacity.suite.ts";
import { answerQuery } from "../answer-query.ts";
import { Random } from "../forecast/random.ts";
import type { AskedItem } from "../history/entry.ts";
import type { StatsPart } from "../history/stats.ts";
import type { Demand, DemandEnd } from "./demand.ts";
import { type Recorded, record, simulate, type TestJanitor } from "./recorded-days.suite.ts";
import { parseSetting, withSettings } from "./settings.ts";
import type { WhatIf } from "./what-if.ts";

const exponential = (random: Random, mean: number) =>
  Math.max(1, Math.round(-Math.log(1 - random.next()) * mean));

interface Kind {
  readonly seed: number;
  readonly gapMs?: number;
  readonly holdMs?: number;
  readonly more?: (random: Random, index: number) => Partial<Demand>;
}

/** 200 jobs, some of which have a higher priority, leave the queue, die or are revoked. */
function jobs(items: (random: Random) => readonly AskedItem[], kind: Kind): Demand[] {
  const { seed, gapMs = 900, holdMs = 3_500, more = () => ({}) } = kind;
  const random = new Random(seed);
  let askedAt = 0;
  return Array.from({ length: 200 }, (_, index) => {
    askedAt += exponential(random, gapMs);
    const afterMs = exponential(random, holdMs);
    return {
      ...{ id: `job${index}`, holder: "ci", items: items(random), askedAt, order: index },
      priority: random.chance(0.2) ? 5 : 0,
      patienceMs: random.chance(0.1) ? 2_000 : null,
      ends: [{ claim: null, afterMs, ...endOf(random) }],
      ...more(random, index),
    };
  });
}

function endOf(random: Random): Pick<DemandEnd, "forced" | "revoked"> {
  if (random.chance(0.1)) return { forced: true };
  return random.chance(0.1) ? { forced: false, revoked: true } : { forced: false };
}

/** Some requests waited, and the replay has the same figures in every pool. */
function expectSame(recorded: Recorded, pools: readonly PoolSpec[], tenancy: Tenancy = {}): void {
  const { total, pools: each, requests, refused } = simulate(recorded, pools, { tenancy });
  expect([requests, refused]).toEqual([200, 0]);
  expect(total.recorded.waitMs?.p90, "there is something to wait for").toBeGreaterThan(500);
  for (const { pool: name, recorded: real, simulated } of each) {
    expect({ name, ...withoutUpkeep(simulated) }).toEqual({ name, ...withoutUpkeep(real) });
  }
  expect(withoutUpkeep(total.simulated)).toEqual(withoutUpkeep(total.recorded));
}

/** The replay has one cleaning from dirty to free, whatever the number of tries was. */
function withoutUpkeep({ upkeep: _, ...part }: StatsPart): Omit<StatsPart, "upkeep"> {
  return part;
}

const hypervisors = {
  h1: { capacity: { vcpus: 16, memory: 64 }, labels: { zone: "a" } },
  h2: { capacity: { vcpus: 16, memory: 64 }, labels: { zone: "b" }, overcommit: { vcpus: "1.5" } },
};

function vm(random: Random): AskedItem[] {
  const amount = { vcpus: random.between(1, 8), memory: random.between(4, 40) };
  if (random.chance(0.2)) return [{ pool: "vsphere", count: 2, amount }];
  const selector = random.chance(0.2) ? { selector: { zone: "a" } } : undefined;
  return [{ pool: "vsphere", count: 1, amount, ...selector }];
}

describe("what-if with spaces", () => {
  const pools = [pool("slot", 4, { lockDelayMs: 0 }), pool("far", 2, { lockDelayMs: 0 })];
  const oneOrBoth = (random: Random): AskedItem[] => {
    const slot = { pool: "slot", count: 1 };
    return random.chance(0.2) ? [slot, { pool: "far", count: 1 }] : [slot];
  };
  /** Most requests are of one space; two others ask now and then. */
  const more = (random: Random) => {
    const space = random.chance(0.7) ? "big" : random.chance(0.5) ? "small" : "tiny";
    return { space, priority: random.chance(0.3) ? -3 : 0 };
  };
  const named = (name: string) => name as SpaceName;
  const slots = (max: number) => [{ pool: "slot" as PoolName, max }];
  const tenancy: Tenancy = {
    spaces: {
      spaces: [
        { name: named("big"), policy: { weight: 1, quotas: slots(3) } },
        { name: named("small"), policy: { weight: 3, quotas: [] } },
      ],
      others: { weight: 1, quotas: [] },
    },
    priorities: { classes: {}, ageing: { everyMs: 10_000, step: 1, max: 0 } },
  };

  test.each([31, 32, 33])("reproduces shares, quotas and ageing (seed %i)", async (seed) => {
    await using recorded = await record(
      pools,
      jobs(oneOrBoth, { seed, gapMs: 800, more }),
      1_000,
      undefined,
      tenancy,
    );
    expectSame(recorded, pools, tenancy);
    const equal = simulate(recorded, pools);
    expect(equal.total.simulated.waitMs).not.toEqual(equal.total.recorded.waitMs);
  });

  test("replays other quotas, and says what its shares count", async () => {
    const given = jobs(oneOrBoth, { seed: 34, gapMs: 800, more });
    await using recorded = await record(pools, given, 1_000, undefined, tenancy);
    const policy = { weight: 1, quotas: slots(1), waitingMax: 0, pools: ["nothing"] };
    const tighter = { spaces: { spaces: [{ name: named("big"), policy }], others: null } };
    const { total, refused, unknowns } = simulate(recorded, pools, { tenancy: tighter });
    expect(refused).toBe(0);
    expect(total.simulated.waitMs?.mean).toBeGreaterThan((total.recorded.waitMs?.mean ?? 0) * 2);
    expect(unknowns.join(" ")).toContain("Shares count what spaces held of the other pools");
  });

  describe("one pool in the turns that what spaces held of others gave", () => {
    const others = { weight: 1, quotas: [] };
    const given = jobs(() => [{ pool: "slot", count: 1 }], {
      ...{ seed: 35, gapMs: 800 },
      more: (random) => ({ space: random.chance(0.5) ? "big" : "small", priority: 0 }),
    });
    // Nobody else uses it, and its users wait for slots behind all others.
    const own = given
      .filter((_, index) => index % 10 === 0)
      .map((job, index) => ({
        ...{ ...job, id: `own${index}`, items: [{ pool: "own", count: 4 }], space: "small" },
        ends: [{ claim: null, afterMs: 30_000, forced: false }],
      }));
    const all = [...given, ...own].toSorted((a, b) => a.askedAt - b.askedAt);
    const three = [...pools, pool("own", 8, { lockDelayMs: 0 })];

    /** As the server reads it: what ended in the replayed pools, and the rest only on demand. */
    async function asServer({ reader, start, end }: Recorded, what: Partial<WhatIf>) {
      const whatIf = { from: start, to: end, pools: three, ...what };
      const none = () => {
        throw new Error("Cannot read it: a what-if reads the history only");
      };
      const sources = { history: () => reader, audit: none, journal: none };
      return answerQuery(sources, "simulate", { whatIf, entriesMax: 1_000 });
    }

    test.each([
      [
        "that the command reads",
        others,
        async (past: Recorded, what: Partial<WhatIf>) => simulate(past, three, what),
      ],
      ["that the server reads", others, asServer],
      ["with a lifetime that no lease reached", { ...others, lifetimeMs: 40_000 }, asServer],
    ] as const)("%s", async (_, policy, replay) => {
      const both = { spaces: { spaces: [], others: policy } };
      await using recorded = await record(three, all, 1_000, undefined, both);
      const waits = new Map<string, readonly [real: number, made: number]>();
      for (const space of ["small", "big"]) {
        const { pools: compared } = await replay(recorded, {
          tenancy: both,
          changed: ["slot"],
          space,
        });
        expect(compared.map((one) => one.pool)).toEqual(["slot"]);
        const [slot] = compared;
        waits.set(space, [slot?.recorded.waitMs?.mean ?? 0, slot?.simulated.waitMs?.mean ?? 0]);
      }
      const [small = 0, big = 0] = [waits.get("small")?.[0], waits.get("big")?.[0]];
      expect(small, "the turns are not those of the slots alone").toBeGreaterThan(big * 1.5);
      for (const [real, made] of waits.values()) {
        expect(Math.abs(made - real) / real).toBeLessThan(0.1);
      }
    });
  });
});

describe("what-if with a shared pool", () => {
  const oneVm = (random: Random) => vm(random).map((item) => ({ ...item, count: 1 }));
  const shared = (policy: Partial<PoolPolicy> = {}) =>
    capacityPool(hypervisors, { lockDelayMs: 0, patienceMs: 2_000, ...policy });

  test.each([1, 2, 3])("reproduces waits and the use of each dimension (seed %i)", async (seed) => {
    await using recorded = await record([shared()], jobs(oneVm, { seed, holdMs: 6_000 }));
    expectSame(recorded, [shared()]);
    const { total } = simulate(recorded, [shared()]);
    expect(total.recorded.dimensions.map(({ name }) => name)).toEqual(["memory", "vcpus"]);
    const most = Math.max(...total.recorded.dimensions.map(({ utilisation }) => utilisation));
    expect(total.recorded.utilisation).toBeCloseTo(most, 9);
    expect(most).toBeGreaterThan(0.4);
    expect(most).toBeLessThanOrEqual(1);
  });

  test("reproduces it from a moment at which some hold shares", async () => {
    await using recorded = await record([shared()], jobs(oneVm, { seed: 4, holdMs: 6_000 }));
    const from = recorded.start + 60_000;
    const { total, refused } = simulate(recorded, [shared()], { from });
    expect(refused).toBe(0);
    // How long a request that waits at that moment may still be overtaken is counted from there.
    const difference = (real: number, made: number) => Math.abs(made - real) / real;
    expect(difference(total.recorded.granted, total.simulated.granted)).toBeLessThan(0.03);
    const [real, made] = [total.recorded.waitMs?.mean ?? 0, total.simulated.waitMs?.mean ?? 0];
    expect(difference(real, made)).toBeLessThan(0.1);
    expect(total.simulated.utilisation).toBeCloseTo(total.recorded.utilisation ?? 0, 1);
  });

  test("replays another strategy, with all of the demand", async () => {
    await using recorded = await record([shared()], jobs(oneVm, { seed: 5, holdMs: 6_000 }));
    const packed = withSettings([shared()], [parseSetting("vsphere.place=pack", ["vsphere"])]);
    const { total, requests, refused } = simulate(recorded, packed, { changed: ["vsphere"] });
    expect([requests, refused]).toEqual([200, 0]);
    expect(total.simulated.asked).toBe(total.recorded.asked);
    expect(total.simulated.granted).toBeGreaterThan(0.9 * total.recorded.granted);
    expect(total.simulated.waitMs).not.toEqual(total.recorded.waitMs);
  });

  test("says how many requests could never be granted with less capacity", async () => {
    await using recorded = await record([shared()], jobs(oneVm, { seed: 6, holdMs: 6_000 }));
    const small = capacityPool({
      h1: { capacity: { vcpus: 4, memory: 64 }, labels: { zone: "a" } },
    });
    const { requests, refused } = simulate(recorded, [small]);
    expect(refused).toBeGreaterThan(50);
    expect(requests + refused).toBe(200);
  });

  test("counts the use of all pools by amounts too, not by claims", async () => {
    const pools = [shared({ patienceMs: 2_000 }), pool("slot", 2)];
    const either = (random: Random) =>
      random.chance(0.8) ? oneVm(random) : [{ pool: "slot", count: 1 }];
    await using recorded = await record(pools, jobs(either, { seed: 7, holdMs: 6_000 }));
    expectSame(recorded, pools);
    const { total } = simulate(recorded, pools);
    expect(total.recorded.utilisation).toBeGreaterThan(0.2);
    expect(total.recorded.utilisation).toBeLessThanOrEqual(1);
  });
});

describe("what-if with an exclusive pool whose resources are selected by label and name", () => {
  const labelled = (): PoolSpec => {
    const { members, ...spec } = pool("aws", 4);
    const zone = (index: number) => ({ zone: index < 3 ? "a" : "b" });
    return { ...spec, members: members.map((one, index) => ({ ...one, labels: zone(index) })) };
  };
  const one = (random: Random): AskedItem[] => {
    const selection = random.chance(0.2)
      ? { resource: `aws-${random.between(1, 4)}` }
      : random.chance(0.6)
        ? { selector: { zone: random.chance(0.3) ? "b" : "a" } }
        : undefined;
    return [{ pool: "aws", count: 1, ...selection }];
  };

  test.each([1, 2, 3])("reproduces the waits (seed %i)", async (seed) => {
    await using recorded = await record([labelled()], jobs(one, { seed, holdMs: 3_000 }));
    expectSame(recorded, [labelled()]);
  });

  test("reproduces them from a moment at which leases are held", async () => {
    await using recorded = await record([labelled()], jobs(one, { seed: 4, holdMs: 3_000 }));
    const { total, refused } = simulate(recorded, [labelled()], { from: recorded.start + 60_000 });
    expect(refused).toBe(0);
    expect(total.simulated.waitMs).toEqual(total.recorded.waitMs);
  });

  test("counts requests that a smaller pool could never serve, and moves held leases", async () => {
    await using recorded = await record([labelled()], jobs(one, { seed: 5, holdMs: 3_000 }));
    const { members, ...spec } = labelled();
    const small = { ...spec, members: members.slice(0, 3) };
    const { requests, refused } = simulate(recorded, [small], { from: recorded.start + 60_000 });
    expect(refused).toBeGreaterThan(10);
    expect(requests).toBeGreaterThan(50);
  });
});

describe("what-if with several items", () => {
  test("reproduces leases over an exclusive and a shared pool, released claim by claim", async () => {
    const pools = [capacityPool(hypervisors, { lockDelayMs: 0 }), pool("aws", 3)];
    const items = (random: Random) => [{ pool: "aws", count: 1 }, ...vm(random)];
    const more = (random: Random) => {
      const afterMs = exponential(random, 4_000);
      return {
        ends: [
          { claim: "1", afterMs: Math.ceil(afterMs / 2), forced: false },
          { claim: null, afterMs, forced: false },
        ],
      };
    };
    await using recorded = await record(pools, jobs(items, { seed: 8, more }));
    expectSame(recorded, pools);
  });

  test("reproduces requests that take any of two pools", async () => {
    const pools = [pool("aws", 3), pool("gcp", 2)];
    const items = (random: Random) => [
      random.chance(0.5)
        ? { pool: "aws", anyOf: ["gcp"], count: 1 }
        : { pool: random.pick(["aws", "gcp"]), count: 1 },
    ];
    await using recorded = await record(pools, jobs(items, { seed: 9, holdMs: 5_000 }));
    expectSame(recorded, pools);
  });
});

describe("what-if with groups", () => {
  const group = (_: Random, index: number): Partial<Demand> => ({
    group: { name: `g${Math.floor(index / 2)}`, size: 2 },
    ...{ patienceMs: null, priority: 0 },
  });

  test("reproduces groups that are granted together", async () => {
    const pools = [pool("aws", 4)];
    const items = () => [{ pool: "aws", count: 1 }];
    await using recorded = await record(pools, jobs(items, { seed: 10, more: group }));
    expectSame(recorded, pools);
  });

  test("reproduces groups in a shared pool", async () => {
    const pools = [capacityPool(hypervisors, { lockDelayMs: 0 })];
    const items = (random: Random) => [
      { pool: "vsphere", count: 1, amount: { vcpus: random.between(1, 8), memory: 4 } },
    ];
    await using recorded = await record(pools, jobs(items, { seed: 11, more: group }));
    expectSame(recorded, pools);
  });

  test("replays the pool of the other member of a group too", async () => {
    const pools = [pool("aws", 2), pool("gcp", 1)];
    let next = 0;
    const items = () => [{ pool: next++ % 2 === 0 ? "aws" : "gcp", count: 1 }];
    await using recorded = await record(pools, jobs(items, { seed: 12, more: group }));
    const { pools: each } = simulate(recorded, [pool("aws", 2), pool("gcp", 2)], {
      changed: ["gcp"],
    });
    expect(each.map(({ pool: name }) => name)).toEqual(["aws", "gcp"]);
  });
});

describe("what-if with paces and limits", () => {
  const pace = { everyMs: 1_500, burst: 2, jitter: 0.4 };

  test.each([13, 14])("reproduces a paced pool with jitter (seed %i)", async (seed) => {
    const pools = [pool("aws", 6, { pace })];
    const items = () => [{ pool: "aws", count: 1 }];
    await using recorded = await record(pools, jobs(items, { seed, gapMs: 1_300 }));
    expectSame(recorded, pools);
  });

  test("reproduces pools that share a limit and a pace", async () => {
    const under = { parent: "account" as PoolName };
    const pools = [
      pool("account", [], { limit: 3, pace }),
      pool("aws", 3, under),
      pool("gcp", 3, under),
    ];
    const items = (random: Random) => [{ pool: random.pick(["aws", "gcp"]), count: 1 }];
    await using recorded = await record(pools, jobs(items, { seed: 15, gapMs: 1_700 }));
    expectSame(recorded, pools);
  });
});

test("what-if reproduces cooldowns and lock-delays", async () => {
  const pools = [pool("aws", 5, { cooldownMs: 1_700, lockDelayMs: 4_000 })];
  const items = () => [{ pool: "aws", count: 1 }];
  await using recorded = await record(pools, jobs(items, { seed: 16 }));
  expectSame(recorded, pools);
});

describe("what-if with a janitor", () => {
  const items = () => [{ pool: "aws", count: 1 }];
  const cleaning = { retries: 3, backoffMs: 500 };
  const dirty = (policy: Partial<PoolPolicy> = {}) =>
    pool("aws", 8, { onRelease: "dirty", onExpire: "dirty", cleaning, ...policy });

  /** One cleaning in ten fails. */
  function janitor(seed: number, parallel = 8): TestJanitor {
    const random = new Random(seed);
    return {
      ...{ pool: "aws", parallel },
      next: () => {
        const durationMs = exponential(random, 2_000);
        return random.chance(0.1) ? { durationMs, failure: "exit 1" } : { durationMs };
      },
    };
  }

  test.each([
    ["at once", 17, dirty(), 8],
    ["one after the other", 18, dirty({ cooldownMs: 200 }), 2],
    ["after a cooldown", 19, dirty({ cooldownMs: 1_700, lockDelayMs: 4_000 }), 8],
  ] as const)("reproduces cleaning %s", async (_, seed, spec, parallel) => {
    await using recorded = await record(
      [spec],
      jobs(items, { seed }),
      1_000,
      janitor(seed, parallel),
    );
    expectSame(recorded, [spec]);
    const { pools: each } = simulate(recorded, [spec]);
    expect(each[0]?.recorded.granted).toBeGreaterThan(120);
  });

  test("reproduces a pool in which accounts are quarantined until the end", async () => {
    const random = new Random(20);
    const failing: TestJanitor = {
      ...{ pool: "aws", parallel: 8 },
      next: () => ({ durationMs: 800, ...(random.chance(0.25) ? { failure: "exit 1" } : {}) }),
    };
    const spec = dirty({ cleaning: { retries: 2, backoffMs: 500 } });
    await using recorded = await record([spec], jobs(items, { seed: 20 }), 1_000, failing);
    const { pools: each } = simulate(recorded, [spec]);
    for (const { recorded: real, simulated } of each) {
      expect(simulated.waitMs).toEqual(real.waitMs);
      expect(simulated.granted).toBe(real.granted);
      expect(simulated.utilisation).toBe(real.utilisation);
    }
  });

  test("reproduces it from a moment at which some accounts are dirty", async () => {
    const spec = dirty();
    await using recorded = await record([spec], jobs(items, { seed: 21 }), 1_000, janitor(21, 3));
    const { total } = simulate(recorded, [spec], { from: recorded.start + 60_000 });
    const [real, made] = [total.recorded.waitMs?.mean ?? 0, total.simulated.waitMs?.mean ?? 0];
    expect(total.simulated.granted).toBe(total.recorded.granted);
    expect(Math.abs(made - real) / real).toBeLessThan(0.02);
  });

  test("cleans in a larger pool too, and takes the usual time where none is recorded", async () => {
    const spec = dirty();
    await using recorded = await record([spec], jobs(items, { seed: 22 }), 1_000, janitor(22));
    const larger = pool("aws", 12, spec.policy);
    const { total } = simulate(recorded, [larger], { changed: ["aws"] });
    expect(total.simulated.granted).toBeGreaterThanOrEqual(total.recorded.granted);
    expect(total.simulated.waitMs?.mean ?? 0).toBeLessThan(total.recorded.waitMs?.mean ?? 0);
    const kept = pool("aws", 8, { ...spec.policy, onRelease: "free", onExpire: "free" });
    const free = simulate(recorded, [kept], { changed: ["aws"], inForce: [spec] });
    expect(free.total.simulated.upkeep.cleaned).toBe(0);
  });

  test("reproduces holders that release their resource as dirty themselves", async () => {
    const spec = pool("aws", 8);
    const more = (random: Random): Partial<Demand> => {
      const afterMs = exponential(random, 3_500);
      return { ends: [{ claim: null, afterMs, forced: false, state: "dirty" }] };
    };
    await using recorded = await record(
      [spec],
      jobs(items, { seed: 23, more }),
      1_000,
      janitor(23),
    );
    expectSame(recorded, [spec]);
  });
});

test("what-if says what it cannot replay of admission checks and adaptive rates", async () => {
  const admission = { by: "a cluster" };
  const adaptive = { ...defaultAdaptive, mode: "auto" as const, min: 1, max: 60 };
  const pools = [pool("aws", 5, { admission }), pool("gcp", 5, { adaptive })];
  const items = (random: Random) => [{ pool: random.pick(["aws", "gcp"]), count: 1 }];
  await using recorded = await record(pools, jobs(items, { seed: 24 }));
  const { unknowns } = simulate(recorded, pools);
  expect(unknowns.join("\n")).toContain("Pool aws has an admission check");
  expect(unknowns.join("\n")).toContain("Pool gcp has an adaptive start rate");
});

test("what-if reproduces a dynamic pool whose resources are cleaned", async () => {
  const dynamic = { min: 1, max: 6, state: "free", lifespanMs: null };
  const pools = [pool("aws", [], { onRelease: "dirty", onExpire: "dirty", dynamic })];
  const random = new Random(25);
  const janitor = {
    pool: "aws",
    parallel: 8,
    next: () => ({ durationMs: exponential(random, 900) }),
  };
  const items = () => [{ pool: "aws", count: 1 }];
  await using recorded = await record(pools, jobs(items, { seed: 25 }), 1_000, janitor);
  expectSame(recorded, pools);
});
