/**
 * The cost of a durable grant for growing pools and queues: through the broker and its journal, 64
 * at a time, without HTTP. As in `decisions.ts`, a grant is an acquire and the release of an older
 * lease, or with a long queue a release that grants to the next request.
 */
import { join } from "node:path";
import { Broker } from "../src/broker/broker.ts";
import { SystemEnvironment } from "../src/broker/environment.ts";
import type { Command } from "../src/core/model/command.ts";
import type { PoolName, RequestId, ResourceName } from "../src/core/model/ids.ts";
import { defaultPolicy } from "../src/core/model/policy.ts";
import { SqliteJournal } from "../src/journal/sqlite.ts";
import type { DecisionRow } from "./decisions.ts";
import { median, scratchFolder } from "./process.ts";

const pool = "quota" as PoolName;
const batch = 64;
const batches = 60;
const rounds = 7;
/** Far longer than the benchmark, so that no lease expires in it. */
const policy = { ...defaultPolicy, ttlMs: 24 * 3_600_000 };

class Bench {
  readonly #broker: Broker;
  readonly #waiters: number;
  readonly #held: RequestId[] = [];
  #next = 0;
  /**
   * The index of the oldest lease. Removing it from the array would move 50,000 others each time.
   */
  #oldest = 0;

  private constructor(broker: Broker, waiters: number) {
    this.#broker = broker;
    this.#waiters = waiters;
  }

  static async make(data: string, resources: number, waiters: number): Promise<Bench> {
    const journal = SqliteJournal.open(data);
    const broker = await Broker.open(journal, (notBefore) => new SystemEnvironment(notBefore));
    const members = Array.from({ length: resources }, (_, index) => ({
      name: `quota-${index}` as ResourceName,
      labels: {},
    }));
    await broker.submit({ type: "configure", pools: [{ name: pool, policy, members }] });
    const bench = new Bench(broker, waiters);
    await bench.#acquire(waiters > 0 ? resources + waiters : Math.floor(resources / 2));
    return bench;
  }

  /** Microseconds per grant. */
  async run(): Promise<number> {
    if (this.#waiters > 0) await this.#acquire(batch * batches);
    const startedAt = performance.now();
    for (let count = 0; count < batches; count++) {
      if (this.#waiters === 0) await this.#acquire(batch);
      const ids = this.#held.slice(this.#oldest, this.#oldest + batch);
      this.#oldest += batch;
      await this.#all(ids.map((id) => ({ type: "release", id })));
    }
    return ((performance.now() - startedAt) * 1_000) / (batch * batches);
  }

  async #acquire(count: number): Promise<void> {
    const ask = { holder: "bench/1", items: [{ pool, count: 1 }] };
    for (let left = count; left > 0; left -= batch) {
      const ids = Array.from(
        { length: Math.min(left, batch) },
        () => `r${this.#next++}` as RequestId,
      );
      await this.#all(ids.map((id) => ({ type: "acquire", id, ask, waitMs: 0 })));
      this.#held.push(...ids);
    }
  }

  async #all(commands: readonly Command[]): Promise<void> {
    await Promise.all(commands.map((command) => this.#broker.submit(command)));
  }
}

export async function benchGrants(
  cases: readonly { resources: number; waiters: number }[],
): Promise<DecisionRow[]> {
  const folder = scratchFolder();
  try {
    const benches: Bench[] = [];
    for (const [index, { resources, waiters }] of cases.entries()) {
      benches.push(await Bench.make(join(folder.path, `${index}`), resources, waiters));
    }
    const times = cases.map((): number[] => []);
    for (let round = 0; round <= rounds; round++) {
      for (const [index, bench] of benches.entries()) times[index]?.push(await bench.run());
    }
    const [base = []] = times;
    return cases.map((size, index) => {
      const own = times[index] ?? [];
      const ratios = own.map((time, round) => time / (base[round] ?? time));
      return { ...size, microseconds: median(own), ratio: median(ratios) };
    });
  } finally {
    folder.remove();
  }
}
