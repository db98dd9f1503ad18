/**
 * Measures the processor time of a grant from a shared pool in the core, compared with a grant from
 * an exclusive pool.
 */

import { emptyState } from "../src/core/apply/create.ts";
import { decide } from "../src/core/decide/decide.ts";
import type { Ask } from "../src/core/model/command.ts";
import type { PoolName, RequestId, ResourceName } from "../src/core/model/ids.ts";
import { defaultPolicy, type PoolSpec } from "../src/core/model/policy.ts";
import type { State } from "../src/core/model/state.ts";
import type { Instant } from "../src/core/model/time.ts";
import { median } from "./process.ts";

const pool = "pool" as PoolName;
const grants = 2_000;
const rounds = 7;
const amount = { vcpus: 8, memory: 32, storage: 100, gpus: 1 };

interface Case {
  readonly name: string;
  readonly spec: PoolSpec;
  readonly heldClaims: number;
  readonly item: Partial<Ask["items"][number]>;
}

const exclusivePool: PoolSpec = {
  name: pool,
  policy: defaultPolicy,
  members: Array.from({ length: 200 }, (_, index) => ({ name: nameOf(index), labels: {} })),
};

const sharedPool = (size: number): PoolSpec => ({
  name: pool,
  policy: { ...defaultPolicy, placement: { strategy: "least-used" } },
  members: Array.from({ length: size }, (_, index) => ({
    name: nameOf(index),
    labels: { vcenter: `vc${index % 20}`, site: `s${Math.floor((3 * index) / size)}` },
    room: {
      index,
      capacity: { vcpus: 96 + (index % 7) * 8, memory: 512, storage: 4_000, gpus: 16 },
    },
  })),
});

function nameOf(index: number): ResourceName {
  return `r${index}` as ResourceName;
}

const cases: readonly Case[] = [
  { name: "exclusive, 200", spec: exclusivePool, heldClaims: 100, item: {} },
  {
    name: "shared, 1,000 x 4 dimensions, 10,000 held",
    spec: sharedPool(1_000),
    heldClaims: 10_000,
    item: { amount },
  },
  ...[250, 1_000].map((size) => ({
    name: `three on different sites, ${size} x 4 dimensions`,
    spec: sharedPool(size),
    heldClaims: size * 9,
    item: { amount, count: 3, spread: "site" },
  })),
];

class Bench {
  readonly #state: State = emptyState();
  readonly #held: RequestId[] = [];
  readonly #item: Case["item"];
  #next = 0;

  constructor({ spec, heldClaims, item }: Case) {
    this.#item = item;
    decide(this.#state, { type: "configure", pools: [spec] }, 0 as Instant);
    for (let count = 0; count < heldClaims / (item.count ?? 1); count++) this.#acquire();
  }

  /**
   * Makes grants, each with the release of the oldest lease. Returns milliseconds of processor
   * time, so that other programs do not count.
   */
  run(): number {
    const before = process.cpuUsage();
    for (let count = 0; count < grants; count++) {
      this.#acquire();
      const id = this.#held[count] as RequestId;
      decide(this.#state, { type: "release", id }, 1_000 as Instant);
    }
    const { user, system } = process.cpuUsage(before);
    this.#held.splice(0, grants);
    return (user + system) / 1_000;
  }

  #acquire(): void {
    const id = `r${this.#next++}` as RequestId;
    const ask = { holder: "bench/1", items: [{ pool, count: 1, ...this.#item }] };
    const { outcome } = decide(
      this.#state,
      { type: "acquire", id, ask, waitMs: 0 },
      1_000 as Instant,
    );
    if (outcome.type !== "granted") throw new Error(`Cannot measure: it was ${outcome.type}`);
    this.#held.push(id);
  }
}

export function benchCapacity(): object[] {
  const benches = cases.map((one) => new Bench(one));
  const times = cases.map((): number[] => []);
  for (const bench of benches) bench.run();
  for (let round = 0; round < rounds; round++) {
    for (const [index, bench] of benches.entries()) {
      times[index]?.push((bench.run() * 1_000) / grants);
    }
  }
  const base = times[0] ?? [];
  return cases.map(({ name }, index) => {
    const own = times[index] ?? [];
    const ratios = own.map((time, round) => time / (base[round] ?? time));
    return { case: name, microseconds: median(own), ratio: median(ratios) };
  });
}
