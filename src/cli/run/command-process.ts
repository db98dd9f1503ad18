import { type ChildProcess, spawn } from "node:child_process";
import { constants as access, accessSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { finished } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { ProcessGroup } from "../../workers/process-group.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { exitCodeOfSignal, type SignalName } from "./signals.ts";

/**
 * The command that a lease is held for, in a process group of its own.
 *
 * A terminal sends Ctrl-C to every process of its foreground group. Were the command one of them,
 * it would get the signal twice: from the terminal and from us. In its own group it gets it once,
 * as with every other signal, and what it leaves behind can be ended with it.
 */
export class CommandProcess {
  readonly #group: ProcessGroup;
  /** The exit code as a shell would tell it. */
  readonly ended: Promise<number>;

  private constructor(group: ProcessGroup, drained: () => Promise<void>) {
    this.#group = group;
    this.ended = group.ended.then(async ({ code, signal }) => {
      await drained();
      return signal === null ? (code ?? exitCodes.bug) : exitCodeOfSignal(signal);
    });
  }

  /** Throws what `cannotStart` makes of it. Whoever watches is shown all that it says. */
  static async start(
    argv: readonly string[],
    env: NodeJS.ProcessEnv,
    watch?: OutputWatch,
  ): Promise<CommandProcess> {
    const [file = "", ...args] = argv;
    const out = watch === undefined ? "inherit" : "pipe";
    const child = spawn(file, args, { stdio: ["inherit", out, out], detached: true, env });
    const drained = watch === undefined ? async () => {} : passThrough(child, watch);
    try {
      return new CommandProcess(await ProcessGroup.of(child), drained);
    } catch (error) {
      throw cannotStart(file, error as NodeJS.ErrnoException);
    }
  }

  signal(signal: SignalName): void {
    // No shell looks after its group, so the kernel would drop the polite form of stop.
    this.#group.signal(signal === "SIGTSTP" ? "SIGSTOP" : signal);
  }

  stop(graceMs: number): Promise<void> {
    return this.#group.stop(graceMs);
  }
}

export interface OutputWatch {
  read(stream: "stdout" | "stderr", chunk: Buffer): void;
}

/** What a process in the background still holds open is not waited for longer than this. */
const drainMs = 1_000;

/** Copies what it says to where it would have gone, and returns how to wait for the last of it. */
function passThrough(child: ChildProcess, watch: OutputWatch): () => Promise<void> {
  const ends = (["stdout", "stderr"] as const).map((name) => {
    const from = child[name];
    if (from === null) return Promise.resolve();
    from.on("data", (chunk: Buffer) => watch.read(name, chunk));
    // A reader of ours that goes away is gone for the command, and no reason for us to end.
    process[name].removeAllListeners("error");
    process[name].on("error", () => from.destroy());
    from.pipe(process[name], { end: false });
    return finished(from).catch(() => {});
  });
  return async () => {
    await Promise.race([Promise.all(ends), pause(drainMs, undefined, { ref: false })]);
    // Whoever still has it open writes to nobody, as when we had ended.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
}

/** Looks before anything is asked for: nobody queues for an hour to learn of a typing error. */
export function mustBeThere(file: string, path: string = process.env["PATH"] ?? ""): void {
  const places = file.includes("/") ? [file] : path.split(delimiter).map((dir) => join(dir, file));
  const there = places.flatMap((place) => {
    const found = statSync(place, { throwIfNoEntry: false });
    return found === undefined ? [] : [{ place, isFile: found.isFile() }];
  });
  if (there.length === 0) throw cannotStart(file, { code: "ENOENT" });
  const runs = there.some(({ place, isFile }) => isFile && isExecutable(place));
  if (!runs) throw cannotStart(file, { code: "EACCES" });
}

function isExecutable(place: string): boolean {
  try {
    accessSync(place, access.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What has no first line to name its shell is run by `sh`, as everywhere. */
function cannotStart(file: string, { code }: Pick<NodeJS.ErrnoException, "code">): CliError {
  if (code === "ENOENT") {
    const hint = "Check its name and PATH; a script's first line must name a program that is there";
    return new CliError(`Cannot run ${file}: it was not found`, hint, exitCodes.commandNotFound);
  }
  const hint = "Check that it is a program and may be executed: chmod +x";
  return new CliError(`Cannot run ${file}: it is not executable`, hint, exitCodes.notExecutable);
}
