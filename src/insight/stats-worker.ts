import { Worker } from "node:worker_threads";
import {
  type QueryKind,
  type QueryOptions,
  receivedError,
  type SentError,
  type StatsQueries,
} from "./stats-query.ts";

/** The limit of queries that wait for the thread. */
const waitingMax = 64;

/** The queue of the stats thread is full. */
export class StatsWorkerBusy extends Error {
  override readonly name = "StatsWorkerBusy";
}

/** The server stops. */
export class StatsWorkerClosed extends Error {
  override readonly name = "StatsWorkerClosed";
}

interface Waiting {
  readonly progress: ((share: number) => void) | undefined;
  resolve(answer: never): void;
  reject(error: unknown): void;
}

interface Reply {
  readonly number: number;
  /** A progress report: this share is done. */
  readonly progress?: number;
  readonly answer?: unknown;
  readonly failure?: SentError;
}

/**
 * Answers queries in another thread (`stats-thread.ts`). The thread starts with the first query,
 * and again if it dies. It does not keep the process alive.
 */
export class StatsWorker {
  readonly #folder: string | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #number = 0;
  #closed = false;

  /** The data folder; undefined if the thread has no file to read. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  ask<Kind extends QueryKind>(
    kind: Kind,
    question: StatsQueries[Kind]["question"],
    { signal, progress }: QueryOptions = {},
  ): Promise<StatsQueries[Kind]["answer"]> {
    if (this.#closed) return Promise.reject(closedWorker());
    // An aborted signal sends no further event.
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#waiting.size >= waitingMax) {
      const message = `Cannot answer: ${waitingMax} queries are already queued`;
      return Promise.reject(new StatsWorkerBusy(message));
    }
    return new Promise((resolve, reject) => {
      const number = this.#number++;
      this.#waiting.set(number, { resolve, reject, progress });
      this.#worker ??= this.#start();
      this.#worker.ref(); // Only while a caller waits for an answer.
      const worker = this.#worker;
      worker.postMessage({ number, kind, question });
      signal?.addEventListener("abort", () => worker.postMessage({ number, cancel: true }));
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#fail(closedWorker());
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(threadFile(), { workerData: this.#folder });
    worker.on("message", ({ number, progress, answer, failure }: Reply) => {
      const waiting = this.#waiting.get(number);
      if (progress !== undefined) return waiting?.progress?.(progress);
      this.#waiting.delete(number);
      if (this.#waiting.size === 0) worker.unref();
      if (failure === undefined) waiting?.resolve(answer as never);
      else waiting?.reject(receivedError(failure));
    });
    const die = (cause: unknown): void => {
      if (this.#worker === worker) this.#worker = undefined;
      this.#fail(cause);
    };
    worker.on("error", die);
    worker.on("exit", (code) =>
      die(new Error(`Cannot answer: the stats thread exited with ${code}`)),
    );
    return worker;
  }

  #fail(cause: unknown): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(cause);
  }
}

/** TypeScript in a checkout, JavaScript in a package. */
function threadFile(): URL {
  const [extension = ""] = /\.[jt]s$/.exec(new URL(import.meta.url).pathname) ?? [".ts"];
  return new URL(`./stats-thread${extension}`, import.meta.url);
}

export function closedWorker(): StatsWorkerClosed {
  return new StatsWorkerClosed("Cannot look into history: the server stops");
}
