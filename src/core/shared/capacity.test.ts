import { describe, expect, test } from "vitest";
import { checkSnapshot, checkState } from "../../../sim/invariants.ts";
import { acquire, change, Lending, leave, pool, release } from "../decide/lending.suite.ts";
import { explainNeeds } from "../explain/explain.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { amounts, capacityPool, partsHeld, seedPools, used, want } from "./capacity.suite.ts";

const seed = { amount: amounts(24, 96, 700) };

function waitingFor(lending: Lending, id: string) {
  const request = lending.state.requests.get(id as RequestId);
  if (request === undefined) throw new Error(`Cannot explain ${id}: it does not wait`);
  return request;
}

describe("shares of the seed's three pools", () => {
  test("are lent in the order of the worked example, and the ninth waits", () => {
    const lending = new Lending(seedPools());
    const granted = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => {
      lending.do(want(`r${number}`, seed));
      checkState(lending.state, lending.now);
      return lending.held(`r${number}`)?.[0];
    });
    expect(granted).toEqual([
      ...["pool1", "pool2", "pool3", "pool1", "pool1", "pool2", "pool1", "pool1"],
      undefined,
    ]);
    expect(used(lending, "pool1")).toEqual({ vcpus: 120, memory: 480, storage: 3_500 });
    checkSnapshot(lending.state);
    lending.do(release("r3"));
    expect(lending.held("r9")).toEqual(["pool3"]);
  });

  test("are spread over as many vCenters as are asked for, all or nothing", () => {
    const lending = new Lending(seedPools());
    const ask = (id: string, count: number) => {
      lending.do(want(id, { ...seed, count, spread: "vcenter" }, { nowOnly: true }));
      return lending.held(id);
    };
    expect(ask("a", 2)).toEqual(["pool1", "pool2"]);
    expect(ask("b", 2)).toEqual(["pool3", "pool1"]);
    expect(ask("c", 2)).toEqual(["pool1", "pool2"]);
    const before = JSON.stringify(["pool1", "pool2", "pool3"].map((name) => used(lending, name)));
    expect(ask("d", 2)).toBeUndefined();
    expect(JSON.stringify(["pool1", "pool2", "pool3"].map((name) => used(lending, name)))).toBe(
      before,
    );
    expect(ask("e", 1)).toEqual(["pool1"]);
  });

  test("of other sizes go where they fit exactly", () => {
    const lending = new Lending(seedPools());
    lending.do(want("a", { amount: amounts(100, 96, 700) }));
    lending.do(want("b", { amount: amounts(100, 96, 700) }, { nowOnly: true }));
    lending.do(want("c", { amount: amounts(50, 800, 100) }));
    expect([lending.held("a"), lending.held("b"), lending.held("c")]).toEqual([
      ["pool1"],
      undefined,
      ["pool2"],
    ]);
  });
});

