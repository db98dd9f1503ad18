import { describe, expect, test } from "vitest";
import { freeze } from "../../core/apply/snapshot.ts";
import { ClusterLending, clusterPool } from "../../core/clusters/clusters.suite.ts";
import {
  acquire,
  change,
  clean,
  Lending,
  pool,
  release,
  runTo,
} from "../../core/decide/lending.suite.ts";
import { pin } from "../../core/gates/gates.suite.ts";
import type { Command } from "../../core/model/command.ts";
import type { PoolName, RequestId, SpaceName } from "../../core/model/ids.ts";
import { defaultAdaptive } from "../../core/model/policy.ts";
import { anySpace } from "../../core/model/space.ts";
import type { Instant } from "../../core/model/time.ts";
import { capacityPool, vsphere, want } from "../../core/shared/capacity.suite.ts";
import type { Arrival, RecentArrivals } from "./arrival-samples.ts";
import { contestedParts } from "./components.ts";
import { estimate } from "./estimate.ts";
import { patient, runForward } from "./forward.ts";

const always = (holdMs: number) => Array.from({ length: 20 }, () => holdMs);

const noArrivals = { since: 0, ended: [] };
const noSamples = {
  ...{ holds: new Map(), upkeep: new Map(), cleanings: new Map() },
  arrivals: noArrivals,
};

interface Recorded {
  readonly seed?: number;
  readonly upkeep?: Record<string, readonly number[]>;
  readonly cleanings?: Record<string, readonly number[]>;
  readonly arrivals?: RecentArrivals;
}

/** Returns every estimate, in milliseconds from now. */
function estimates(
  lending: Lending,
  holds: Record<string, readonly number[]>,
  { seed = 1, upkeep = {}, cleanings = upkeep, arrivals = noArrivals }: Recorded = {},
) {
  const known = {
    holds: new Map(Object.entries(holds)),
    upkeep: new Map(Object.entries(upkeep)),
    cleanings: new Map(Object.entries(cleanings)),
    arrivals,
  };
  const found = contestedParts(lending.state).flatMap((part) =>
    estimate(part, known, lending.now, seed),
  );
  return Object.fromEntries(
    found.map(({ id, p50At, p90At }) => [id, [p50At - lending.now, p90At - lending.now]]),
  );
}

function later(lending: Lending, durationMs: number): void {
  lending.now = (lending.now + durationMs) as Instant;
}

