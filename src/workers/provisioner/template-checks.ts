/**
 * Looks whether what each template needs is there, before a cluster fails for it: its credentials, and the
 * variables of its program. Makes no call to what makes clusters.
 */
import { pause } from "../../client/pause.ts";
import type { TemplateSpec } from "../../config/template-spec.ts";
import { MissingDependency } from "./credentials.ts";
import type { SweepTools } from "./lent-access.ts";

/** A template that cannot be used now. */
export interface UnusableTemplate {
  readonly name: string;
  readonly why: string;
}

export class TemplateChecks {
  readonly #tools: SweepTools;
  readonly #everyMs: number;
  readonly #signal: AbortSignal;
  #unusable: readonly UnusableTemplate[] = [];
  #wake = Promise.withResolvers<void>();

  constructor(tools: SweepTools, everyMs: number, signal: AbortSignal) {
    this.#tools = tools;
    this.#everyMs = everyMs;
    this.#signal = signal;
  }

  /** As of the last look. */
  get unusable(): readonly UnusableTemplate[] {
    return this.#unusable;
  }

  /** The configuration has changed. */
  wake(): void {
    this.#wake.resolve();
  }

  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      this.#wake = Promise.withResolvers();
      const looked = await Promise.all(this.#tools.archive.current.map((spec) => this.#look(spec)));
      this.#unusable = looked.flat();
      const rest = pause(this.#everyMs, this.#signal).catch(() => {});
      await Promise.race([rest, this.#wake.promise]);
    }
  }

  async #look(spec: TemplateSpec): Promise<readonly UnusableTemplate[]> {
    try {
      await this.#tools.drivers.openTemplate(spec, { hub: spec.hubs?.[0] });
      return [];
    } catch (error) {
      // What else can go wrong is told by the clusters and by the probes of hubs.
      if (!(error instanceof MissingDependency)) return [];
      return [{ name: spec.name, why: error.message }];
    }
  }
}
