/**
 * Looks for clusters that exist outside and are not in the books. They are reported, and after a grace
 * period destroyed if their template says so. The broker remembers since when each is known, so that
 * the grace period goes on over a restart of the provisioner.
 */
import type { TemplateSpec } from "../../config/template-spec.ts";
import type { Driver, ListedCluster } from "../../drivers/driver.ts";
import type { SeenOrphan, SpaceCredentials } from "./cluster-work.ts";
import type { SweepTools } from "./lent-access.ts";
import { orphanGraceMsDefault } from "./limits.ts";

export interface Orphan extends ListedCluster {
  readonly template: string;
}

export interface SearchOptions {
  readonly orphanGraceMs?: number;
  orphan?(orphan: Orphan, isDestroyed: boolean): void;
  retrying?(cause: unknown): void;
}

export class OrphanSearch {
  readonly #tools: SweepTools;
  readonly #options: SearchOptions;
  readonly #signal: AbortSignal;
  /** By instance. An orphan is logged once. */
  #told = new Set<string>();

  constructor(tools: SweepTools, options: SearchOptions, signal: AbortSignal) {
    this.#tools = tools;
    this.#options = options;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const told = new Set<string>();
    for (const spec of this.#tools.archive.current) {
      for (const own of await this.#credentialsOf(spec)) {
        for (const hub of spec.hubs ?? [undefined]) {
          try {
            for (const { instance } of await this.#search(spec, own, hub)) told.add(instance);
          } catch (error) {
            if (this.#signal.aborted) return;
            this.#options.retrying?.(error);
          }
        }
      }
    }
    this.#told = told;
  }

  /** What to search with: the template's own credentials, or those of every space. */
  async #credentialsOf(spec: TemplateSpec): Promise<readonly (SpaceCredentials | undefined)[]> {
    if (spec.ownCredentials === null) return [undefined];
    return this.#tools.work.spaceCredentials(spec.name, spec.ownCredentials);
  }

  async #search(
    spec: TemplateSpec,
    own: SpaceCredentials | undefined,
    hub: string | undefined,
  ): Promise<readonly SeenOrphan[]> {
    const { drivers, calls, work } = this.#tools;
    const driver = await drivers.openTemplate(spec, { own: own?.values, hub });
    // One that is in the books before or after the list is known: it may be gone by now.
    const before = new Set((await work.clusters()).map(({ instance }) => instance));
    const listed = await calls.run(() => driver.list({ signal: this.#signal }));
    const found = listed.filter(({ instance }) => !before.has(instance));
    const where = hub === undefined ? undefined : { hub };
    const scope = { template: spec.name, credentials: own?.reference ?? null, ...where };
    const orphans = (await work.found(scope, found)).filter((one) => this.#isOld(one));
    for (const orphan of orphans) await this.#handle(spec, driver, orphan);
    return orphans;
  }

  async #handle(spec: TemplateSpec, driver: Driver, { seenMs: _, ...orphan }: SeenOrphan) {
    const isDestroyed = spec.orphans === "destroy";
    if (!this.#told.has(orphan.instance)) {
      this.#options.orphan?.({ ...orphan, template: spec.name }, isDestroyed);
      this.#told.add(orphan.instance);
    }
    if (!isDestroyed) return;
    await this.#tools.calls.run(() => driver.destroy(orphan, { signal: this.#signal }));
  }

  /** By its own time and by the broker's: a clock outside may be wrong. */
  #isOld({ createdAt, seenMs }: SeenOrphan): boolean {
    const { orphanGraceMs = orphanGraceMsDefault } = this.#options;
    const made = Date.parse(createdAt);
    const ageMs = Number.isNaN(made) ? seenMs : Date.now() - Math.max(made, 0);
    return ageMs >= orphanGraceMs && seenMs >= orphanGraceMs;
  }
}
