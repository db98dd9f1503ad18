/** Runs one task at a time, in the order in which they came, and lets the event loop go on in between. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    try {
      return await task();
    } finally {
      setImmediate(resolve);
    }
  }
}
