/**
 * Aborts when it is told to, and with signals that live longer, until it is let go. What
 * `AbortSignal.any` makes is remembered by those signals for as long as they live: a little of each
 * call, for months.
 */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #links: readonly (() => void)[];

  constructor(...longer: readonly (AbortSignal | undefined)[]) {
    this.#links = longer.flatMap((signal) => (signal === undefined ? [] : this.#link(signal)));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  /** To be called when the work is over, however it ended: nothing aborts it from outside any more. */
  letGo(): void {
    for (const unlink of this.#links) unlink();
  }

  #link(longer: AbortSignal): () => void {
    const follow = () => this.#controller.abort(longer.reason);
    if (longer.aborted) follow();
    else longer.addEventListener("abort", follow, { once: true });
    return () => longer.removeEventListener("abort", follow);
  }
}

/** For work that knows no signal: it goes on when the signal aborts, and nobody waits for it. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
