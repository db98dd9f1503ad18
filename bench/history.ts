/**
 * The cost of history for requests: durable grants through a broker and its SQLite journal, 64 at a
 * time, with and without a follower. The two take turns. The follower writes after a burst, so the
 * cost of catching up is shown separately.
 */
import { join } from "node:path";
import { Broker } from "../src/broker/broker.ts";
import { SystemEnvironment } from "../src/broker/environment.ts";
import type { PoolName, RequestId, ResourceName } from "../src/core/model/ids.ts";
import { defaultPolicy } from "../src/core/model/policy.ts";
import { HistoryFollower } from "../src/insight/history/follower.ts";
import { historyPath } from "../src/insight/history/history-file.ts";
import { HistoryStore } from "../src/insight/history/store.ts";
import { SqliteJournal } from "../src/journal/sqlite.ts";
import { median, scratchFolder } from "./process.ts";

export interface HistoryRow {
  readonly history: string;
  readonly microseconds: number;
  readonly ratio: number;
}

type Round = Awaited<ReturnType<Bench["run"]>>;

const batch = 64;
const batches = 500;
const rounds = 7;
const pools = Array.from({ length: 20 }, (_, index) => `pool-${index}` as PoolName);
const perPool = 50;

class Bench {
  readonly #broker: Broker;
  readonly #follower: HistoryFollower | undefined;
  #next = 0;

  private constructor(broker: Broker, follower: HistoryFollower | undefined) {
    this.#broker = broker;
    this.#follower = follower;
  }

  static async make(folder: string, follows: boolean): Promise<Bench> {
    const journal = SqliteJournal.open(folder);
    const broker = await Broker.open(journal, (notBefore) => new SystemEnvironment(notBefore));
    const specs = pools.map((name) => {
      const members = Array.from({ length: perPool }, (_, index) => {
        return { name: `${name}-${index}` as ResourceName, labels: {} };
      });
      return { name, policy: defaultPolicy, members };
    });
    await broker.submit({ type: "configure", pools: specs });
    if (!follows) return new Bench(broker, undefined);
    const store = HistoryStore.open(historyPath(folder));
    return new Bench(broker, new HistoryFollower(store, journal, broker));
  }

  /** Microseconds for a grant and its release, and for writing both into the history. */
  async run(): Promise<{ grantUs: number; followUs: number }> {
    const startedAt = performance.now();
    for (let count = 0; count < batches; count++) {
      const ids = Array.from({ length: batch }, () => `r${this.#next++}` as RequestId);
      await Promise.all(ids.map((id, index) => this.#acquire(id, index)));
      await Promise.all(ids.map((id) => this.#broker.submit({ type: "release", id })));
    }
    const grantedAt = performance.now();
    await this.#follower?.caughtUp();
    const perGrant = (ms: number) => (ms * 1_000) / (batch * batches);
    return {
      grantUs: perGrant(grantedAt - startedAt),
      followUs: perGrant(performance.now() - grantedAt),
    };
  }

  #acquire(id: RequestId, index: number) {
    const pool = pools[index % pools.length] ?? ("" as PoolName);
    const ask = { holder: `bench/${index}`, items: [{ pool, count: 1 }] };
    return this.#broker.submit({ type: "acquire", id, ask, waitMs: 0 });
  }
}

export async function benchHistory(): Promise<HistoryRow[]> {
  const folder = scratchFolder();
  try {
    const without = await Bench.make(join(folder.path, "without"), false);
    const kept = await Bench.make(join(folder.path, "with"), true);
    const times: { without: Round; kept: Round }[] = [];
    for (let round = 0; round <= rounds; round++) {
      times.push({ without: await without.run(), kept: await kept.run() });
    }
    const counted = times.slice(1); // The first round is the warm-up.
    const row = (history: string, read: (time: { without: Round; kept: Round }) => number) => ({
      history,
      microseconds: median(counted.map(read)),
      ratio: median(counted.map((time) => read(time) / time.without.grantUs)),
    });
    return [
      row("none", ({ without: { grantUs } }) => grantUs),
      row("kept", ({ kept: { grantUs } }) => grantUs),
      row("catching up afterwards", ({ kept: { followUs } }) => followUs),
    ];
  } finally {
    folder.remove();
  }
}
