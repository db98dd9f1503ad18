/**
 * Compares the books with what exists. A cluster that is gone or has failed is reported as lost. What
 * exists and is not in the books is found by `OrphanSearch`.
 */
import { pause } from "../../client/pause.ts";
import { credentialsParameter } from "../../core/model/cluster.ts";
import { busyState, freeState, hibernatedState } from "../../core/model/lifecycle.ts";
import { DriverError, type Observation } from "../../drivers/driver.ts";
import {
  type ClusterFacts,
  refOf,
  type SpaceCredentials,
  type WatchedCluster,
} from "./cluster-work.ts";
import { MissingDependency } from "./credentials.ts";
import type { SweepTools } from "./lent-access.ts";
import { firstSearchMs, orphanSearchMsDefault, sweepMsDefault } from "./limits.ts";
import { OrphanSearch, type SearchOptions } from "./orphan-search.ts";

export interface SweepTimes {
  readonly sweepMs?: number;
  readonly orphanSearchMs?: number;
}

export interface SweepListener extends SearchOptions {
  lost?(cluster: ClusterFacts, why: string): void;
}

type Values = SpaceCredentials["values"];

const observedStates = [freeState, hibernatedState, busyState];
/** Asked again before a cluster is given up: the first answer may be that of a back end that starts. */
const confirmMs = 1_000;

export class Sweep {
  readonly #tools: SweepTools;
  readonly #options: SweepTimes & SweepListener;
  readonly #signal: AbortSignal;
  readonly #search: OrphanSearch;

  constructor(tools: SweepTools, options: SweepTimes & SweepListener, signal: AbortSignal) {
    this.#tools = tools;
    this.#options = options;
    this.#signal = signal;
    this.#search = new OrphanSearch(tools, options, signal);
  }

  async run(): Promise<void> {
    const { sweepMs = sweepMsDefault, orphanSearchMs = orphanSearchMsDefault } = this.#options;
    await Promise.all([
      this.#every(sweepMs, () => this.observeAll()),
      this.#every(orphanSearchMs, () => this.#search.run(), firstSearchMs),
    ]);
  }

  async #every(intervalMs: number, work: () => Promise<void>, firstMs = intervalMs): Promise<void> {
    for (let waitMs = Math.min(firstMs, intervalMs); !this.#signal.aborted; waitMs = intervalMs) {
      await pause(waitMs, this.#signal).catch(() => {});
      if (this.#signal.aborted) return;
      await work().catch((cause: unknown) => {
        if (!this.#signal.aborted) this.#options.retrying?.(cause);
      });
    }
  }

  /** Observes all idle and lent clusters, as many at once as calls are allowed. */
  async observeAll(): Promise<void> {
    const clusters = await this.#tools.work.clusters();
    this.#tools.archive.keepUsed(clusters);
    this.#tools.hubs.keepUsed(clusters);
    const observed = clusters.filter(({ state }) => observedStates.includes(state));
    const own = await this.#ownCredentials();
    await Promise.all(observed.map((cluster) => this.#observeOne(cluster, own)));
  }

  /** By reference, of all spaces whose clusters are made with their own credentials. */
  async #ownCredentials(): Promise<ReadonlyMap<string, Values>> {
    const found = new Map<string, Values>();
    for (const { name, ownCredentials } of this.#tools.archive.current) {
      if (ownCredentials === null) continue;
      const stored = await this.#tools.work.spaceCredentials(name, ownCredentials);
      for (const { reference, values } of stored) found.set(reference, values);
    }
    return found;
  }

  /** A driver that cannot answer tells nothing: the cluster stays as it is. */
  async #observeOne(cluster: WatchedCluster, own: ReadonlyMap<string, Values>): Promise<void> {
    try {
      const first = await this.#observe(cluster, own);
      if (whyLost(first) === undefined) return;
      await pause(confirmMs, this.#signal);
      const why = whyLost(await this.#observe(cluster, own));
      if (why === undefined) return;
      await this.#tools.work.lost(cluster, why);
      this.#options.lost?.(cluster, why);
    } catch (error) {
      if (this.#signal.aborted) return;
      if (!(error instanceof DriverError || error instanceof MissingDependency)) throw error;
    }
  }

  async #observe(cluster: ClusterFacts, own: ReadonlyMap<string, Values>): Promise<Observation> {
    const { observe } = await this.#tools.drivers.open(cluster, async () => {
      const reference = String(cluster.parameters[credentialsParameter] ?? "");
      const values = own.get(reference);
      if (values !== undefined) return values;
      throw new MissingDependency(`Cannot use the credentials ${reference}: they are not stored`);
    });
    return this.#tools.calls.run(() => observe(refOf(cluster), { signal: this.#signal }));
  }
}

function whyLost({ phase, message }: Observation): string | undefined {
  if (phase === "absent") return "It does not exist any longer";
  if (phase === "failed") return message ?? "Its driver reports that it has failed";
  return undefined;
}
