import { Worker } from "node:worker_threads";
import { type JobKind, type JobOptions, type Jobs, TooMuchHistory } from "./job.ts";

/** More than these are not kept waiting for the thread. */
const waitingMax = 64;

/** So many questions wait that another is not taken. */
export class AnalystBusy extends Error {
  override readonly name = "AnalystBusy";
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
  readonly error?: unknown;
}

/**
 * Thinks in another thread: percentiles over months, simulated weeks and the futures of a long queue
 * each take the time of thousands of grants. The thread is started with the first question, and again
 * if it dies; it keeps no process alive.
 */
export class Analyst {
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #number = 0;
  #closed = false;

  /** `path` is the journal's file, or `:memory:` where there is no history to read. */
  constructor(path: string) {
    this.#path = path;
  }

  study<Kind extends JobKind>(
    kind: Kind,
    ask: Jobs[Kind]["ask"],
    { signal, progress }: JobOptions = {},
  ): Promise<Jobs[Kind]["answer"]> {
    if (this.#closed) return Promise.reject(new Error("Cannot study: the analyst is closed"));
    if (signal?.aborted) return Promise.reject(signal.reason); // It tells nobody a second time.
    if (this.#waiting.size >= waitingMax) {
      const message = `Cannot study: ${waitingMax} questions are waiting to be`;
      return Promise.reject(new AnalystBusy(message));
    }
    return new Promise((resolve, reject) => {
      const number = this.#number++;
      this.#waiting.set(number, { resolve, reject, progress });
      this.#worker ??= this.#start();
      this.#worker.ref(); // While somebody waits for an answer.
      const worker = this.#worker;
      worker.postMessage({ number, kind, ask });
      signal?.addEventListener("abort", () => worker.postMessage({ number, cancel: true }));
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#worker = undefined;
    this.#fail(new Error("Cannot study: the analyst is closed"));
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(threadFile(), { workerData: this.#path });
    worker.on("message", ({ number, progress, answer, error }: Reply) => {
      const waiting = this.#waiting.get(number);
      if (progress !== undefined) return waiting?.progress?.(progress);
      this.#waiting.delete(number);
      if (this.#waiting.size === 0) worker.unref();
      if (error === undefined) waiting?.resolve(answer as never);
      else waiting?.reject(inOurWords(error));
    });
    const die = (cause: unknown): void => {
      if (this.#worker === worker) this.#worker = undefined;
      this.#fail(cause);
    };
    worker.on("error", die);
    worker.on("exit", (code) => die(new Error(`Cannot study: its thread ended with ${code}`)));
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

/** Between threads an error keeps its message and loses its class; those of Node's own it keeps. */
function inOurWords(error: unknown): unknown {
  const told = error instanceof Error && error.message.includes("claims ended in this time");
  return told ? new TooMuchHistory(error.message) : error;
}
