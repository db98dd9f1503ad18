/**
 * The cost of decisions beside clusters: 1,000 of them in 50 pools. The plan runs in every decision
 * that touches its pool; a grant in another pool must not pay for it.
 */
import { emptyState } from "../src/core/apply/create.ts";
import { decide } from "../src/core/decide/decide.ts";
import type { Command } from "../src/core/model/command.ts";
import type { PoolName, RequestId, ResourceName } from "../src/core/model/ids.ts";
import { defaultPolicy, type PoolPolicy, type PoolSpec } from "../src/core/model/policy.ts";
import type { State } from "../src/core/model/state.ts";
import type { Instant } from "../src/core/model/time.ts";
import { median } from "./process.ts";

export interface ClusterRow {
  readonly clusters: number;
  readonly pools: number;
  readonly what: string;
  readonly microseconds: number;
  /** Only of the grants: compared with the same without clusters, in the same run. */
  readonly ratio?: number;
}

const rounds = 9;
const grants = 5_000;
const poolCount = 50;
const size = 20;
const lent = "quota" as PoolName;
const account: PoolSpec = {
  name: "account" as PoolName,
  policy: { ...defaultPolicy, limit: 3_000 },
  members: [],
};

class Bench {
  readonly state: State = emptyState();
  #next = 0;

  constructor(clusters: "none" | "apart" | "below one account") {
    const members = Array.from({ length: 200 }, (_, index) => {
      return { name: `quota-${index}` as ResourceName, labels: {} };
    });
    const plain: PoolSpec = { name: lent, policy: defaultPolicy, members };
    const below = clusters === "below one account" ? { parent: account.name } : undefined;
    const pools = Array.from({ length: clusters === "none" ? 0 : poolCount }, (_, index) => {
      return clusterPool(`ocp-${index}` as PoolName, below);
    });
    this.submit({ type: "configure", pools: [plain, account, ...pools] });
    for (const { name } of pools) for (let made = 0; made < size; made++) this.#make(name);
  }

  #make(pool: PoolName): void {
    const id = this.take(pool, { state: "creating", into: "creating" });
    this.submit({ type: "release", id, state: "free" });
  }

  take(pool: PoolName, how: { readonly state?: string; readonly into?: string } = {}): RequestId {
    const id = `r${this.#next++}` as RequestId;
    const ask = { holder: "bench/1", items: [{ pool, count: 1, ...how }] };
    this.submit({ type: "acquire", id, ask, waitMs: 0 });
    return id;
  }

  /** One acquire and one release in a pool without clusters. */
  grant(): void {
    this.submit({ type: "release", id: this.take(lent) });
  }

  /** A cluster is lent, released, destroyed and made again: six decisions, all with a plan. */
  useCluster(pool: PoolName): void {
    this.submit({ type: "release", id: this.take(pool) });
    const work = this.take(pool, { state: "destroying", into: "destroying" });
    this.submit({ type: "release", id: work, state: "tombstone" });
    this.#make(pool);
  }

  submit(command: Command): void {
    decide(this.state, command, 1_000 as Instant);
  }
}

const decisionsPerUse = 6;

function clusterPool(name: PoolName, more: Partial<PoolPolicy> | undefined): PoolSpec {
  const cluster = {
    ...{ template: "t", revision: "r1", size, running: size, hibernates: true },
    ...{ max: 2 * size, parameters: { version: "4.20" } },
    limits: { createMs: 1e6, resumeMs: 1e6, stopMs: 1e6, destroyMs: 1e6 },
  };
  return { name, policy: { ...defaultPolicy, cluster, ...more }, members: [] };
}

function timed(count: number, run: (index: number) => void): number {
  const startedAt = performance.now();
  for (let index = 0; index < count; index++) run(index);
  return ((performance.now() - startedAt) * 1_000) / count;
}

export function benchClusters(): ClusterRow[] {
  const alone = new Bench("none");
  const beside = new Bench("apart");
  const shared = new Bench("below one account");
  const none = (): number[] => [];
  const times = { alone: none(), beside: none(), plan: none(), sharedPlan: none() };
  for (let round = 0; round <= rounds; round++) {
    const own = timed(grants, () => alone.grant());
    const other = timed(grants, () => beside.grant());
    const use = (bench: Bench) => (index: number) => {
      bench.useCluster(`ocp-${index % poolCount}` as PoolName);
    };
    const [uses, sharedUses] = [timed(500, use(beside)), timed(50, use(shared))];
    if (round === 0) continue; // The first one warms up.
    times.alone.push(own);
    times.beside.push(other);
    times.plan.push(uses / decisionsPerUse);
    times.sharedPlan.push(sharedUses / decisionsPerUse);
  }
  const ratios = times.beside.map((time, round) => time / (times.alone[round] ?? time));
  const counts = { clusters: poolCount * size, pools: poolCount };
  return [
    { clusters: 0, pools: 0, what: "grant and release", microseconds: median(times.alone) },
    {
      ...counts,
      what: "grant and release beside them",
      microseconds: median(times.beside),
      ratio: median(ratios),
    },
    { ...counts, what: "decision on a cluster, with its plan", microseconds: median(times.plan) },
    {
      ...counts,
      what: "the same, if all pools share one limit",
      microseconds: median(times.sharedPlan),
    },
  ];
}
