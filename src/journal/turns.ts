import { addAbortListener } from "node:events";

/** With more than `max` that run or wait, another one is refused with this error. */
export interface TurnsLimit {
  readonly max: number;
  readonly refusal: () => Error;
}

/**
 * Runs one task at a time, in the order in which they came, and lets the event loop go on in between: many
 * long reads of the journal do not take the thread from other calls.
 */
export class Turns {
  readonly #limit: TurnsLimit | undefined;
  #last: Promise<void> = Promise.resolve();
  #size = 0;

  constructor(limit?: TurnsLimit) {
    this.#limit = limit;
  }

  /** An aborted task that has not begun never does, and does not count any more. */
  async run<Result>(task: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    if (this.#limit !== undefined && this.#size >= this.#limit.max) throw this.#limit.refusal();
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    this.#size += 1;
    try {
      await untilAborted(before, signal);
      return await task();
    } finally {
      this.#size -= 1;
      void before.then(() => setImmediate(resolve));
    }
  }
}

/** Rejects as soon as the signal is aborted. */
async function untilAborted(done: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return await done;
  const aborted = Promise.withResolvers<void>();
  using _ = addAbortListener(signal, () => aborted.reject(signal.reason));
  await Promise.race([done, aborted.promise]);
  signal.throwIfAborted();
}