describe("never satisfiable", () => {
  const refusalOf = (lending: Lending, ...asked: Parameters<typeof want>) =>
    lending.outcome(want(...asked));

  test("says what the largest eligible resource has", () => {
    const lending = new Lending(seedPools());
    expect(refusalOf(lending, "a", { amount: { vcpus: 500 } })).toEqual({
      type: "refused",
      refusal: {
        code: "amount_too_large",
        pool: "vsphere",
        dimension: "vcpus",
        asked: 500,
        largest: 120,
      },
    });
    // No resource has this much storage, although two have the vcpus.
    expect(refusalOf(lending, "b", { amount: { vcpus: 50, storage: 20_000 } })).toMatchObject({
      refusal: { dimension: "storage", largest: 10_000 },
    });
  });

  test("names the dimensions, and the nearest one", () => {
    const lending = new Lending(seedPools());
    const known = ["vcpus", "memory", "storage"];
    expect(refusalOf(lending, "a", {})).toMatchObject({
      refusal: { code: "amount_missing", pool: "vsphere", known },
    });
    expect(refusalOf(lending, "b", { amount: { vcpu: 1 } })).toMatchObject({
      refusal: { code: "dimension_unknown", dimension: "vcpu", nearest: "vcpus", known },
    });
    expect(refusalOf(lending, "c", { amount: { vcpus: 1, gpus: 1 } })).toMatchObject({
      refusal: { code: "dimension_unknown", dimension: "gpus", known },
    });
  });

  test("names the nearest resource if none has enough of everything", () => {
    const lean = { capacity: { vcpus: 100, memory: 10 } };
    const fat = { capacity: { vcpus: 10, memory: 100 } };
    const lending = new Lending(capacityPool({ lean, fat }));
    expect(refusalOf(lending, "a", { amount: { vcpus: 50, memory: 50 } })).toMatchObject({
      refusal: { code: "amount_too_large", dimension: "memory", largest: 10, resource: "lean" },
    });
  });

  test("counts those that could be had at once", () => {
    const lending = new Lending(seedPools());
    const amount = { vcpus: 1 };
    const four = { count: 4, spread: "vcenter", amount };
    expect(refusalOf(lending, "a", four)).toMatchObject({
      refusal: { code: "too_few_eligible", asked: 4, possible: 3 },
    });
    expect(refusalOf(lending, "b", { amount, selector: { region: "x" } })).toMatchObject({
      refusal: {
        code: "too_few_eligible",
        possible: 0,
        eligible: 0,
        total: 3,
        unfit: { label: 3 },
      },
    });
    expect(refusalOf(lending, "c", { amount, resource: "pool9" })).toMatchObject({
      refusal: { unfit: { not_the_one: 3 } },
    });
  });

  test("a cordon is no impossibility", () => {
    const lending = new Lending(seedPools());
    for (const name of ["pool1", "pool2", "pool3"]) lending.do(change(name, { drained: true }));
    expect(lending.outcome(want("a", { amount: { vcpus: 100 } }))).toMatchObject({
      type: "waiting",
      request: { reason: { code: "none_usable" } },
    });
    lending.do(change("pool1", { drained: false }));
    expect(lending.held("a")).toEqual(["pool1"]);
  });

  test("items that fit alone but never together are refused", () => {
    const lending = new Lending(capacityPool({ one: { capacity: { vcpus: 10 } } }));
    expect(
      refusalOf(lending, "a", [{ amount: { vcpus: 6 } }, { amount: { vcpus: 6 } }]),
    ).toMatchObject({ refusal: { code: "never_fits_together", items: 2 } });
  });

  test("amounts are for shared pools, states for exclusive pools", () => {
    const lending = new Lending(seedPools(), pool("aws", 1));
    expect(refusalOf(lending, "a", { pool: "aws" as never, amount: { vcpus: 1 } })).toMatchObject({
      refusal: { code: "lent_whole", key: "amount" },
    });
    expect(refusalOf(lending, "b", { state: "dirty" })).toMatchObject({
      refusal: { code: "lent_by_amount" },
    });
  });

  test("only the strategies that the pool allows may be chosen", () => {
    const lending = new Lending(
      seedPools({ placement: { strategy: "least-used", choices: ["pack"] } }),
    );
    lending.do(want("a", seed));
    lending.do(want("b", { ...seed, strategy: "pack" }));
    expect(lending.held("b")).toEqual(["pool1"]);
    expect(refusalOf(lending, "c", { ...seed, strategy: "round-robin" })).toMatchObject({
      refusal: { code: "strategy_not_allowed", known: ["least-used", "pack"] },
    });
  });
});

