/** Runs the steps of `deploy/tekton` as Tekton would: their own scripts, with parameters, volumes and results. */
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { Process } from "./cli-processes.ts";

interface Param {
  readonly name: string;
  readonly default?: string;
}

export interface TektonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string };
  readonly spec: {
    readonly params?: readonly Param[];
    readonly results?: readonly { readonly name: string }[];
    readonly script?: string;
    readonly env?: readonly { readonly name: string; readonly value: string }[];
    readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
    readonly steps?: readonly Step[];
    readonly sidecars?: readonly Step[];
    readonly tasks?: readonly PipelineTask[];
    readonly finally?: readonly PipelineTask[];
    readonly volumes?: readonly { readonly name: string }[];
  };
}

export interface Step {
  readonly name: string;
  readonly ref?: { readonly name: string };
  readonly params?: readonly { readonly name: string; readonly value: string }[];
  readonly script?: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

export interface PipelineTask {
  readonly name: string;
  readonly taskRef: { readonly name: string };
  readonly params: readonly { readonly name: string; readonly value: string }[];
}

export const tektonFiles = [
  ...["stepactions.yaml", "tasks.yaml", "example/pipeline.yaml", "example/run.yaml"],
].map((name) => new URL(`../deploy/tekton/${name}`, import.meta.url));

export const tektonObjects: readonly TektonObject[] = tektonFiles.flatMap((file) =>
  parseAllDocuments(readFileSync(file, "utf8")).map((each) => each.toJS() as TektonObject),
);

export function stepAction(name: string): TektonObject["spec"] {
  const found = tektonObjects.find(
    ({ kind, metadata }) => kind === "StepAction" && metadata.name === name,
  );
  if (found === undefined) throw new Error(`Cannot run the step ${name}: there is none`);
  return found.spec;
}

/** One pod: its token for Berth, and a volume that its steps share. */
export class Pod {
  readonly folder: string;
  #path: string;

  private constructor(folder: string, path: string) {
    this.folder = folder;
    this.#path = path;
  }

  static async make(parent: string, token: string, bin: string): Promise<Pod> {
    const folder = await mkdtemp(join(parent, "pod-"));
    await writeFile(join(folder, "token"), token, { mode: 0o600 });
    return new Pod(folder, `${bin}:${process.env["PATH"]}`);
  }

  /** Traps of bash reach into the scripts that a step starts with `sh`. */
  async useBashAsSh(): Promise<void> {
    const bin = join(this.folder, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "sh"), '#!/bin/bash\nexec bash "$@"\n', { mode: 0o755 });
    this.#path = `${bin}:${this.#path}`;
  }

  get lease(): string {
    return this.folder;
  }

  /** The step with these parameters. `before`: shell code that bash runs first, without the step knowing. */
  async run(
    spec: Pick<TektonObject["spec"], "script" | "env" | "params">,
    given: Readonly<Record<string, string>>,
    before = "",
  ): Promise<Process> {
    const defaults = (spec.params ?? []).map((param) => [param.name, param.default ?? ""] as const);
    const params = new Map([...defaults, ...Object.entries(given)]);
    const env = (spec.env ?? []).map(({ name, value }) => {
      const filled = value.replaceAll(/\$\(params\.([\w-]+)\)/g, (_, key) => params.get(key) ?? "");
      return [name, this.#mounted(filled)] as const;
    });
    const own = { PATH: this.#path, HOME: this.folder, TMPDIR: this.folder };
    const script = join(this.folder, `step-${Math.random().toString(36).slice(2)}`);
    await writeFile(script, this.#mounted(spec.script ?? ""));
    const trap = `${script}.before`;
    await writeFile(trap, before);
    return new Process("bash", [script], {
      ...{ ...own, ...Object.fromEntries(env) },
      ...(before === "" ? undefined : { BASH_ENV: trap }),
    });
  }

  result(name: string): Promise<string> {
    return readFile(join(this.folder, `result-${name}`), "utf8");
  }

  /** Where Tekton and the kubelet would put the volumes and the results. */
  #mounted(text: string): string {
    return text
      .replaceAll("/var/run/berth", this.folder)
      .replaceAll(/(?<![\w.])\/lease\b/g, this.folder)
      .replaceAll(/\$\(step\.results\.([\w-]+)\.path\)/g, (_, name) => {
        return join(this.folder, `result-${name}`);
      });
  }
}
