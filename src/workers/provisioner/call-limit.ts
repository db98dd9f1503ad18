/** Lets so many calls run at once; the others wait for their turn, in order. */
export class CallLimit {
  readonly #max: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  get running(): number {
    return this.#running;
  }

  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#max) {
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await call();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next(); // It takes the place of this one.
    }
  }
}
