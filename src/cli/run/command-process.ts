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
 * The user's command, in a process group of its own.
 *
 * A terminal sends Ctrl-C to every process of its foreground group. If the command were in that
 * group, it would get the signal twice: from the terminal and from us. In its own group it gets
 * every signal once, and we can also stop the processes that it left in the background.
 */
export class CommandProcess {
  readonly #group: ProcessGroup;
  /** Resolves with the exit code in shell convention: 128+N if signal N killed the command. */
  readonly exited: Promise<number>;

  private constructor(group: ProcessGroup, drained: () => Promise<void>) {
    this.#group = group;
    this.exited = group.exited.then(async ({ code, signal }) => {
      await drained();
      return signal === null ? (code ?? exitCodes.bug) : exitCodeOfSignal(signal);
    });
  }

  /**
   * Starts the command. `watch` receives a copy of all its output. Throws a `CliError` if the
   * command does not start.
   */
  static async start(
    argv: readonly string[],
    env: NodeJS.ProcessEnv,
    watch?: OutputWatch,
  ): Promise<CommandProcess> {
    const [file = "", ...args] = argv;
    const out = watch === undefined ? "inherit" : "pipe";
    const child = spawn(file, args, { stdio: ["inherit", out, out], detached: true, env });
    const drained = watch === undefined ? async () => {} : copyOutput(child, watch);
    try {
      return new CommandProcess(await ProcessGroup.of(child), drained);
    } catch (error) {
      throw cannotStart(file, error as NodeJS.ErrnoException);
    }
  }

  signal(signal: SignalName): void {
    // The command's group is orphaned (it has no shell), and the kernel ignores SIGTSTP for such
    // groups. SIGSTOP always works.
    this.#group.signal(signal === "SIGTSTP" ? "SIGSTOP" : signal);
  }

  stop(graceMs: number): Promise<void> {
    return this.#group.stop(graceMs);
  }
}

export interface OutputWatch {
  read(stream: "stdout" | "stderr", chunk: Buffer): void;
}

/** A background process may keep the output pipe open. We wait no longer than this for its end. */
const drainMsMax = 1_000;

/** Copies the command's output to our own streams. The returned function waits for its end. */
function copyOutput(child: ChildProcess, watch: OutputWatch): () => Promise<void> {
  const ends = (["stdout", "stderr"] as const).map((name) => {
    const from = child[name];
    if (from === null) return Promise.resolve();
    from.on("data", (chunk: Buffer) => watch.read(name, chunk));
    // If our reader closes the pipe, the command gets EPIPE on its next write, as without us.
    process[name].removeAllListeners("error");
    process[name].on("error", () => from.destroy());
    from.pipe(process[name], { end: false });
    return finished(from).catch(() => {});
  });
  return async () => {
    await Promise.race([Promise.all(ends), pause(drainMsMax, undefined, { ref: false })]);
    // Background processes that still write get EPIPE, as if we had exited.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
}

/**
 * Throws a `CliError` if the command does not exist or is not executable. Callers check this before
 * they send a request, so that a typing error does not cost an hour in the queue.
 */
export function requireExecutable(file: string, path: string = process.env["PATH"] ?? ""): void {
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

function cannotStart(file: string, { code }: Pick<NodeJS.ErrnoException, "code">): CliError {
  if (code === "ENOENT") {
    const hint =
      "Check the name and PATH; the first line of a script must name an existing program";
    return new CliError(`Cannot run ${file}: command not found`, hint, exitCodes.commandNotFound);
  }
  const hint = "Check that it is a program, and make it executable: chmod +x";
  return new CliError(`Cannot run ${file}: it is not executable`, hint, exitCodes.notExecutable);
}