describe("strategies", () => {
  const three = (strategy: "pack" | "round-robin" | "least-used") =>
    new Lending(
      capacityPool(
        Object.fromEntries(["a", "b", "c"].map((name) => [name, { capacity: { vcpus: 10 } }])),
        { placement: { strategy } },
      ),
    );
  const places = (lending: Lending, count: number) =>
    Array.from({ length: count }, (_, number) => {
      lending.do(want(`r${number}`, { amount: { vcpus: 4 } }));
      return lending.held(`r${number}`)?.[0];
    });

  test.each([
    ["pack", ["a", "a", "b", "b", "c"]],
    ["least-used", ["a", "b", "c", "a", "b"]],
  ] as const)("%s", (strategy, want_) => {
    expect(places(three(strategy), 5)).toEqual(want_);
  });

  test("round-robin goes on where it was, also when one has come back", () => {
    const lending = three("round-robin");
    expect(places(lending, 2)).toEqual(["a", "b"]);
    lending.do(release("r0"));
    lending.do(want("next", { amount: { vcpus: 4 } }));
    expect(lending.held("next")).toEqual(["c"]);
    checkSnapshot(lending.state);
  });
});

describe("parts", () => {
  const members = { networks: { apart: "vlan", members: {} as Record<string, { vlan: string }> } };
  for (const vlan of ["1302", "1300"]) members.networks.members[`ci-${vlan}`] = { vlan };
  for (const sub of ["1", "2"]) members.networks.members[`ci-938-${sub}`] = { vlan: "938" };
  const parts = (...names: string[]) => ({ capacity: { vcpus: 32 }, parts: { networks: names } });
  const inventory = () =>
    new Lending(
      capacityPool(
        {
          ci: parts("ci-1302", "ci-1300"),
          t2: parts("ci-1302"),
          w1: parts("ci-938-1", "ci-938-2"),
        },
        { placement: { strategy: "least-used", parts: members } },
      ),
    );
  const small = (resource: string, networks = 1) => ({ resource, amount: { vcpus: 8, networks } });

  test("are exclusive over all resources that have them, and come back with the claim", () => {
    const lending = inventory();
    lending.do(want("a", small("t2")));
    expect(partsHeld(lending, "a")).toEqual([["ci-1302"]]);
    lending.do(want("b", small("ci", 2)));
    expect(lending.held("b")).toBeUndefined();
    expect(lending.outcome(want("c", small("ci")))).toMatchObject({
      lease: { claims: [{ parts: [{ name: "ci-1300", attributes: { vlan: "1300" } }] }] },
    });
    checkState(lending.state, lending.now);
    checkSnapshot(lending.state);
    lending.do(release("a"));
    lending.do(release("c"));
    expect(partsHeld(lending, "b")).toEqual([["ci-1302", "ci-1300"]]);
  });

  test("are shared by the leases of a group and by the claims of one lease", () => {
    const lending = inventory();
    const group = { name: "e2e", size: 1 };
    lending.do(want("a", small("ci"), { group }));
    lending.do(want("b", small("t2"), { group }));
    expect([partsHeld(lending, "a"), partsHeld(lending, "b")]).toEqual([
      [["ci-1302"]],
      [["ci-1302"]],
    ]);
    lending.do(release("a"));
    lending.do(want("other", small("t2")));
    expect(lending.held("other")).toBeUndefined();
    lending.do(release("b"));
    expect(partsHeld(lending, "other")).toEqual([["ci-1302"]]);
    lending.do(release("other"));
    lending.do(want("both", [small("ci"), small("t2")]));
    expect(partsHeld(lending, "both")).toEqual([["ci-1302"], ["ci-1302"]]);
  });

  test("of a group are its own where the sibling's cannot be had", () => {
    const lending = inventory();
    const group = { name: "e2e", size: 1 };
    lending.do(want("a", small("ci"), { group }));
    lending.do(want("b", small("w1"), { group }));
    expect(partsHeld(lending, "b")).toEqual([["ci-938-1"]]);
  });

  test("one VLAN serves one claim once", () => {
    const lending = inventory();
    expect(lending.outcome(want("a", small("w1", 2)))).toMatchObject({
      refusal: { code: "amount_too_large", dimension: "networks", asked: 2, largest: 1 },
    });
  });

  test("no network is legal, and a lease may be for networks only", () => {
    const lending = inventory();
    lending.do(want("a", small("ci", 0)));
    lending.do(want("b", { resource: "ci", amount: { networks: 2 } }));
    expect([partsHeld(lending, "a"), partsHeld(lending, "b")]).toEqual([
      [[]],
      [["ci-1302", "ci-1300"]],
    ]);
  });
});

