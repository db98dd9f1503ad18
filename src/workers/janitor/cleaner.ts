/** Runs the cleaning command of a pool for one resource. */
import { spawn } from "node:child_process";
import type { JanitorSpec } from "../../config/read-janitor.ts";
import { ProcessGroup } from "../process-group.ts";

/** How to clean a pool, from the configuration file or the command line. */
export type CleaningSpec = Omit<JanitorSpec, "pool"> & { readonly pool: string };

export interface DirtyResource {
  readonly resource: string;
  readonly pool: string;
  readonly userData: Readonly<Record<string, string>>;
}

export type CleaningResult =
  | { readonly how: "clean" }
  | { readonly how: "failed"; readonly output: string }
  /** The janitor stopped the command, so this does not count as a failure. */
  | { readonly how: "stopped" };

/** The length of the output that is kept. The last lines usually contain the cause of a failure. */
const outputLengthMax = 4_000;
const graceMs = 10_000;
/**
 * The variables that most programs need. The rest of the server's environment may contain secrets,
 * so the command does not get it.
 */
const inheritedVariables = ["PATH", "HOME", "TMPDIR", "LANG", "TZ"];

/** Runs the command. An abort stops it and every process that it has started. */
export async function clean(
  spec: CleaningSpec,
  dirty: DirtyResource,
  signal: AbortSignal,
): Promise<CleaningResult> {
  if (signal.aborted) return { how: "stopped" };
  const tail = new Tail();
  const failed = (why: string): CleaningResult => {
    return { how: "failed", output: `${why}\n${tail.text(secretsOf(spec, dirty))}`.trimEnd() };
  };
  let group: ProcessGroup;
  try {
    group = await start(spec, dirty, tail);
  } catch (error) {
    return failed(`Cannot run ${spec.command[0]}: ${startErrorText(error)}`);
  }
  const reason = await runToEnd(group, spec.timeoutMs, signal);
  const { code, signal: by } = await group.exited;
  // A process that is left over could clean the resource while the next job uses it.
  await group.stop(reason === undefined ? 0 : graceMs);
  if (reason === "stopped") return { how: "stopped" };
  if (reason === "timeout") return failed(`The command was stopped at its timeout`);
  if (code === 0) return { how: "clean" };
  return failed(
    code === null ? `The command was killed by ${by}` : `The command exited with ${code}`,
  );
}

/** Rejects if the command cannot be started, also where `spawn` throws. */
async function start(spec: CleaningSpec, dirty: DirtyResource, tail: Tail): Promise<ProcessGroup> {
  const [file = "", ...args] = spec.command;
  const child = spawn(file, args, {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: environmentOf(spec, dirty),
  });
  child.stdout.on("data", (bytes: Buffer) => tail.add(bytes));
  child.stderr.on("data", (bytes: Buffer) => tail.add(bytes));
  return ProcessGroup.of(child);
}

const startErrors: Readonly<Record<string, string>> = {
  ERR_INVALID_ARG_VALUE: "a variable or an argument has a NUL character",
  E2BIG: "its variables and arguments are too long",
  ENOENT: "there is no such command",
  EACCES: "it is not executable",
};

/** Node's own message may contain the value of a variable, which may be a secret. */
function startErrorText(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  return startErrors[code] ?? code;
}

/** Resolves once the command has exited. Returns undefined if it exited by itself. */
async function runToEnd(
  group: ProcessGroup,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<"timeout" | "stopped" | undefined> {
  let reason: "timeout" | "stopped" | undefined;
  const stopFor = (why: "timeout" | "stopped") => () => {
    reason ??= why;
    void group.stop(graceMs);
  };
  const timer = setTimeout(stopFor("timeout"), timeoutMs);
  const stop = stopFor("stopped");
  signal.addEventListener("abort", stop);
  await group.exited;
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
  return reason;
}

function environmentOf(spec: CleaningSpec, dirty: DirtyResource): Record<string, string> {
  const own = inheritedVariables.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const mapped = Object.entries(spec.env).flatMap(([name, from]) => {
    const value = typeof from === "string" ? from : dirty.userData[from.userData];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(own),
    BERTH_RESOURCE: dirty.resource,
    BERTH_POOL: dirty.pool,
    ...Object.fromEntries(mapped),
  };
}

/** Shorter values are hardly secrets, and masking them would make the output unreadable. */
const secretLengthMin = 6;

/** The values of user data that the command received and may have printed. */
function secretsOf({ env }: CleaningSpec, { userData }: DirtyResource): string[] {
  return Object.values(env).flatMap((from) => {
    const value = typeof from === "string" ? undefined : userData[from.userData];
    return value === undefined || value.length < secretLengthMin ? [] : [value];
  });
}

/** Keeps the end of the output, whatever its length. */
class Tail {
  #bytes = Buffer.alloc(0);

  add(bytes: Buffer): void {
    // Keeps more than `text` returns, so that a secret at the start of the returned part is masked
    // as a whole.
    this.#bytes = Buffer.concat([this.#bytes, bytes]).subarray(-4 * outputLengthMax);
  }

  text(secrets: readonly string[]): string {
    let text = this.#bytes.toString("utf8");
    for (const secret of secrets) text = text.replaceAll(secret, "***");
    return text.slice(-outputLengthMax);
  }
}
