/**
 * Compares the books with what exists. A cluster that is gone or has failed is reported as lost. A
 * cluster that nobody knows of is an orphan: it is reported after a grace period, and destroyed if its
 * template says so.
 */
import { pause } from "../../client/pause.ts";
import { busyState, freeState, hibernatedState } from "../../core/model/lifecycle.ts";
import { DriverError, type ListedCluster, type Observation } from "../../drivers/driver.ts";
import { type ClusterFacts, refOf, type WatchedCluster } from "./cluster-work.ts";
import { MissingDependency } from "./credentials.ts";
import type { SweepTools } from "./lent-access.ts";
import { orphanGraceMsDefault, orphanSearchMsDefault, sweepMsDefault } from "./limits.ts";

export interface SweepTimes {
  readonly sweepMs?: number;
  readonly orphanSearchMs?: number;
  readonly orphanGraceMs?: number;
}

export interface Orphan extends ListedCluster {
  readonly template: string;
}

export interface SweepListener {
  lost?(cluster: ClusterFacts, why: string): void;
  orphan?(orphan: Orphan, isDestroyed: boolean): void;
  retrying?(cause: unknown): void;
}

const observedStates = [freeState, hibernatedState, busyState];
/** Asked again before a cluster is given up: the first answer may be that of a back end that starts. */
const confirmMs = 1_000;

export class Sweep {
  readonly #tools: SweepTools;
  readonly #options: SweepTimes & SweepListener;
  readonly #signal: AbortSignal;
  /** When each orphan was first seen, by instance. */
  readonly #firstSeen = new Map<string, number>();
  readonly #reported = new Set<string>();
  #orphans: readonly Orphan[] = [];

  constructor(tools: SweepTools, options: SweepTimes & SweepListener, signal: AbortSignal) {
    this.#tools = tools;
    this.#options = options;
    this.#signal = signal;
  }

  get orphans(): readonly Orphan[] {
    return this.#orphans;
  }

  async run(): Promise<void> {
    const { sweepMs = sweepMsDefault, orphanSearchMs = orphanSearchMsDefault } = this.#options;
    await Promise.all([
      this.#every(sweepMs, () => this.observeAll()),
      this.#every(orphanSearchMs, () => this.findOrphans()),
    ]);
  }

  async #every(intervalMs: number, work: () => Promise<void>): Promise<void> {
    while (!this.#signal.aborted) {
      await pause(intervalMs, this.#signal).catch(() => {});
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
    const observed = clusters.filter(({ state }) => observedStates.includes(state));
    await Promise.all(observed.map((cluster) => this.#observeOne(cluster)));
  }

  /** A driver that cannot answer tells nothing: the cluster stays as it is. */
  async #observeOne(cluster: WatchedCluster): Promise<void> {
    try {
      const first = await this.#observe(cluster);
      if (whyLost(first) === undefined) return;
      await pause(confirmMs, this.#signal);
      const why = whyLost(await this.#observe(cluster));
      if (why === undefined) return;
      await this.#tools.work.lost(cluster, why);
      this.#options.lost?.(cluster, why);
    } catch (error) {
      if (this.#signal.aborted) return;
      if (!(error instanceof DriverError || error instanceof MissingDependency)) throw error;
    }
  }

  async #observe(cluster: ClusterFacts): Promise<Observation> {
    // Credentials of a space are only opened for the worker of its cluster.
    const { driver, spec } = await this.#tools.drivers.open(cluster, async () => ({}));
    if (spec.ownCredentials !== null) return { phase: "ready" };
    return this.#tools.calls.run(() => driver.observe(refOf(cluster), { signal: this.#signal }));
  }

  async findOrphans(): Promise<void> {
    const { archive, drivers, calls, work } = this.#tools;
    const found: Orphan[] = [];
    for (const spec of archive.current) {
      if (spec.ownCredentials !== null) continue;
      try {
        const driver = await drivers.openTemplate(spec);
        // Listed first: what is planned meanwhile is in the books, and not in the list.
        const listed = await calls.run(() => driver.list({ signal: this.#signal }));
        const books = new Set((await work.clusters()).map(({ instance }) => instance));
        const unknown = listed.filter(({ instance }) => !books.has(instance));
        for (const each of unknown) {
          const orphan = { ...each, template: spec.name };
          if (!this.#isOld(orphan)) continue;
          const destroys = spec.orphans === "destroy";
          if (!this.#reported.has(each.instance)) this.#options.orphan?.(orphan, destroys);
          this.#reported.add(each.instance);
          if (destroys) {
            await calls.run(() => driver.destroy(each, { signal: this.#signal }));
          }
          found.push(orphan);
        }
      } catch (error) {
        if (this.#signal.aborted) return;
        this.#options.retrying?.(error);
      }
    }
    this.#orphans = found;
    this.#forget(found);
  }

  /** By its own time and by ours: a clock outside may be wrong. */
  #isOld({ instance, createdAt }: Orphan): boolean {
    const { orphanGraceMs = orphanGraceMsDefault } = this.#options;
    const now = Date.now();
    const seenAt = this.#firstSeen.get(instance) ?? now;
    this.#firstSeen.set(instance, seenAt);
    const made = Date.parse(createdAt);
    const ageMs = now - (Number.isNaN(made) ? seenAt : Math.max(made, 0));
    return ageMs >= orphanGraceMs && now - seenAt >= orphanGraceMs;
  }

  #forget(found: readonly Orphan[]): void {
    const still = new Set(found.map(({ instance }) => instance));
    for (const instance of this.#reported) {
      if (!still.has(instance)) this.#reported.delete(instance);
    }
    if (this.#firstSeen.size > 100_000) this.#firstSeen.clear();
  }
}

function whyLost({ phase, message }: Observation): string | undefined {
  if (phase === "absent") return "It does not exist any longer";
  if (phase === "failed") return message ?? "Its driver reports that it has failed";
  return undefined;
}