describe("groups that are granted together", () => {
  const group = { name: "e2e", size: 2 };

  test("wait for each other, delay no other request, and get their leases at one time", () => {
    const lending = new Lending(seedPools(), pool("aws", 1));
    expect(lending.outcome(want("a", seed, { group }))).toMatchObject({
      type: "waiting",
      request: { reason: { code: "group_incomplete" } },
    });
    lending.do(acquire("single", "aws"));
    expect(lending.held("single")).toEqual(["aws-1"]);
    checkState(lending.state, lending.now);
    const { events } = lending.do(want("b", seed, { group }));
    const granted = events.filter(({ type }) => type === "lease-granted");
    expect(granted.map((event) => "id" in event && event.id)).toEqual(["a", "b"]);
    expect([lending.held("a"), lending.held("b")]).toEqual([["pool1"], ["pool2"]]);
    expect(lending.state.gangs.size).toBe(0);
  });

  test("get nothing until there is room for all, over several pools too", () => {
    const lending = new Lending(seedPools(), pool("aws", 1));
    lending.outcome(acquire("holder", "aws"), want("a", seed, { group }));
    lending.do({ ...acquire("b", "aws", { group }) });
    expect([lending.held("a"), lending.held("b")]).toEqual([undefined, undefined]);
    checkState(lending.state, lending.now);
    checkSnapshot(lending.state);
    lending.do(release("holder"));
    expect([lending.held("a"), lending.held("b")]).toEqual([["pool1"], ["aws-1"]]);
  });

  test("if a member leaves, the others wait for a new one", () => {
    const lending = new Lending(capacityPool({ one: { capacity: { vcpus: 10 } } }));
    const half = { amount: { vcpus: 5 } };
    lending.outcome(want("x", half), want("a", half, { group }), want("b", half, { group }));
    expect(lending.line("vsphere")).toEqual(["b"]);
    lending.do(leave("a"));
    expect(lending.line("vsphere")).toEqual([]);
    lending.do(release("x"));
    checkState(lending.state, lending.now);
    lending.do(want("c", half, { group }));
    expect([lending.held("b"), lending.held("c")]).toEqual([["one"], ["one"]]);
  });

  test("that could never be had together are refused when the last comes", () => {
    const lending = new Lending(capacityPool({ one: { capacity: { vcpus: 10 } } }));
    lending.do(want("a", { amount: { vcpus: 6 } }, { group }));
    expect(lending.outcome(want("b", { amount: { vcpus: 6 } }, { group }))).toMatchObject({
      refusal: { code: "never_fits_together" },
    });
  });
});

