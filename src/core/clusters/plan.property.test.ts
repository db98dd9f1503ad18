import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freeze, thaw } from "../apply/snapshot.ts";
import { nextDueAt } from "../decide/decide.ts";
import { acquire, leave, pool, release } from "../decide/lending.suite.ts";
import { limitOf } from "../gates/limits.ts";
import type { ClusterPolicy } from "../model/cluster.ts";
import type { RequestId, SpaceName } from "../model/ids.ts";
import type { PoolSpec } from "../model/policy.ts";
import { ClusterLending, clusterPool, operate } from "./clusters.suite.ts";
import { busyIn, type PlannedCluster, type PoolSnapshot, planPool, type Role } from "./plan.ts";
import { clustersIn } from "./snapshot.ts";

const roles: readonly Role[] = [
  ...(["lent", "creating", "free", "stopping", "hibernated"] as const),
  ...(["resuming", "doomed", "destroying", "kept", "kept in creation"] as const),
];
const kinds = ["stock", "other", "third"] as const;
const bound = (max: number) => fc.oneof(fc.nat(max), fc.constant(Number.POSITIVE_INFINITY));

const anyCluster = fc.record({
  role: fc.constantFrom(...roles),
  kind: fc.constantFrom(...kinds),
  isStale: fc.boolean(),
  mustLeave: fc.boolean(),
  isLate: fc.boolean(),
  isFrozen: fc.boolean(),
});

const anyPool: fc.Arbitrary<PoolSnapshot> = fc
  .record({
    size: fc.nat(5),
    configuredSize: fc.constant(5),
    running: fc.nat(5),
    max: bound(8),
    concurrent: bound(4),
    hibernates: fc.boolean(),
    stock: fc.constant("stock"),
    clusters: fc.array(anyCluster, { maxLength: 8 }).map((all) => {
      return all.map((one, age): PlannedCluster => ({ ...one, age, name: `c${age}` as never }));
    }),
    demand: fc
      .array(fc.tuple(fc.constantFrom(...kinds), fc.integer({ min: 1, max: 3 })), { maxLength: 3 })
      .map((entries) => new Map(entries)),
    room: bound(6),
    wantedByOthers: fc.nat(3),
    closed: fc.constantFrom(null, null, null, "the pool was removed"),
    others: fc.nat(2),
  })
  .map(({ others, ...drawn }) => {
    const accepted = new Map(Array.from(drawn.demand, ([kind, count]) => [kind, count + others]));
    return { ...drawn, accepted };
  });

/** The pool after the actions. */
function carriedOut(before: PoolSnapshot): PoolSnapshot {
  const clusters = before.clusters.map((one) => ({ ...one }));
  let { room } = before;
  for (const action of planPool(before)) {
    if (action.do === "create") {
      const age = clusters.length;
      const plain = { isStale: false, mustLeave: false, isLate: false, isFrozen: false };
      clusters.push({
        role: "creating",
        kind: action.kind,
        ...plain,
        age,
        name: `c${age}` as never,
      });
      room -= 1;
    } else {
      const one = clusters.find(({ name }) => name === action.name);
      if (one === undefined) throw new Error(`Cannot ${action.do} ${action.name}`);
      const next = { destroy: "destroying", wake: "resuming", stop: "stopping" } as const;
      Object.assign(one, { role: next[action.do], isLate: false });
    }
  }
  return { ...before, clusters, room };
}

describe("planPool()", () => {
  test("finds nothing more to do right after it was carried out", () => {
    fc.assert(
      fc.property(anyPool, (before) => {
        expect(planPool(carriedOut(before))).toEqual([]);
      }),
    );
  });

  test("goes beyond no limit, and touches nothing that is lent, kept or being destroyed", () => {
    fc.assert(
      fc.property(anyPool, (before) => {
        const done = carriedOut(before);
        const { max, concurrent, room } = before;
        const made = done.clusters.length - before.clusters.length;
        if (made > 0) expect(done.clusters.length).toBeLessThanOrEqual(max);
        expect(made).toBeLessThanOrEqual(Math.max(0, room));
        const [busy, was] = [busyIn(done.clusters), busyIn(before.clusters)];
        expect(busy).toBeLessThanOrEqual(Math.max(concurrent, was));
        for (const [index, { role }] of before.clusters.entries()) {
          const isFixed = role === "lent" || role === "kept" || role === "destroying";
          if (isFixed) expect(done.clusters[index]?.role).toBe(role);
        }
      }),
    );
  });
});

