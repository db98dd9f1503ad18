import { describe, expect, test } from "vitest";
import type { Strategy } from "../../model/strategies.ts";
import { mostAtOnce, sets } from "./choose.ts";
import type { Placing } from "./demand.ts";
import { pickParts, shortfalls, unfit } from "./fit.ts";
import { effectiveCapacity, parseRatio } from "./overcommit.ts";
import { place, searchMax } from "./plan.ts";
import { anybody, part, poolOf, shared, wanted } from "./shareable.suite.ts";
import type { Shareable } from "./shareable.ts";
import { shutOutBy, type Taint, type Toleration, tolerates } from "./taint.ts";

describe("effectiveCapacity() is exact where binary fractions are not", () => {
  test.each([
    [10, "0.7", 7],
    [10, "2.3", 23],
    [240, "2.5", 600],
    [3, "0.3333", 0],
    [120, "1", 120],
    [120, undefined, 120],
    [9_007_199_254, "1.000001", 9_007_208_261],
  ])("%s × %s = %s", (capacity, ratio, want) => {
    expect(effectiveCapacity(capacity, ratio)).toBe(want);
  });

  test.each(["-1", "0", "0.0", "1e3", "abc", "", "100.1", "1.0000001", " 1"])(
    "%j is no ratio",
    (text) => {
      expect(parseRatio(text)).toBeUndefined();
    },
  );
});

describe("tolerates()", () => {
  const taint: Taint = { key: "dedicated", value: "gpu", effect: "NoSchedule" };
  const cases: [string, Toleration, Taint, boolean][] = [
    ["Equal with all three", { ...taint, operator: "Equal" }, taint, true],
    ["no operator", { ...taint }, taint, true],
    ["Exists with the key", { key: "dedicated", operator: "Exists" }, taint, true],
    ["Exists without a key", { operator: "Exists" }, taint, true],
    [
      "no effect",
      { key: "dedicated", value: "gpu" },
      { ...taint, effect: "PreferNoSchedule" },
      true,
    ],
    ["another key", { ...taint, key: "other" }, taint, false],
    ["another value", { ...taint, value: "cpu" }, taint, false],
    ["another effect", { ...taint, effect: "PreferNoSchedule" }, taint, false],
    ["Exists with another key", { key: "other", operator: "Exists" }, taint, false],
  ];
  test.each(cases)("%s", (_, toleration, against, want) => {
    expect(tolerates(toleration, against)).toBe(want);
  });

  const other: Taint = { key: "special", effect: "NoSchedule" };
  test.each([
    ["no taints", [], [], true],
    ["all tolerated", [taint, other], [taint, { key: "special", operator: "Exists" }], true],
    ["a wildcard", [taint, other], [{ operator: "Exists" }], true],
    ["two, one tolerated", [taint, other], [taint], false],
    ["only another key tolerated", [taint], [other], false],
  ] as [string, Taint[], Toleration[], boolean][])(
    "of a resource: %s",
    (_, taints, given, want) => {
      expect(shutOutBy(taints, given) === undefined).toBe(want);
    },
  );
});