describe("patience", () => {
  const one = () =>
    new Lending(capacityPool({ one: { capacity: { vcpus: 10 } } }, { patienceMs: 1_000 }));
  const vcpus = (amount: number) => ({ amount: { vcpus: amount } });

  test("lets small ones overtake, then keeps room for the big one", () => {
    const lending = one();
    lending.outcome(want("s1", vcpus(5)), want("big", vcpus(8)), want("s2", vcpus(5)));
    expect(lending.held("s2")).toEqual(["one"]);
    lending.tickAt(1_000);
    lending.do(release("s1"));
    lending.do(want("s3", vcpus(5)));
    lending.do(want("tiny", vcpus(2)));
    expect([lending.held("s3"), lending.held("tiny")]).toEqual([undefined, ["one"]]);
    checkState(lending.state, lending.now);
    checkSnapshot(lending.state);
    expect(explainNeeds(waitingFor(lending, "s3"), lending.now)).toMatchObject([
      {
        rooms: [
          {
            resource: "one",
            fits: false,
            short: [{ dimension: "vcpus", asked: 5, free: 0 }],
            keptFor: [{ id: "big", amount: { vcpus: 8 } }],
            longest: { id: "tiny" },
          },
        ],
      },
    ]);
    lending.do(release("s2"));
    expect(lending.held("big")).toEqual(["one"]);
    expect(lending.held("s3")).toBeUndefined();
  });

  test("the reservation is dropped when the big request leaves", () => {
    const lending = one();
    lending.outcome(want("s1", vcpus(5)), want("big", vcpus(8)));
    lending.tickAt(1_000);
    lending.do(want("s2", vcpus(5)));
    expect(lending.held("s2")).toBeUndefined();
    lending.do(leave("big"));
    expect(lending.held("s2")).toEqual(["one"]);
  });

  test("the reservation moves when its resource is drained", () => {
    const lending = new Lending(
      capacityPool(
        { one: { capacity: { vcpus: 10 } }, two: { capacity: { vcpus: 10 } } },
        { patienceMs: 1_000 },
      ),
    );
    lending.outcome(want("a", vcpus(6)), want("b", vcpus(7)), want("big", vcpus(8)));
    lending.tickAt(1_000);
    expect(waitingFor(lending, "big").reservations).toMatchObject([{ resource: "one" }]);
    lending.do(change("one", { drained: true }));
    expect(waitingFor(lending, "big").reservations).toMatchObject([{ resource: "two" }]);
    checkState(lending.state, lending.now);
    lending.do(release("b"));
    expect(lending.held("big")).toEqual(["two"]);
  });
});

describe("a release", () => {
  test("weighs up only those whose missing dimension has come free", () => {
    const members = Object.fromEntries(
      Array.from({ length: 10 }, (_, number) => [
        `r${number}`,
        { capacity: { vcpus: 10, memory: 10 }, labels: { number: String(number) } },
      ]),
    );
    const lending = new Lending(capacityPool(members));
    for (let number = 0; number < 10; number++) {
      lending.do(want(`v${number}`, { resource: `r${number}`, amount: { vcpus: 10 } }));
      lending.do(want(`m${number}`, { resource: `r${number}`, amount: { memory: 10 } }));
    }
    for (let number = 0; number < 500; number++) {
      const dimension = number % 2 === 0 ? "vcpus" : "memory";
      const selector = { number: String(number % 10) };
      lending.do(want(`w${number}`, { selector, amount: { [dimension]: 5 } }));
    }
    const before = lending.state.cache.evaluations;
    lending.do(release("v4"));
    // Of the 500 requests, 50 want r4 and vcpus. Two are granted, and then none of the others fits.
    expect(lending.state.cache.evaluations - before).toBe(2);
    expect([lending.held("w4"), lending.held("w14")]).toEqual([["r4"], ["r4"]]);
  });

  describe("with a queue that is hard to place", () => {
    /** Twelve holders of two hosts each, and sixty requests that each take a long search that finds nothing. */
    const hardToPlace = () => {
      const members = Object.fromEntries(
        Array.from({ length: 24 }, (_, number) => [
          `r${number}`,
          { capacity: { vcpus: 64 }, labels: { zone: `z${number % 6}`, rack: `k${number % 7}` } },
        ]),
      );
      const lending = new Lending(capacityPool(members, { patienceMs: 9e9 }));
      for (let number = 0; number < 12; number++) {
        lending.do(want(`holder${number}`, { count: 2, amount: { vcpus: 33 } }));
      }
      const rules = { count: 4, spread: "zone", atMost: { rack: 4 } };
      const hard = Array.from({ length: 16 }, (_, item) => {
        return { ...rules, amount: { vcpus: 8 + item } };
      });
      for (let number = 0; number < 60; number++) lending.do(want(`hard${number}`, hard));
      return lending;
    };

    test("searches for a while, and goes on with those left in the next decision", () => {
      const lending = hardToPlace();
      lending.do(want("pair", { count: 2, amount: { vcpus: 40 } }));
      const before = lending.state.cache.evaluations;
      lending.do(release("holder0"));
      expect(lending.state.cache.evaluations - before).toBeLessThan(40);
      expect(lending.held("pair")).toBeUndefined();
      // Those ahead could use what comes free now as well.
      for (let number = 1; number < 4; number++) lending.do(release(`holder${number}`));
      expect(lending.held("pair")).toHaveLength(2);
    });

    test("grants nothing to one that has left the queue since, as its group is not complete", () => {
      const lending = hardToPlace();
      const group = { group: { name: "g", size: 2 } };
      lending.do(want("gone", { amount: { vcpus: 40 } }, group));
      lending.do(want("left", { amount: { vcpus: 40 } }, group));
      lending.do(release("holder0"));
      lending.do(leave("gone"));
      for (let number = 1; number < 4; number++) lending.do(release(`holder${number}`));
      expect(lending.held("left")).toBeUndefined();
    });
  });
});

