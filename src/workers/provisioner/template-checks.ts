/**
 * Looks whether what each template needs is there, before a cluster fails for it: its program, its kubeconfig,
 * its credentials, and the variables of its program. Makes no call to what makes clusters. What it finds is
 * reported again and again, because nobody else remembers it.
 */

import type { UnusableTemplate } from "../../api/cluster-schemas.ts";
import { pause } from "../../client/pause.ts";
import { faultOfProgram } from "../../config/janitor-programs.ts";
import { faultOfKubeconfig } from "../../config/kubeconfig-fault.ts";
import type { TemplateSpec } from "../../config/template-spec.ts";
import { MissingDependency } from "./credentials.ts";
import type { SweepTools } from "./lent-access.ts";

/** A provisioner that stops does not wait longer for a server that does not answer. */
const farewellMs = 2_000;

interface CheckOptions {
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly retrying: (cause: unknown) => void;
}

export class TemplateChecks {
  readonly #tools: SweepTools;
  readonly #options: CheckOptions;
  #wake = Promise.withResolvers<void>();

  constructor(tools: SweepTools, options: CheckOptions) {
    this.#tools = tools;
    this.#options = options;
  }

  /** The configuration has changed. */
  wake(): void {
    this.#wake.resolve();
  }

  async run(): Promise<void> {
    const { everyMs, signal } = this.#options;
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      const looked = await Promise.all(this.#tools.archive.current.map((spec) => this.#look(spec)));
      if (!signal.aborted) await this.#report(looked.flat());
      const rest = pause(everyMs, signal).catch(() => {});
      await Promise.race([rest, this.#wake.promise]);
    }
    // It makes no clusters any longer, so it lacks nothing.
    const inTime = AbortSignal.timeout(farewellMs);
    await this.#tools.work.templatesChecked([], inTime).catch(() => {});
  }

  async #report(unusable: readonly UnusableTemplate[]): Promise<void> {
    const { signal, retrying } = this.#options;
    try {
      await this.#tools.work.templatesChecked(unusable, signal);
    } catch (cause) {
      if (!signal.aborted) retrying(cause);
    }
  }

  async #look(spec: TemplateSpec): Promise<readonly UnusableTemplate[]> {
    const { name, how, hubs } = spec;
    try {
      mustHaveFiles(name, how);
      await this.#tools.drivers.openTemplate(spec, { hub: hubs?.[0] });
      return [];
    } catch (error) {
      // What else can go wrong is told by the clusters and by the probes of hubs.
      if (!(error instanceof MissingDependency)) return [];
      return [{ name, why: error.message }];
    }
  }
}

function mustHaveFiles(template: string, how: TemplateSpec["how"]): void {
  const cannot = `Cannot use the template ${template}`;
  if (how.driver === "command") {
    const [program = ""] = how.command;
    const { PATH: searchPath = { env: "PATH" } } = how.env;
    const places = typeof searchPath === "string" ? searchPath : process.env[searchPath.env];
    const fault = faultOfProgram(program, places);
    if (fault !== undefined) throw new MissingDependency(`${cannot}: ${program}: ${fault.state}`);
  } else if (how.kubeconfig !== undefined) {
    const fault = faultOfKubeconfig(how.kubeconfig, how.context);
    if (fault !== undefined) {
      throw new MissingDependency(`${cannot}: the kubeconfig ${how.kubeconfig} ${fault.state}`);
    }
  }
}