describe("unfit() and shortfalls()", () => {
  const west = { capacity: { vcpus: 50, memory: 100 }, labels: { region: "us-west", tier: "x" } };
  const selector = { region: "us-west" };
  const rows: [string, Parameters<typeof shared>[1], Placing, string | undefined][] = [
    ["an empty selector", west, {}, undefined],
    ["all pairs there, others too", west, { selector }, undefined],
    ["a key is missing", west, { selector: { zone: "a" } }, "label"],
    ["another value", west, { selector: { region: "us-east" } }, "label"],
    ["no labels at all", { capacity: {} }, { selector }, "label"],
    ["drained", { ...west, drained: true }, { resource: "r" }, "cordoned"],
    ["excluded", { ...west, spec: { excluded: true } }, { selector }, "excluded"],
    ["excluded, but named", { ...west, spec: { excluded: true } }, { resource: "r" }, undefined],
    ["another one is required", west, { resource: "q" }, "not_the_one"],
    ["not wanted", west, { exclude: ["r"] }, "unwanted"],
    ["cannot be told apart", west, { spread: "vcenter" }, "no_label"],
  ];
  test.each(rows)("%s", (_, text, placing, want) => {
    expect(unfit(shared("r", text), wanted(placing), anybody)?.why).toBe(want);
  });

  test("names every dimension that is short, the first asked for first", () => {
    const demand = wanted({ amount: { vcpus: 100, memory: 200 } });
    expect(shortfalls(shared("r", west), demand, anybody)).toEqual([
      { dimension: "vcpus", asked: 100, free: 50, capacity: 50 },
      { dimension: "memory", asked: 200, free: 100, capacity: 100 },
    ]);
  });

  test("equality fits, and a dimension that is not there has nothing", () => {
    const exact = wanted({ amount: { vcpus: 50, memory: 100, storage: 0 } });
    expect(shortfalls(shared("r", west), exact, anybody)).toEqual([]);
    expect(shortfalls(shared("r", west), wanted({ amount: { gpus: 1 } }), anybody)).toEqual([
      { dimension: "gpus", asked: 1, free: 0, capacity: 0 },
    ]);
  });

  test("of parts that have something in common one claim gets one", () => {
    const parts = { networks: [part("a-1", "938"), part("a-2", "938"), part("b", "956")] };
    const one = shared("r", { capacity: {}, parts });
    expect(shortfalls(one, wanted({ amount: { networks: 3 } }), anybody)).toEqual([
      { dimension: "networks", asked: 3, free: 2, capacity: 3 },
    ]);
    const picked = pickParts(one, wanted({ amount: { networks: 2 } }), anybody);
    expect(picked.map(({ name }) => name)).toEqual(["a-1", "b"]);
  });

  test("parts of the own group come first, parts of others are not available", () => {
    const [mine, theirs, free] = [part("mine"), part("theirs"), part("free")];
    Object.assign(mine, { owner: "me", uses: 1 });
    Object.assign(theirs, { owner: "them", uses: 1 });
    const one = shared("r", { capacity: {}, parts: { networks: [free, theirs, mine] } });
    const demand = (networks: number) => wanted({ amount: { networks } });
    expect(pickParts(one, demand(1), anybody)).toEqual([mine]);
    expect(pickParts(one, demand(2), anybody)).toEqual([mine, free]);
    expect(shortfalls(one, demand(3), anybody)).toHaveLength(1);
  });

  test("optional parts are wanted only where there are any", () => {
    const demand = wanted({ amount: { networks: 1 }, optional: ["networks"] });
    expect(shortfalls(shared("bare", { capacity: {} }), demand, anybody)).toEqual([]);
    const taken = Object.assign(part("n"), { owner: "them", uses: 1 });
    const full = shared("full", { capacity: {}, parts: { networks: [taken] } });
    expect(shortfalls(full, demand, anybody)).toHaveLength(1);
  });
});

const chosen = (found: Shareable[][] | undefined) =>
  found?.map((set) => set.map(({ name }) => name));

