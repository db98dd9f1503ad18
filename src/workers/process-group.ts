import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

/** The interval of the check whether the last process of a group has exited. */
const pollIntervalMs = 100;

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * A child in its own process group (`detached`), so that it is stopped with every process it
 * started.
 */
export class ProcessGroup {
  readonly #child: ChildProcess;
  readonly #group: number;
  readonly exited: Promise<ProcessExit>;

  private constructor(child: ChildProcess, group: number) {
    this.#child = child;
    this.#group = group;
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
  }

  /** Rejects with the system error if the child could not be started. */
  static of(child: ChildProcess): Promise<ProcessGroup> {
    return new Promise((resolve, reject) => {
      const { pid } = child;
      if (pid !== undefined) return resolve(new ProcessGroup(child, pid));
      child.once("error", reject);
    });
  }

  /** Sends the signal to the whole group. Has no effect if the group has exited. */
  signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#group, signal);
    } catch {
      this.#child.kill(signal); // The group does not exist between fork and setsid.
    }
  }

  /** Sends TERM, and KILL to the remaining processes after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.signal("SIGTERM");
    this.signal("SIGCONT"); // A suspended process could not handle SIGTERM.
    for (let waitedMs = 0; waitedMs < graceMs && this.#isAlive(); waitedMs += pollIntervalMs) {
      await pause(Math.min(pollIntervalMs, graceMs));
    }
    if (this.#isAlive()) this.signal("SIGKILL");
    await this.exited;
  }

  #isAlive(): boolean {
    try {
      return process.kill(-this.#group, 0);
    } catch {
      return false;
    }
  }
}
