import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

/** How often to look whether the last process of a group is gone. */
const lookMs = 100;

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child in a process group of its own (`detached`), so that all that it starts ends with it. */
export class ProcessGroup {
  readonly #child: ChildProcess;
  readonly #group: number;
  readonly ended: Promise<ProcessEnd>;

  private constructor(child: ChildProcess, group: number) {
    this.#child = child;
    this.#group = group;
    this.ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
  }

  /** Rejects with the system's error if it could not be started. */
  static of(child: ChildProcess): Promise<ProcessGroup> {
    return new Promise((resolve, reject) => {
      const { pid } = child;
      if (pid !== undefined) return resolve(new ProcessGroup(child, pid));
      child.once("error", reject);
    });
  }

  /** To the whole group; one that is gone hears nothing. */
  signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#group, signal);
    } catch {
      this.#child.kill(signal); // Between fork and setsid there is no group yet.
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
