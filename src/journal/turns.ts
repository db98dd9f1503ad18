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

  /** An aborted task that has not begun never does. */
  async run<Result>(task: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    if (this.#limit !== undefined && this.#size >= this.#limit.max) throw this.#limit.refusal();
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    this.#size += 1;
    await before;
    try {
      signal?.throwIfAborted();
      return await task();
    } finally {
      this.#size -= 1;
      setImmediate(resolve);
    }
  }
}
