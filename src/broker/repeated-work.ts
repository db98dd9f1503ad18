/**
 * Work that is worth doing again only after it was asked for. Calls during a run share the next run,
 * because the present one may have begun before what they ask for.
 */
export class RepeatedWork {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves after a run that began after this call. Rejects as the work does. */
  run(): Promise<void> {
    if (this.#next !== null) return this.#next;
    if (this.#running === null) return this.#runNow();
    this.#next = this.#running.then(() => {
      this.#next = null;
      return this.#runNow();
    });
    return this.#next;
  }

  /** Resolves once the present run has ended, well or not. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #runNow(): Promise<void> {
    const run = this.#work();
    this.#running = run.then(ignore, ignore).finally(() => {
      this.#running = null;
    });
    return run;
  }
}

function ignore(): void {}