describe("estimate()", () => {
  test("follows the queue: each grant is one hold and one cooldown after the one before", () => {
    const lending = new Lending(pool("aws", 1, { cooldownMs: 5_000 }));
    lending.do(acquire("a", "aws"));
    lending.outcome(
      acquire("b", "aws"),
      acquire("c", "aws"),
      acquire("urgent", "aws", { priority: 1 }),
    );
    later(lending, 20_000);
    expect(estimates(lending, { aws: always(60_000) })).toEqual({
      urgent: [45_000, 45_000],
      b: [110_000, 110_000],
      c: [175_000, 175_000],
    });
  });

  describe("expects that requests come as they came before, if these go ahead:", () => {
    const hourMs = 3_600_000;
    /** One came every ten minutes of the last hour, and has ended. */
    const recent = (now: number, ask: Partial<Arrival>): RecentArrivals => ({
      since: now - hourMs,
      ended: [10, 20, 30, 40, 50].map((minutes) => ({
        ...{ id: `past-${minutes}`, askedAt: now - minutes * 60_000, space: "", priority: 0 },
        ...{ items: [{ pool: "aws", count: 1 }], ...ask },
      })),
    });
    const holds = { aws: always(25 * 60_000) };

    function busy(...asks: readonly Command[]): Lending {
      const lending = new Lending(pool("aws", 1, { ttlMs: 10 * hourMs }));
      lending.now = hourMs as Instant;
      lending.do(acquire("held", "aws"));
      lending.outcome(...asks);
      return lending;
    }

    test("urgent ones, so two holds of others come before it", () => {
      const lending = busy(acquire("a", "aws"));
      expect(estimates(lending, holds)).toEqual({ a: [25 * 60_000, 25 * 60_000] });
      const arrivals = recent(lending.now, { priority: 1 });
      const [p50 = 0, p90 = 0] = estimates(lending, holds, { arrivals })["a"] ?? [];
      // In 25 minutes two or three of them come, and more while these hold.
      expect(p50).toBeGreaterThan(75 * 60_000);
      expect(p90).toBeGreaterThanOrEqual(p50);
    });

    test("those of other spaces, so that the time of a pace is not exact", () => {
      const [mine, other] = ["mine", "other"] as SpaceName[] as [SpaceName, SpaceName];
      const pools = [
        pool("lab", 1, { ttlMs: 10 * hourMs }),
        pool("aws", 9, {
          ...{ ttlMs: 10 * hourMs, patienceMs: hourMs },
          pace: { everyMs: 600_000, burst: 1, jitter: 0 },
        }),
      ];
      const lending = new Lending(...pools);
      lending.do({ type: "configure", pools, spaces: anySpace });
      lending.now = hourMs as Instant;
      lending.do(acquire("held", "lab", { space: mine }));
      lending.do(acquire("first", "aws", { space: other }));
      lending.outcome(acquire("a", "aws", { space: mine }));
      const arrivals = recent(lending.now, { space: other });
      const part = contestedParts(lending.state);
      const known = { ...noSamples, arrivals };
      const [found] = part.flatMap((one) => estimate(one, known, lending.now, 1));
      expect(found?.exact).toBe(false);
      expect((found?.p90At ?? 0) - lending.now).toBeGreaterThan(600_000);
    });

    test("small ones before a large one", () => {
      const lending = new Lending(
        capacityPool({ m: { capacity: { vcpus: 8 } } }, { patienceMs: hourMs }),
      );
      lending.now = hourMs as Instant;
      lending.do(want("held", { amount: { vcpus: 4 } }));
      lending.outcome(want("large", { amount: { vcpus: 8 } }));
      const items = [{ pool: vsphere, count: 1, amount: { vcpus: 4 } }];
      const known = { [vsphere]: always(5 * 60_000) };
      const [alone = 0] = estimates(lending, known)["large"] ?? [];
      const arrivals = recent(lending.now, { items });
      const [, p90 = 0] = estimates(lending, known, { arrivals })["large"] ?? [];
      expect([alone, p90 > alone]).toEqual([5 * 60_000, true]);
    });

    test("and not those that cannot go ahead", () => {
      const lending = busy(acquire("a", "aws"));
      const arrivals = recent(lending.now, {});
      expect(estimates(lending, holds, { arrivals })).toEqual(estimates(lending, holds));
    });
  });

  test("ends although a request that is never granted ages all the time", () => {
    const pools = [pool("aws", 1)];
    const lending = new Lending(...pools);
    const ageing = { everyMs: 10_000, step: 1, max: 10_000 };
    lending.do({ type: "configure", pools, priorities: { classes: {}, ageing } });
    lending.do(acquire("held", "aws"));
    for (let at = 0; at < 11; at++) lending.do(acquire(`r${at}`, "aws", { priority: -1_000 }));
    const [part] = contestedParts(lending.state).map(patient);
    if (part === undefined) throw new Error("Cannot run forward: nobody waits");
    const never = () => Number.POSITIVE_INFINITY;
    const future = runForward(part, lending.now, { hold: never, upkeep: never, work: never });
    expect([future.grants.size, future.steps]).toEqual([0, 4_000 + 6 * 12]);
  });

  test("expects one more cut of a rate that finds itself, and is exact only if the rate is pinned", () => {
    const adaptive = { ...defaultAdaptive, min: 1, max: 6, factor: 0.5 };
    const lending = new Lending(pool("install", 9, { adaptive }));
    lending.outcome(...["a", "b", "c", "d"].map((id) => acquire(id, "install")));
    // Six starts per minute; after a cut three. The next start is due already.
    expect(estimates(lending, {})).toEqual({
      b: [10_000, 10_000],
      c: [20_000, 30_000],
      d: [30_000, 50_000],
    });
    const forecasts = () =>
      contestedParts(lending.state).flatMap((part) =>
        estimate(part, noSamples, lending.now, 1).map(({ exact }) => exact),
      );
    expect(forecasts()).toEqual([true, false, false]);
    lending.do(pin("install", 6));
    expect(forecasts()).toEqual([true, true, true]);
  });

  test("follows the rules: gangs, maximum hold, lifetime, drained resources", () => {
    const lending = new Lending(
      pool("aws", 2),
      pool("slot", 1, { holdMs: 10_000 }),
      pool("gcp", 2, { lifetimeMs: 15_000 }),
    );
    lending.outcome(acquire("two", "aws:2"), acquire("installer", "slot aws"));
    lending.outcome(acquire("slots", "slot"), acquire("next", "slot"));
    lending.outcome(acquire("g1", "gcp:2"), acquire("g2", "gcp"));
    const found = estimates(lending, {
      ...{ aws: always(60_000), slot: always(60_000), gcp: always(90_000) },
    });
    expect(found).toEqual({
      installer: [60_000, 60_000], // It waits for the accounts, not for the slot.
      next: [10_000, 10_000],
      g2: [15_000, 15_000],
    });
  });

  test("follows amounts: a request waits until enough capacity is released", () => {
    const lending = new Lending(capacityPool({ m: { capacity: { vcpus: 10 } } }));
    lending.do(want("a", { amount: { vcpus: 6 } }));
    later(lending, 20_000);
    lending.do(want("b", { amount: { vcpus: 4 } }));
    lending.outcome(want("big", { amount: { vcpus: 10 } }), want("six", { amount: { vcpus: 6 } }));
    expect(estimates(lending, { vsphere: always(60_000) })).toEqual({
      six: [40_000, 40_000], // It is granted ahead of the big request, which is not starved yet.
      big: [100_000, 100_000],
    });
  });

  test("follows amounts: reserved capacity, sets and gangs", () => {
    const rooms = { m: { capacity: { vcpus: 4 } }, n: { capacity: { vcpus: 4 } } };
    const lending = new Lending(capacityPool(rooms, { patienceMs: 10_000 }));
    lending.outcome(want("a", { amount: { vcpus: 4 } }), want("b", { amount: { vcpus: 2 } }));
    lending.do(want("two", { count: 2, amount: { vcpus: 4 } }));
    lending.tickAt(10_000);
    lending.do(want("small", { amount: { vcpus: 2 } }));
    const group = { name: "g", size: 2 };
    lending.outcome(want("g1", { amount: { vcpus: 3 } }, { group }));
    lending.outcome(want("g2", { amount: { vcpus: 3 } }, { group }));
    expect(estimates(lending, { vsphere: always(60_000) })).toEqual({
      two: [50_000, 50_000],
      small: [110_000, 110_000],
      g1: [170_000, 170_000],
      g2: [170_000, 170_000],
    });
  });

  test("follows paces, and limits that other pools have used up", () => {
    const under = { parent: "account" as PoolName };
    const pace = { everyMs: 25_000, burst: 1, jitter: 0 };
    const lending = new Lending(
      pool("account", [], { limit: 1 }),
      pool("aws", 2, under),
      pool("set", 2, under),
      capacityPool({ m: { capacity: { vcpus: 9 } } }, { pace }),
    );
    lending.outcome(acquire("s", "set"), acquire("a", "aws"));
    lending.outcome(...["x", "y", "z"].map((id) => want(id, { amount: { vcpus: 1 } })));
    const holds = { set: always(60_000), aws: always(60_000), vsphere: always(60_000) };
    expect(estimates(lending, holds)).toEqual({
      a: [60_000, 60_000],
      y: [25_000, 25_000],
      z: [50_000, 50_000],
    });
  });

  test("follows the pace of a parent limit", () => {
    const under = { parent: "account" as PoolName };
    const pace = { everyMs: 25_000, burst: 1, jitter: 0 };
    const lending = new Lending(
      pool("account", [], { limit: 9, pace }),
      pool("aws", 3, under),
      pool("set", 3, under),
    );
    lending.outcome(acquire("s", "set"), acquire("a", "aws"), acquire("t", "set"));
    expect(estimates(lending, { set: always(60_000), aws: always(60_000) })).toEqual({
      a: [25_000, 25_000],
      t: [50_000, 50_000],
    });
  });

  test("is unknown if there are too few recorded holds, or nothing is ever released", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1, { onRelease: "dirty" }));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    lending.outcome(acquire("c", "gcp"), acquire("d", "gcp"));
    expect(estimates(lending, { aws: [1, 2, 3], gcp: always(1_000) })).toEqual({});
  });

  test("follows cleaning: a request waits for the hold and until the resource is free again", () => {
    const lending = new Lending(pool("aws", 1, { onRelease: "dirty", cooldownMs: 5_000 }));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), acquire("c", "aws"));
    later(lending, 20_000);
    const upkeep = { aws: always(30_000) };
    expect(estimates(lending, { aws: always(60_000) }, { upkeep })).toEqual({
      b: [75_000, 75_000],
      c: [170_000, 170_000],
    });
  });

  test.each([
    ["cooling, then dirty", 2_000, "release", 33_000],
    ["dirty", 15_000, "release", 20_000],
    ["being cleaned", 15_000, "clean", 10_000],
  ] as const)("begins with a resource that is %s", (_, atMs, last, leftMs) => {
    const lending = new Lending(pool("aws", 1, { onRelease: "dirty", cooldownMs: 5_000 }));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), release("a"));
    runTo(lending, Math.min(5_000, atMs));
    if (last === "clean") lending.do(clean("c"));
    runTo(lending, atMs);
    const found = estimates(
      lending,
      { aws: always(60_000) },
      { upkeep: { aws: always(30_000) }, cleanings: { aws: always(20_000) } },
    );
    expect(found).toEqual({ b: [leftMs, leftMs] });
  });

  test.each(["dirty", "being cleaned"])(
    "does not count on a resource whose cleaning failed and that is %s",
    (state) => {
      const cleaning = { retries: 9, backoffMs: 1_000 };
      const lending = new Lending(pool("aws", 2, { onRelease: "dirty", cleaning }));
      lending.outcome(acquire("a", "aws"), acquire("held", "aws"), acquire("b", "aws"));
      lending.outcome(release("a"), clean("c"));
      lending.do({ type: "release", id: "c" as RequestId, failure: "no route" });
      runTo(lending, 1_000);
      if (state === "being cleaned") lending.do(clean("c2"));
      const upkeep = { aws: always(3_000) };
      const cleanAfterMs = 3_000;
      expect(estimates(lending, { aws: always(60_000) }, { upkeep })).toEqual({
        b: [59_000 + cleanAfterMs, 59_000 + cleanAfterMs],
      });
    },
  );

  test("is the same for the same seed, and differs a little for another", () => {
    const lending = new Lending(pool("aws", 2));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    for (let number = 0; number < 9; number++) lending.do(acquire(`w${number}`, "aws"));
    const aws = Array.from({ length: 50 }, (_, index) => 1_000 + 997 * index);
    const [four, five] = [{ seed: 4 }, { seed: 5 }];
    expect(estimates(lending, { aws }, four)).toEqual(estimates(lending, { aws }, four));
    expect(estimates(lending, { aws }, four)).not.toEqual(estimates(lending, { aws }, five));
  });

  test("does not change the given state", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    const before = JSON.stringify(freeze(lending.state));
    estimates(lending, { aws: always(1_000) });
    expect(JSON.stringify(freeze(lending.state))).toBe(before);
  });
});