describe("place() by strategy", () => {
  /**
   * Use of vcpus, memory and datastore. The sum, the maximum and each dimension alone choose
   * different resources.
   */
  const pqr = () =>
    [
      ["P", 50, 10, 10],
      ["Q", 30, 25, 30],
      ["R", 20, 40, 50],
    ].map(([name, vcpus, memory, storage], index) =>
      shared(
        String(name),
        {
          capacity: { vcpus: 100, memory: 100, storage: 100 },
          used: { vcpus: Number(vcpus), memory: Number(memory), storage: Number(storage) },
        },
        index,
      ),
    );
  const tiny = { amount: { vcpus: 1, memory: 1, storage: 1 } };

  test("least-used takes the least sum of usages", () => {
    expect(chosen(place(poolOf(pqr()), [wanted(tiny)], anybody))).toEqual([["P"]]);
  });

  test.each([
    ["pack", ["R"]],
    ["least-used", ["P"]],
    ["round-robin", ["P"]],
  ] as [Strategy, string[]][])("a request may choose %s", (strategy, want) => {
    expect(chosen(place(poolOf(pqr()), [wanted({ ...tiny, strategy })], anybody))).toEqual([want]);
    expect(chosen(place(poolOf(pqr(), strategy), [wanted(tiny)], anybody))).toEqual([want]);
  });

  test("least-fragmenting keeps dimensions in balance", () => {
    const lean = { capacity: { vcpus: 10, memory: 10 }, used: { vcpus: 6, memory: 2 } };
    const even = { capacity: { vcpus: 10, memory: 10 }, used: { vcpus: 5, memory: 5 } };
    const resources = [shared("lean", lean, 0), shared("even", even, 1)];
    const pool = poolOf(resources, "least-fragmenting");
    const memory = wanted({ amount: { memory: 3 } });
    expect(chosen(place(pool, [memory], anybody))).toEqual([["lean"]]);
    expect(chosen(place(pool, [wanted({ amount: { vcpus: 3 } })], anybody))).toEqual([["even"]]);
  });

  test("PreferNoSchedule is a last resort, not a wall", () => {
    const taints: Taint[] = [{ key: "old", effect: "PreferNoSchedule" }];
    const soft = shared("soft", { capacity: { vcpus: 10 }, spec: { taints } }, 0);
    const busy = shared("busy", { capacity: { vcpus: 10 }, used: { vcpus: 5 } }, 1);
    const ask = (vcpus: number, more: Placing = {}) =>
      chosen(place(poolOf([soft, busy]), [wanted({ amount: { vcpus }, ...more })], anybody));
    expect(ask(5)).toEqual([["busy"]]);
    expect(ask(6)).toEqual([["soft"]]);
    expect(ask(5, { tolerations: [{ key: "old", operator: "Exists" }] })).toEqual([["soft"]]);
  });
});

