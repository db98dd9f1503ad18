/**
 * Makes, hibernates, wakes and destroys clusters. The provisioner is an ordinary client: it leases one
 * cluster after the other in the state that has work for it, so a provisioner that dies is replaced
 * like any other holder. Any number of clusters may wait for their drivers; the calls are bounded.
 */

import { LinkedAbort } from "../../client/linked-abort.ts";
import type { HubPlace } from "../../config/read-hubs.ts";
import type { TemplateSpec } from "../../config/template-spec.ts";
import { DriverError } from "../../drivers/driver.ts";
import { noMask, type SecretMask } from "../../drivers/secret-mask.ts";
import { CallLimit } from "./call-limit.ts";
import { checkCredentials } from "./check-credentials.ts";
import type { ClusterFacts, ClusterTask, ClusterWork, WorkResult } from "./cluster-work.ts";
import { MissingDependency } from "./credentials.ts";
import { DriverSet } from "./driver-set.ts";
import { HubPlaces } from "./hub-places.ts";
import { HubProbes, probeMsDefault } from "./hub-probes.ts";
import { LentAccess } from "./lent-access.ts";
import { callsAtOnceDefault, messageLengthMax, tasksMax } from "./limits.ts";
import type { Orphan } from "./orphan-search.ts";
import { Sweep, type SweepTimes } from "./sweep.ts";
import { TemplateArchive } from "./template-archive.ts";
import { TemplateChecks } from "./template-checks.ts";
import { workOnCluster } from "./work-on-cluster.ts";

export interface ProvisionerListener {
  started?(task: ClusterTask): void;
  finished?(task: ClusterTask, result: WorkResult, durationMs: number): void;
  /** An idle or lent cluster is gone or has failed outside. */
  lost?(cluster: ClusterFacts, why: string): void;
  orphan?(orphan: Orphan, isDestroyed: boolean): void;
  /** Work could not be leased, or a sweep failed. The provisioner tries again. */
  retrying?(cause: unknown): void;
}

export interface ProvisionerOptions extends ProvisionerListener, SweepTimes {
  readonly orphanGraceMs?: number;
  /** How often hubs are looked at. */
  readonly probeMs?: number;
  /** Driver calls at once, over all clusters. */
  readonly parallel?: number;
  readonly mask?: SecretMask;
  /** Where templates are kept that clusters still need; undefined: in memory. */
  readonly folder?: string;
}

/** How clusters are made, and where. */
export interface ProvisionerConfig {
  readonly templates: readonly TemplateSpec[];
  readonly hubs?: readonly HubPlace[];
}

export class Provisioner {
  readonly #work: ClusterWork;
  readonly #options: ProvisionerOptions;
  readonly #archive: TemplateArchive;
  readonly #drivers: DriverSet;
  readonly #calls: CallLimit;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #sweep: Sweep;
  readonly #access: LentAccess;
  readonly #hubs: HubPlaces;
  readonly #probes: HubProbes;
  readonly #templates: TemplateChecks;
  #wake = Promise.withResolvers<void>();
  readonly #done: Promise<void>;

  constructor(
    work: ClusterWork,
    { templates, hubs = [] }: ProvisionerConfig,
    options: ProvisionerOptions = {},
  ) {
    this.#work = work;
    this.#options = options;
    this.#archive = new TemplateArchive(options.folder);
    this.#archive.configure(templates);
    this.#hubs = new HubPlaces(options.folder);
    this.#hubs.configure(hubs);
    this.#drivers = new DriverSet(this.#archive, this.#hubs, options.mask ?? noMask);
    this.#calls = new CallLimit(options.parallel ?? callsAtOnceDefault);
    const places = { archive: this.#archive, hubs: this.#hubs };
    const tools = { work, ...places, drivers: this.#drivers, calls: this.#calls };
    this.#access = new LentAccess(tools);
    this.#sweep = new Sweep(tools, options, this.#stop.signal);
    const { signal } = this.#stop;
    const retrying = (cause: unknown) => options.retrying?.(cause);
    const checks = checkCredentials(tools, signal, retrying);
    this.#probes = new HubProbes(tools, { probeMs: options.probeMs, signal, retrying });
    const everyMs = options.probeMs ?? probeMsDefault;
    this.#templates = new TemplateChecks(tools, { everyMs, signal, retrying });
    const looks = [this.#probes.run(), this.#templates.run(), checks];
    const all = [this.#loop(), this.#sweep.run(), ...looks];
    this.#done = Promise.all(all).then(() => {});
  }

  /** Calls that run go on with the old settings. */
  configure({ templates, hubs = [] }: ProvisionerConfig): void {
    this.#hubs.configure(hubs);
    this.#archive.configure(templates);
    this.#wake.resolve();
    this.#probes.wake();
    this.#templates.wake();
  }

  /** Ends the running calls and releases their clusters, which keep their phase. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake.resolve();
    await this.#done;
    await Promise.all(this.#running);
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      const work = this.#work.waitForWork(signal);
      try {
        while (await this.#startOne());
        await this.#access.renew(signal);
      } catch (cause) {
        if (!signal.aborted) this.#options.retrying?.(cause);
      }
      await Promise.race([work, this.#wake.promise]);
    }
  }

  async #startOne(): Promise<boolean> {
    if (this.#running.size >= tasksMax || this.#stop.signal.aborted) return false;
    const task = await this.#work.take();
    if (task === undefined) return false;
    const running = this.#run(task).finally(() => {
      this.#running.delete(running);
      this.#wake.resolve();
    });
    this.#running.add(running);
    return true;
  }

  async #run(task: ClusterTask): Promise<void> {
    this.#options.started?.(task);
    const startedAt = performance.now();
    const stop = new LinkedAbort(this.#stop.signal, task.lost);
    const result = await this.#workOn(task, stop.signal)
      .catch((error: unknown) => this.#failed(error, stop.signal))
      .finally(() => stop.unlink());
    await task.finish(result);
    this.#options.finished?.(task, result, performance.now() - startedAt);
  }

  async #workOn(task: ClusterTask, signal: AbortSignal): Promise<WorkResult> {
    const open = await this.#drivers.open(task, () => task.ownCredentials());
    return workOnCluster(task, { ...open, calls: this.#calls, signal });
  }

  #failed(error: unknown, signal: AbortSignal): WorkResult {
    if (signal.aborted) return {};
    if (error instanceof DriverError || error instanceof MissingDependency) {
      return { failure: error.message.slice(-messageLengthMax) };
    }
    // The journal cannot be written, the server cannot be reached, or there is a bug. The message of
    // an unknown error may contain a secret.
    const mask = this.#options.mask ?? noMask;
    const text = error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
    return { failure: mask.clean(`The provisioner failed: ${text}`).slice(0, messageLengthMax) };
  }
}