describe("estimate() for clusters", () => {
  const minute = 60_000;

  /** One that sleeps. Its creation took 40 minutes, its last resume 5. */
  function oneAsleep(): ClusterLending {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1, running: 1 }));
    later(lending, 40 * minute);
    lending.workAll();
    for (const running of [0, 1, 0]) {
      lending.configure(clusterPool("ocp", { size: 1, running }));
      later(lending, 5 * minute);
      lending.workAll();
    }
    return lending;
  }

  test("waits for the cluster that wakes up, and then for one that is made", () => {
    const lending = oneAsleep();
    lending.outcome(acquire("first", "ocp"), acquire("second", "ocp"));
    const { first = [], second = [] } = estimates(lending, {});
    const [least, most] = [0.75 * 5 * minute, 1.5 * 5 * minute];
    for (const at of first) expect(at).toSatisfy((one: number) => one >= least && one <= most);
    const [p50 = 0, p90 = 0] = second;
    expect(p50).toBeGreaterThan(0.75 * 40 * minute);
    expect(p90).toBeLessThan(1.5 * 40 * minute);
    expect(p90).toBeGreaterThan(p50);
  });

  test("counts the time that a worker has spent already", () => {
    const lending = oneAsleep();
    lending.do(acquire("first", "ocp"));
    lending.take("resuming");
    later(lending, 4 * minute);
    const [p50 = 0, p90 = 0] = estimates(lending, {})["first"] ?? [];
    expect(p50).toBeLessThan(3 * minute);
    expect(p90).toBeLessThan(3.5 * minute);
    later(lending, 6 * minute);
    expect(estimates(lending, {})["first"]).toEqual([0.5 * minute, 0.5 * minute]);
  });

  test("says nothing before the first cluster was made", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    lending.do(acquire("first", "ocp"));
    expect(estimates(lending, {})).toEqual({});
  });
});

