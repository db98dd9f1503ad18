/** One run of a pool's cleaning command on one resource. */
import { spawn } from "node:child_process";
import type { JanitorSpec } from "../../config/read-janitor.ts";
import { ProcessGroup } from "../process-group.ts";

/** How a pool is cleaned, as its configuration or the command line says. */
export type CleaningSpec = Omit<JanitorSpec, "pool"> & { readonly pool: string };

export interface Soiled {
  readonly resource: string;
  readonly pool: string;
  readonly userData: Readonly<Record<string, string>>;
}

export type Cleaned =
  | { readonly how: "clean" }
  | { readonly how: "failed"; readonly output: string }
  /** Broken off: not its fault. */
  | { readonly how: "stopped" };

/** The end of what a command says is what tells why it failed. */
const outputKeptMax = 4_000;
const graceMs = 10_000;
/** What every program needs to run at all. Nothing else of the server's environment is passed on. */
const passedOn = ["PATH", "HOME", "TMPDIR", "LANG", "TZ"];

/** Runs the command; the signal breaks it off, with all that it has started. */
export async function clean(
  spec: CleaningSpec,
  soiled: Soiled,
  signal: AbortSignal,
): Promise<Cleaned> {
  if (signal.aborted) return { how: "stopped" };
  const tail = new Tail();
  const [file = "", ...args] = spec.command;
  const child = spawn(file, args, {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: environmentOf(spec, soiled),
  });
  child.stdout.on("data", (bytes: Buffer) => tail.add(bytes));
  child.stderr.on("data", (bytes: Buffer) => tail.add(bytes));
  const failed = (why: string): Cleaned => {
    return { how: "failed", output: `${why}\n${tail.text(secretsOf(spec, soiled))}`.trimEnd() };
  };
  let group: ProcessGroup;
  try {
    group = await ProcessGroup.of(child);
  } catch (error) {
    return failed(`Cannot run ${file}: ${(error as Error).message}`);
  }
  const reason = await broken(group, spec.timeoutMs, signal);
  const { code, signal: by } = await group.ended;
  // What it left running would go on cleaning what the next job has.
  await group.stop(reason === undefined ? 0 : graceMs);
  if (reason === "stopped") return { how: "stopped" };
  if (reason === "timeout") return failed(`It took longer than its timeout and was stopped`);
  if (code === 0) return { how: "clean" };
  return failed(code === null ? `It was ended by ${by}` : `It exited with ${code}`);
}

/** Resolves once the command has ended by itself (undefined) or has been told to. */
async function broken(
  group: ProcessGroup,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<"timeout" | "stopped" | undefined> {
  let reason: "timeout" | "stopped" | undefined;
  const end = (why: "timeout" | "stopped") => () => {
    reason ??= why;
    void group.stop(graceMs);
  };
  const timer = setTimeout(end("timeout"), timeoutMs);
  const stop = end("stopped");
  signal.addEventListener("abort", stop);
  await group.ended;
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
  return reason;
}

function environmentOf(spec: CleaningSpec, soiled: Soiled): Record<string, string> {
  const own = passedOn.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const mapped = Object.entries(spec.env).flatMap(([name, from]) => {
    const value = typeof from === "string" ? from : soiled.userData[from.userData];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(own),
    BERTH_RESOURCE: soiled.resource,
    BERTH_POOL: soiled.pool,
    ...Object.fromEntries(mapped),
  };
}

/** Shorter ones are no secrets, and blotting them out would make the output unreadable. */
const secretLengthMin = 6;

/** What the command was given in confidence and may have printed. */
function secretsOf({ env }: CleaningSpec, { userData }: Soiled): string[] {
  return Object.values(env).flatMap((from) => {
    const value = typeof from === "string" ? undefined : userData[from.userData];
    return value === undefined || value.length < secretLengthMin ? [] : [value];
  });
}

/** The last of what was said, however much it was. */
class Tail {
  #bytes = Buffer.alloc(0);

  add(bytes: Buffer): void {
    // Twice as much as is told, so that a secret at the cut is found whole.
    this.#bytes = Buffer.concat([this.#bytes, bytes]).subarray(-4 * outputKeptMax);
  }

  text(secrets: readonly string[]): string {
    let text = this.#bytes.toString("utf8");
    for (const secret of secrets) text = text.replaceAll(secret, "***");
    return text.slice(-outputKeptMax);
  }
}