describe("a pace", () => {
  test("that opens lets a request pass that was evaluated before, while it was closed", () => {
    const pace = { everyMs: 10_000, burst: 1, jitter: 0 };
    const lending = new Lending(
      capacityPool({ r1: { capacity: { vcpus: 10 } } }, { pace, patienceMs: 60_000 }),
      pool("aws", 1),
    );
    lending.do(acquire("holder", "aws"));
    lending.do(want("first", { amount: { vcpus: 1 } }));
    lending.do(want("both", [{ amount: { vcpus: 1 } }, { pool: "aws" as PoolName }]));
    lending.tickAt(10_000);
    lending.do(want("second", { amount: { vcpus: 1 } }));
    lending.do(release("holder"));
    expect(lending.held("both")).toBeUndefined();
    lending.tickAt(20_000);
    expect(lending.held("both")).toEqual(["r1", "aws-1"]);
    checkState(lending.state, lending.now);
  });
});

describe("the configuration changes", () => {
  test("a resource that is made smaller keeps its holders and lends no more until there is room", () => {
    const lending = new Lending(capacityPool({ one: { capacity: { vcpus: 10 } } }));
    lending.outcome(want("a", { amount: { vcpus: 6 } }), want("b", { amount: { vcpus: 4 } }));
    lending.configure(capacityPool({ one: { capacity: { vcpus: 8 } } }));
    lending.do(want("c", { amount: { vcpus: 2 } }));
    expect(lending.held("c")).toBeUndefined();
    checkState(lending.state, lending.now);
    lending.do(release("b"));
    expect(lending.held("c")).toEqual(["one"]);
    lending.configure(
      capacityPool({ one: { capacity: { vcpus: 8 }, overcommit: { vcpus: "2.5" } } }),
    );
    lending.do(want("d", { amount: { vcpus: 12 } }));
    expect(lending.held("d")).toEqual(["one"]);
  });

  test("a resource that is gone leaves with its last share", () => {
    const lending = new Lending(seedPools());
    lending.outcome(want("a", seed), want("b", { ...seed, resource: "pool1" }));
    const { members, ...rest } = seedPools();
    lending.configure({ ...rest, members: members.slice(1) });
    lending.do(release("a"));
    expect(lending.resource("pool1").retired).toBe(true);
    lending.do(release("b"));
    expect(() => lending.resource("pool1")).toThrow("Cannot find");
    checkState(lending.state, lending.now);
  });

  test("an exclusive pool becomes shared once its holders have released", () => {
    const lending = new Lending(pool("vsphere", ["one"]));
    lending.outcome(acquire("a", "vsphere"), acquire("b", "vsphere"));
    lending.configure(capacityPool({ one: { capacity: { vcpus: 8 } } }));
    checkState(lending.state, lending.now);
    lending.do(release("a"));
    expect(lending.resource("one").sharing).toBe("shared");
    checkState(lending.state, lending.now);
  });
});