/** Random days at a pool of clusters, with a worker that may fail, vanish and come back. */

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("ask" as const), pick: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("release" as const), pick: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), pick: fc.nat(9) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("take" as const), pick: fc.nat(9) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("finish" as const), pick: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fail" as const), pick: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("break" as const), pick: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait" as const), pick: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("configure" as const), pick: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("operate" as const), pick: fc.nat(9) }) },
);
type Step = { readonly do: string; readonly pick: number };

const someLimit = (max: number) => fc.option(fc.integer({ min: 1, max }), { nil: undefined });
const anyPolicy = fc
  .record({
    size: fc.nat(3),
    running: fc.oneof(fc.nat(3), fc.constant("auto" as const)),
    max: someLimit(5),
    concurrent: someLimit(3),
    revision: fc.constantFrom("r1", "r2"),
  })
  .map((drawn): Partial<ClusterPolicy> => {
    const known = Object.entries(drawn).filter(([, value]) => value !== undefined);
    return Object.fromEntries(known);
  });

function configOf(one: Partial<ClusterPolicy>, two: Partial<ClusterPolicy>): PoolSpec[] {
  const below = { parent: "account" as never, cost: 10 };
  return [
    pool("account", 0, { limit: 6 }),
    clusterPool("ocp", one, below),
    clusterPool("kind", { ...two, hibernates: false }, below),
    clusterPool("lone", one, { cost: 10 }),
  ];
}

class Day {
  readonly lending: ClusterLending;
  readonly #configs: readonly PoolSpec[][];
  #asked = 0;
  #works: string[] = [];
  #instances = new Set<string>();
  #limits = new Map<string, number>();

  constructor(configs: readonly PoolSpec[][]) {
    this.#configs = configs;
    const spaces = {
      spaces: [
        {
          name: "small" as SpaceName,
          policy: { weight: 1, quotas: [{ pool: "account" as never, max: 1 }], costMax: 10 },
        },
      ],
      others: { weight: 1, quotas: [] },
    };
    this.lending = new ClusterLending();
    this.lending.do({ type: "configure", pools: configs[0] ?? [], spaces });
    this.#spaces = spaces;
  }
  readonly #spaces: Extract<Parameters<ClusterLending["do"]>[0], { type: "configure" }>["spaces"];

  do({ do: what, pick }: Step): void {
    const { lending } = this;
    const name = (["ocp", "kind", "lone"] as const)[pick % 3] ?? "ocp";
    switch (what) {
      case "ask": {
        const space = (pick < 3 ? "small" : "large") as SpaceName;
        const wanted = ["ocp", "kind", "ocp|kind", "ocp:2", "ocp kind", "lone"][pick % 6];
        this.#asked += 1;
        lending.do(acquire(`q${this.#asked}`, wanted ?? "ocp", { space }));
        break;
      }
      case "release":
      case "leave": {
        const all = what === "leave" ? lending.state.requests : lending.state.leases;
        const ids = [...all.keys()].filter((id) => id.startsWith("q"));
        const id = ids[pick % Math.max(1, ids.length)];
        if (id !== undefined) lending.do(what === "leave" ? leave(id) : release(id));
        break;
      }
      case "take": {
        const phase = ["creating", "destroying", "stopping", "resuming"][pick % 4] ?? "creating";
        const id = lending.take(phase, name);
        if (id !== undefined) this.#works.push(id);
        break;
      }
      case "finish":
      case "fail":
      case "break":
        this.#finish(what, pick);
        break;
      case "wait":
        this.#wait((pick + 1) * 7 * 60_000);
        break;
      case "configure":
        this.#configure(this.#configs[pick % this.#configs.length] ?? []);
        break;
      case "operate": {
        const [resource] = [...lending.state.resources.keys()].slice(pick % 4);
        const calls = ["cluster-hold", "cluster-destroy", "cluster-abandon"] as const;
        if (resource !== undefined) {
          lending.do(operate(calls[pick % 3] ?? "cluster-hold", resource, 600_000));
        }
      }
    }
  }

