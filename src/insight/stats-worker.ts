import { Worker } from "node:worker_threads";
import {
  type QueryKind,
  type QueryOptions,
  receivedError,
  type SentError,
  type StatsQueries,
} from "./stats-query.ts";

/** More than these are not kept waiting for the thread. */
const waitingMax = 64;

/** So many questions wait that another is not taken. */
export class StatsWorkerBusy extends Error {
  override readonly name = "StatsWorkerBusy";
}

interface Waiting {
  readonly progress: ((share: number) => void) | undefined;
  resolve(answer: never): void;
  reject(error: unknown): void;
}

interface Reply {
  readonly number: number;
  /** It goes on: so much is done. */
  readonly progress?: number;
  readonly answer?: unknown;
  readonly failure?: SentError;
}

/**
 * Answers questions in another thread (`stats-thread.ts`). The thread is started with the first
 * question, and again if it dies; it keeps no process alive.
 */
export class StatsWorker {
  readonly #path: string | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #number = 0;
  #closed = false;

  /** `path` is the history file; undefined where the thread has none to read. */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  ask<Kind extends QueryKind>(
    kind: Kind,
    question: StatsQueries[Kind]["question"],
    { signal, progress }: QueryOptions = {},
  ): Promise<StatsQueries[Kind]["answer"]> {
    if (this.#closed) return Promise.reject(closedWorker());
    if (signal?.aborted) return Promise.reject(signal.reason); // It tells nobody a second time.
    if (this.#waiting.size >= waitingMax) {
      const message = `Cannot answer: ${waitingMax} questions are already queued`;
      return Promise.reject(new StatsWorkerBusy(message));
    }
    return new Promise((resolve, reject) => {
      const number = this.#number++;
      this.#waiting.set(number, { resolve, reject, progress });
      this.#worker ??= this.#start();
      this.#worker.ref(); // While somebody waits for an answer.
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
    const worker = new Worker(threadFile(), { workerData: this.#path });
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
      die(new Error(`Cannot answer: the stats thread ended with ${code}`)),
    );
    return worker;
  }

  #fail(cause: unknown): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(cause);
  }
}

/** As it is written in a checkout, compiled in a package. */
function threadFile(): URL {
  const [extension = ""] = /\.[jt]s$/.exec(new URL(import.meta.url).pathname) ?? [".ts"];
  return new URL(`./stats-thread${extension}`, import.meta.url);
}

function closedWorker(): Error {
  return new Error("Cannot answer: the stats worker is closed");
}
