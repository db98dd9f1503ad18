/** Runs the program of a driver for one call. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ProcessGroup } from "../../workers/process-group.ts";
import { OutputEnd } from "./output-end.ts";

/** How long the program has to end after TERM. */
const graceMs = 5_000;
/** What is in the pipe when the program exits is read within this time, also if a daemon has it open. */
const drainMs = 1_000;

export interface ProgramCall {
  readonly command: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeMsMax: number;
  /** More than this on standard output ends the program; only the end is kept anyway. */
  readonly outputBytesMax: number;
  readonly keepBytes: { readonly stdout: number; readonly stderr: number };
  readonly signal?: AbortSignal | undefined;
}

export interface ProgramEnd {
  readonly stdout: string;
  readonly stderr: string;
  /** Undefined if the program did not end by itself. */
  readonly code: number | undefined;
  /** Why it has no code, in words: `was ended after 5 m`. */
  readonly why: string;
  readonly reason: "exited" | "killed" | "timeout" | "too-much" | "not-started";
}

/**
 * Resolves however the program ends, and with it every process that it started and that is still in
 * its group. Rejects only if the signal is aborted.
 */
export async function runProgram(call: ProgramCall): Promise<ProgramEnd> {
  call.signal?.throwIfAborted();
  const stdout = new OutputEnd(call.keepBytes.stdout);
  const stderr = new OutputEnd(call.keepBytes.stderr);
  const texts = () => ({ stdout: stdout.text(), stderr: stderr.text() });
  const run = await started(call).catch((error: unknown) => startErrorText(error));
  if (typeof run === "string") {
    return { ...texts(), code: undefined, why: run, reason: "not-started" };
  }
  const { child, group } = run;
  const stop = new Stop(group);
  child.stdout?.on("data", (bytes: Buffer) => {
    stdout.add(bytes);
    if (stdout.total > call.outputBytesMax) stop.for("too-much");
  });
  child.stderr?.on("data", (bytes: Buffer) => stderr.add(bytes));
  const timer = setTimeout(() => stop.for("timeout"), call.timeMsMax);
  const aborted = () => stop.for("aborted");
  call.signal?.addEventListener("abort", aborted);
  const closed = Promise.all(
    [child.stdout, child.stderr].map((each) => each && once(each, "close")),
  );
  child.stdin?.on("error", () => {}).end(call.input); // It need not read its input.
  const { code, signal } = await group.exited;
  clearTimeout(timer);
  call.signal?.removeEventListener("abort", aborted);
  await stop.rest();
  await Promise.race([closed, pause(drainMs, undefined, { ref: false })]);
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.stdio[3]?.destroy();
  call.signal?.throwIfAborted();
  return { ...texts(), ...outcomeOf(code, signal, stop.reason, call) };
}

function outcomeOf(
  code: number | null,
  signal: NodeJS.Signals | null,
  reason: Stop["reason"],
  { timeMsMax, outputBytesMax }: ProgramCall,
): Pick<ProgramEnd, "code" | "why" | "reason"> {
  if (reason === "timeout") {
    return { code: undefined, reason, why: `did not end within ${timeMsMax / 1_000} s` };
  }
  if (reason === "too-much") {
    const why = `printed more than ${outputBytesMax.toLocaleString("en-US")} bytes`;
    return { code: undefined, reason, why };
  }
  if (code === null) return { code: undefined, reason: "killed", why: `was killed by ${signal}` };
  return { code, reason: "exited", why: `exited with ${code}` };
}

/** Ends the group once, for the first reason. */
class Stop {
  readonly #group: ProcessGroup;
  #stopped: Promise<void> | undefined;
  reason: "timeout" | "too-much" | "aborted" | undefined;

  constructor(group: ProcessGroup) {
    this.#group = group;
  }

  for(reason: "timeout" | "too-much" | "aborted"): void {
    this.reason ??= reason;
    this.#stopped ??= this.#group.stop(graceMs);
  }

  /** Nothing that the program has left in its group goes on. A daemon has a session of its own. */
  rest(): Promise<void> {
    this.#stopped ??= this.#group.stop(0);
    return this.#stopped;
  }
}

interface Run {
  readonly child: ChildProcess;
  readonly group: ProcessGroup;
}

/**
 * Ends the whole group as soon as descriptor 3 closes, which happens however this process ends. A
 * program that goes on after its provisioner was killed could make a cluster that the next one has
 * just destroyed.
 */
const untilOrphaned = '(read -r _ <&3; kill -9 -$$) > /dev/null 2>&1 & exec 3<&-; exec "$@"';

async function started({ command, folder, env }: ProgramCall): Promise<Run> {
  const [file = "", ...args] = command;
  // A shell would only exit with 126 or 127.
  if (file.includes("/")) await access(resolve(folder, file), constants.X_OK);
  const child = spawn("/bin/sh", ["-c", untilOrphaned, "sh", file, ...args], {
    detached: true,
    cwd: folder,
    env: { ...env },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  child.stdio[3]?.on("error", () => {});
  return { child, group: await ProcessGroup.of(child) };
}

const startErrors: Readonly<Record<string, string>> = {
  ERR_INVALID_ARG_VALUE: "a variable or an argument has a NUL character",
  E2BIG: "its variables and arguments are too long",
  ENOENT: "there is no such program",
  EACCES: "it is not executable",
};

/** Node's own message may contain the value of a variable. */
function startErrorText(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  return `cannot be started: ${startErrors[code] ?? code}`;
}
