import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { SeedReport } from "./seed-worker.ts";

const workerPath = fileURLToPath(new URL("seed-worker.ts", import.meta.url));

export interface SeedPoolOptions {
  /** The first seed, and the number of seeds. */
  readonly first: number;
  readonly count: number;
  readonly workers: number;
  /** Bugs to plant, as in `bugs.ts`. */
  readonly bugs: object;
  /** Called for every seed when it has finished; false stops the run. */
  readonly ended: (report: SeedReport) => boolean;
}

/** Spreads seeds over worker processes. A process that dies counts as a failure of its seed. */
export class SeedPool {
  readonly #options: SeedPoolOptions;
  readonly #workers = new Set<ChildProcess>();
  #next: number;
  #stopped = false;

  constructor(options: SeedPoolOptions) {
    this.#options = options;
    this.#next = options.first;
  }

  /** Resolves when all seeds have finished, or after `stop` when the last worker has exited. */
  async run(): Promise<void> {
    const { workers, count } = this.#options;
    await Promise.all(Array.from({ length: Math.min(workers, count) }, () => this.#work()));
  }

  /** Stops the seeds that are running. */
  stop(): void {
    this.#stopped = true;
    for (const worker of this.#workers) worker.kill("SIGKILL");
  }

  async #work(): Promise<void> {
    const last = this.#options.first + this.#options.count - 1;
    while (!this.#stopped && this.#next <= last) await this.#employ(last);
  }

  /** One process, for as many seeds as possible until it dies. */
  #employ(last: number): Promise<void> {
    const { bugs, ended } = this.#options;
    const execArgv = ["--disable-warning=ExperimentalWarning"];
    const worker = fork(workerPath, [JSON.stringify(bugs)], { execArgv });
    this.#workers.add(worker);
    let current: number | undefined;
    const next = (): void => {
      current = this.#stopped || this.#next > last ? undefined : this.#next++;
      if (current === undefined) worker.disconnect();
      else worker.send(current);
    };
    const tell = (report: SeedReport): void => {
      if (!this.#stopped && !ended(report)) this.stop();
    };
    worker.on("message", (report: SeedReport) => {
      tell(report);
      if (worker.connected) next();
    });
    next();
    return new Promise((resolve) => {
      worker.once("exit", (code, signal) => {
        this.#workers.delete(worker);
        if (current !== undefined) {
          tell({ seed: current, ok: false, why: `its process exited with ${signal ?? code}` });
        }
        resolve();
      });
    });
  }
}