  #configure(pools: readonly PoolSpec[]): void {
    this.lending.do({ type: "configure", pools, ...(this.#spaces && { spaces: this.#spaces }) });
  }

  #finish(what: string, pick: number): void {
    const [id] = this.#works.splice(pick % Math.max(1, this.#works.length), 1);
    const claim = this.lending.state.leases.get(id as RequestId)?.claims[0];
    if (id === undefined || claim === undefined) return;
    const { state } = claim.resource;
    const reached = { creating: "free", resuming: "free", stopping: "hibernated" };
    const done = state === "destroying" ? "tombstone" : reached[state as keyof typeof reached];
    const ends = {
      finish: { state: done },
      fail: { failure: "no capacity" },
      break: state === "destroying" ? {} : { state: "broken", failure: "hopeless" },
    };
    this.lending.finish(id, ends[what as keyof typeof ends]);
  }

  #wait(ms: number): void {
    const end = this.lending.now + ms;
    for (let due = nextDueAt(this.lending.state); due !== undefined && due <= end; ) {
      this.lending.tickAt(Math.max(due, this.lending.now));
      this.check();
      due = nextDueAt(this.lending.state);
    }
    this.lending.now = end as never;
    for (const id of this.lending.state.requests.keys()) {
      this.lending.do({ type: "keep-waiting", id, waitMs: 0 });
    }
    for (const id of this.lending.state.leases.keys()) this.lending.do({ type: "renew", id });
  }

  check(): void {
    const { lending } = this;
    for (const one of lending.state.pools.values()) {
      // A limit that is lowered below what exists takes effect as clusters go.
      const before = this.#limits.get(one.name) ?? 0;
      const { max = Number.POSITIVE_INFINITY, concurrent = Number.POSITIVE_INFINITY } =
        one.policy.cluster ?? {};
      if (one.clusters === null) {
        expect(one.used).toBeLessThanOrEqual(Math.max(limitOf(one), before));
        this.#limits.set(one.name, one.used);
        continue;
      }
      const clusters = clustersIn(one);
      expect(clusters.length).toBeLessThanOrEqual(Math.max(max, before));
      this.#limits.set(one.name, clusters.length);
      const busy = clusters.filter(({ state }) => state === "creating" || state === "destroying");
      const key = `${one.name} at once`;
      expect(busy.length).toBeLessThanOrEqual(Math.max(concurrent, this.#limits.get(key) ?? 0));
      this.#limits.set(key, busy.length);
      expect(lending.plan(one.name), "the plan has more to do").toEqual([]);
      expect(one.used).toBe(clusters.length);
    }
    this.#checkSpaces();
    this.#checkEvents();
  }

  #checkSpaces(): void {
    const charged = new Map<string, number>();
    for (const one of this.lending.state.resources.values()) {
      const space = one.sharing === "exclusive" ? one.cluster?.space : undefined;
      if (space) charged.set(space, (charged.get(space) ?? 0) + (one.pool.policy.cost ?? 0));
    }
    expect(charged.get("small") ?? 0).toBeLessThanOrEqual(10);
    for (const { name, cost } of this.lending.state.spaces.values()) {
      expect(cost).toBe(charged.get(name) ?? 0);
    }
  }

  /** No instance is planned twice, and what is lent was ready and never lent before. */
  #checkEvents(): void {
    const { events } = this.lending;
    for (const event of events.splice(0)) {
      if (event.type !== "resource-added" || event.cluster === undefined) continue;
      expect(this.#instances.has(event.cluster.instance)).toBe(false);
      this.#instances.add(event.cluster.instance);
    }
  }

  /** From now on the worker does all its work, and nobody asks for more. */
  rest(): void {
    for (const id of [...this.lending.state.requests.keys()]) this.lending.do(leave(id));
    for (let round = 0; round < 200; round++) {
      for (const name of ["ocp", "kind", "lone"]) this.lending.workAll(name);
      this.#wait(20 * 60_000);
    }
    this.check();
  }
}

test("a pool of clusters keeps its limits, and everything planned ends ready or removed", () => {
  const days = fc.record({
    configs: fc.array(fc.tuple(anyPolicy, anyPolicy), { minLength: 1, maxLength: 3 }),
    steps: fc.array(step, { maxLength: 120 }),
  });
  fc.assert(
    fc.property(days, ({ configs, steps }) => {
      const day = new Day(configs.map(([one, two]) => configOf(one, two)));
      day.check();
      for (const one of steps) {
        day.do(one);
        day.check();
      }
      const frozen = JSON.parse(JSON.stringify(freeze(day.lending.state)));
      expect(JSON.parse(JSON.stringify(freeze(thaw(frozen))))).toEqual(frozen);
      day.rest();
      const left = [...day.lending.state.resources.values()].map(({ state }) => state);
      expect(left.filter((state) => !["free", "hibernated", "busy"].includes(state))).toEqual([]);
    }),
    { numRuns: 100 },
  );
});
