import { type ChildProcess, fork, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const execArgv = ["--disable-warning=ExperimentalWarning"];

/** A folder on the disk of the checkout, because `/tmp` may be in memory, where a sync is free. */
export function scratchFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(process.cwd(), "bench-data.tmp-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface Running {
  readonly child: ChildProcess;
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a server that prints its port. */
export async function start(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Running> {
  const child = run(script, args, env);
  const port = Number(await firstLine(child));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  return { child, port, stop };
}

export async function startBerth(
  folder: string,
  configText: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Running> {
  const config = join(folder, "berth.yaml");
  writeFileSync(config, configText);
  return start("berth-server.ts", [join(folder, "data"), config], env);
}

/** Runs a script until it exits and parses its output as JSON. */
export async function runForJson<T>(script: string, job: unknown): Promise<T> {
  const child = run(script, [JSON.stringify(job)]);
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  await once(child, "close");
  return JSON.parse(text) as T;
}

function run(script: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const path = new URL(script, import.meta.url);
  const stdio: StdioOptions = ["ignore", "pipe", "inherit", "ipc"];
  return fork(path, args, { execArgv, stdio, env: { ...process.env, ...env } });
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\n")) resolve(text.split("\n", 1)[0] ?? "");
    });
    child.once("exit", (code) =>
      reject(new Error(`Cannot start a server: it exited with ${code}`)),
    );
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