describe("place() of several resources", () => {
  /** `{ a: [1, 1], b: [0] }`: two resources on a with room, one on b without. */
  const inventory = (places: Record<string, readonly number[]>) =>
    Object.entries(places)
      .flatMap(([vcenter, free]) => free.map((vcpus, index) => ({ vcenter, vcpus, index })))
      .map(({ vcenter, vcpus, index }, order) =>
        shared(`${vcenter}${index}`, { capacity: { vcpus }, labels: { vcenter } }, order),
      );
  const ask = (resources: Shareable[], count: number, placing: Placing) =>
    place(poolOf(resources), [wanted({ amount: { vcpus: 1 }, ...placing }, count)], anybody)?.[0];

  const rows: [string, Record<string, number[]>, number, number | undefined, boolean][] = [
    ["need 3 cap 1 of {1,3}", { a: [1], b: [1, 1, 1] }, 3, 1, true],
    ["need 2 cap 1 of {2, one lacks room; 2}", { a: [1, 0], b: [1, 1] }, 2, 1, true],
    ["need 3 cap 2 of {1,2}", { a: [1], b: [1, 1] }, 3, 2, true],
    ["need 3 cap 2 of {1,2,2}", { a: [1], b: [1, 1], c: [1, 1] }, 3, 2, true],
    ["need 5 cap 2 of {2,3}", { a: [1, 1], b: [1, 1, 1] }, 5, 2, true],
    ["need 4 cap 3 of {3,2,1,1}", { a: [1, 1, 1], b: [1, 1], c: [1], d: [1] }, 4, 3, true],
    ["need 4 cap 3 of {1,1,1,1}", { a: [1], b: [1], c: [1], d: [1] }, 4, 3, false],
    ["need 4 cap 3 of {1,1,1,3}", { a: [1], b: [1], c: [1], d: [1, 1, 1] }, 4, 3, true],
    ["need 4 cap 1 of {3}", { a: [1, 1, 1] }, 4, 1, false],
  ];
  test.each(rows)("%s", (_, places, count, max, feasible) => {
    const found = ask(
      inventory(places),
      count,
      max === undefined ? {} : { atMost: { vcenter: max } },
    );
    expect(found !== undefined).toBe(feasible);
    if (found === undefined) return;
    expect(new Set(found).size).toBe(count);
    expect(new Set(found.map(({ labels }) => labels["vcenter"])).size).toBeLessThanOrEqual(
      max ?? 99,
    );
  });

  test("need 4 of 24 vcpus and 96 GB over at most 3, as it was in production", () => {
    const state: [string, number, number][] = [
      ["vc-1", 158, 1011],
      ["vc-110", 94, 678],
      ["vc-120", 104, 563],
      ["vc", 69, 275],
      ["vc", 66, 263],
      ["vc", 152, 1048],
    ];
    const resources = state.map(([vcenter, vcpus, memory], index) =>
      shared(`p${index}`, { capacity: { vcpus, memory }, labels: { vcenter } }, index),
    );
    const found = ask(resources, 4, { amount: { vcpus: 24, memory: 96 }, atMost: { vcenter: 3 } });
    expect(found).toHaveLength(4);
    expect(new Set(found?.map(({ labels }) => labels["vcenter"])).size).toBeLessThanOrEqual(3);
  });

  test("spread takes the best of each value", () => {
    const resources = inventory({ a: [2, 9], b: [9], c: [0] });
    expect(ask(resources, 2, { spread: "vcenter" })?.map(({ name }) => name)).toEqual(["a0", "b0"]);
    expect(ask(resources, 3, { spread: "vcenter" })).toBeUndefined();
  });

  test("mostAtOnce() says how many there could be", () => {
    const resources = inventory({ a: [1, 1, 1] });
    expect(mostAtOnce(resources, wanted({ atMost: { vcenter: 1 } }, 4), { left: searchMax })).toBe(
      3,
    );
    const three = inventory({ a: [1, 1], b: [1, 1], c: [1, 1] });
    expect(mostAtOnce(three, wanted({ atMost: { vcenter: 2 } }, 6), { left: searchMax })).toBe(4);
    expect(mostAtOnce([], wanted({}, 2), { left: searchMax })).toBe(0);
  });

  test("demands for one pool are placed together, not one after the other", () => {
    // The small demand would take the larger resource, and the large one would not fit.
    const resources = [
      shared("big", { capacity: { vcpus: 10 } }, 0),
      shared("small", { capacity: { vcpus: 4 } }, 1),
    ];
    const both = [wanted({ amount: { vcpus: 4 } }), wanted({ amount: { vcpus: 8 } })];
    expect(chosen(place(poolOf(resources), both, anybody))).toEqual([["small"], ["big"]]);
  });
});

describe("sets() checks few of a thousand resources, in any order:", () => {
  type Labels = (index: number) => Readonly<Record<string, string>>;
  const cases: Record<string, { labels: Labels; placing: Placing }> = {
    "three places, one after the other": {
      labels: (index) => ({ site: `s${Math.floor(index / 334)}` }),
      placing: { spread: "site" },
    },
    "one place with enough, at the end": {
      labels: (index) => ({ site: index < 997 ? `s${index}` : "large" }),
      placing: { atMost: { site: 1 } },
    },
    "racks apart, in few places": {
      labels: (index) => ({
        rack: `r${Math.floor(index / 125)}`,
        site: `s${Math.floor(index / 250)}`,
      }),
      placing: { spread: "rack", atMost: { site: 2 } },
    },
    "nothing that would do": { labels: () => ({ site: "s" }), placing: { spread: "site" } },
  };
  test.each(Object.entries(cases))("%s", (_, { labels, placing }) => {
    const resources = Array.from({ length: 1_000 }, (_room, index) =>
      shared(`r${index}`, { capacity: { vcpus: 8 }, labels: labels(index) }, index),
    );
    const budget = { left: searchMax };
    sets(resources, wanted({ amount: { vcpus: 1 }, ...placing }, 3), budget).next();
    // Each resource some ten times, and not for each of the others.
    expect(searchMax - budget.left).toBeLessThanOrEqual(20 * resources.length);
  });
});
