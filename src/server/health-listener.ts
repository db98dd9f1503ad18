import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { CannotServe, exitCodes } from "./cannot-serve.ts";
import type { ListenAddress } from "./listen-address.ts";

export interface HealthSetup {
  readonly flag: string;
  readonly address: ListenAddress;
  /** Two 32-bit numbers: whether the server is ready, and a number that changes while it runs. */
  readonly shared: SharedArrayBuffer;
}

/** The address, or why the thread cannot listen there. */
export type HealthReply =
  | { readonly url: string }
  | { readonly message: string; readonly hint?: string };

const beatEveryMs = 500;

/**
 * Serves `/healthz` and `/healthz/ready` from a thread of its own, because a slow disk stops the
 * server's thread for the length of a sync (`docs/decisions/0018-health-from-a-thread.md`).
 */
export class HealthListener {
  readonly url: string;
  readonly #worker: Worker;
  readonly #cells: Int32Array;
  readonly #timer: NodeJS.Timeout;

  private constructor(url: string, worker: Worker, cells: Int32Array) {
    this.url = url;
    this.#worker = worker;
    this.#cells = cells;
    this.#timer = setInterval(() => Atomics.add(cells, 1, 1), beatEveryMs).unref();
  }

  /** Throws `CannotServe` if it cannot listen there. */
  static async start(flag: string, address: ListenAddress): Promise<HealthListener> {
    const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
    const setup: HealthSetup = { flag, address, shared };
    const worker = new Worker(threadFile(), { workerData: setup });
    const [reply]: HealthReply[] = await once(worker, "message");
    if (reply !== undefined && "url" in reply) {
      worker.unref();
      return new HealthListener(reply.url, worker, new Int32Array(shared));
    }
    await worker.terminate();
    const message = reply?.message ?? "Cannot start the thread for health checks";
    const hint = reply?.hint ?? `Start without ${flag}`;
    throw new CannotServe(message, hint, exitCodes.unavailable);
  }

  setReady(isReady: boolean): void {
    Atomics.store(this.#cells, 0, isReady ? 1 : 0);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#worker.terminate();
  }
}

/** The thread runs the same kind of file as this one: TypeScript in a checkout, else JavaScript. */
function threadFile(): URL {
  const [extension = ""] = /\.[jt]s$/.exec(new URL(import.meta.url).pathname) ?? [".ts"];
  return new URL(`./health-thread${extension}`, import.meta.url);
}