describe("estimate() with spaces", () => {
  const defined = (costMax?: number) => {
    const policy = { weight: 1, quotas: [], ...(costMax === undefined ? undefined : { costMax }) };
    return { ...anySpace, spaces: [{ name: "web" as SpaceName, policy }] };
  };
  const web = { space: "web" as SpaceName };
  const api = { space: "api" as SpaceName };

  test("counts what a space holds of pools that nobody waits for", () => {
    const pools = [pool("aws", 1), pool("quiet", 4)];
    const lending = new Lending(...pools);
    lending.do({ type: "configure", pools, spaces: defined() });
    const ops = { space: "ops" as SpaceName };
    lending.outcome(acquire("a", "aws", ops), acquire("b", "quiet:2", web));
    lending.outcome(acquire("first", "aws", web), acquire("second", "aws", api));
    expect(estimates(lending, { aws: always(60_000), quiet: always(60_000) })).toEqual({
      second: [60_000, 60_000],
      first: [120_000, 120_000],
    });
    lending.outcome(release("a"));
    expect([...lending.state.requests.keys()]).toEqual(["first"]);
  });

  test("counts the costs of a space in pools that nobody waits for", () => {
    const pools = [pool("aws", 1), pool("quiet", 4, { cost: 5 }), pool("dear", 2, { cost: 5 })];
    const lending = new Lending(...pools);
    lending.do({ type: "configure", pools, spaces: defined(10) });
    lending.outcome(acquire("b", "quiet:2", web), acquire("first", "dear", web));
    expect([...lending.state.requests.keys()]).toEqual(["first"]);
    expect(estimates(lending, { dear: always(60_000), quiet: always(60_000) })).toEqual({});
  });
});

