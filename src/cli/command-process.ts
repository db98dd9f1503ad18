import { type ChildProcess, spawn } from "node:child_process";
import { constants as access, accessSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pause } from "../client/pause.ts";
import { exitCodes } from "./exit-codes.ts";
import { CliError } from "./failure.ts";
import { exitCodeOfSignal, type SignalName } from "./signals.ts";

/** How often to look whether the last process of a group is gone. */
const lookMs = 100;

/**
 * The command that a lease is held for, in a process group of its own.
 *
 * A terminal sends Ctrl-C to every process of its foreground group. Were the command one of them,
 * it would get the signal twice: from the terminal and from us. In its own group it gets it once,
 * as with every other signal, and what it leaves behind can be ended with it.
 */
export class CommandProcess {
  readonly #child: ChildProcess;
  readonly #group: number;
  /** The exit code as a shell would tell it. */
  readonly ended: Promise<number>;

  private constructor(child: ChildProcess, group: number) {
    this.#child = child;
    this.#group = group;
    this.ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        resolve(signal === null ? (code ?? exitCodes.bug) : exitCodeOfSignal(signal));
      });
    });
  }

  /** Throws what `cannotStart` makes of it. */
  static start(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<CommandProcess> {
    const [file = "", ...args] = argv;
    const child = spawn(file, args, { stdio: "inherit", detached: true, env });
    return new Promise((resolve, reject) => {
      const { pid } = child;
      if (pid !== undefined) return resolve(new CommandProcess(child, pid));
      child.once("error", (error: NodeJS.ErrnoException) => reject(cannotStart(file, error)));
    });
  }

  /** To the whole group; one that is gone hears nothing. */
  signal(signal: SignalName): void {
    // No shell looks after its group, so the kernel would drop the polite form of stop.
    const sent = signal === "SIGTSTP" ? "SIGSTOP" : signal;
    try {
      process.kill(-this.#group, sent);
    } catch {
      this.#child.kill(sent); // Between fork and setsid there is no group yet.
    }
  }

  /** TERM, then KILL for what is left of the group after the time of grace. */
  async stop(graceMs: number): Promise<void> {
    this.signal("SIGTERM");
    this.signal("SIGCONT"); // A stopped one could not hear it.
    for (let waitedMs = 0; waitedMs < graceMs && this.#isAlive(); waitedMs += lookMs) {
      await pause(Math.min(lookMs, graceMs));
    }
    if (this.#isAlive()) this.signal("SIGKILL");
    await this.ended;
  }

  #isAlive(): boolean {
    try {
      return process.kill(-this.#group, 0);
    } catch {
      return false;
    }
  }
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