describe("contestedParts()", () => {
  test("returns each group of pools separately, and only where a request waits", () => {
    const lending = new Lending(
      pool("a", 1),
      pool("b", 1),
      pool("c", 1),
      pool("d", 1),
      pool("e", 1),
    );
    lending.outcome(acquire("1", "a b"), acquire("2", "a"), acquire("3", "c"), acquire("4", "c"));
    lending.outcome(acquire("5", "d"), change("e-1", { drained: true }), acquire("6", "e"));
    const parts = contestedParts(lending.state);
    expect(parts.map(({ pools }) => pools.map(({ name }) => name))).toEqual([
      ["a", "b"],
      ["c"],
      ["e"],
    ]);
    expect(parts.map(({ requests }) => requests.map(({ id }) => id))).toEqual([
      ["2"],
      ["4"],
      ["6"],
    ]);
    lending.outcome(release("1"), release("3"), release("4"));
    expect(contestedParts(lending.state)).toHaveLength(1);
  });

  test("copies nothing of requests that have ended, and no key of a client", () => {
    const lending = new Lending(pool("a", 1), pool("b", 1));
    for (const name of ["old-1", "old-2", "old-3"]) {
      lending.outcome(acquire(name, "b", { key: `key of ${name}` }), release(name));
    }
    lending.outcome(acquire("1", "a"), acquire("2", "a", { key: "key of 2" }));
    const [part] = contestedParts(lending.state);
    expect(part).not.toHaveProperty("oddKeys");
    expect(JSON.stringify(part)).not.toContain("old-");
  });
});
