/**
 * An abort controller that also aborts with other signals, until `unlink`. `AbortSignal.any` would
 * leak: a long-lived signal keeps a reference to each signal made from it.
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

  /** Removes the links to the other signals. Call it when the work is done or has failed. */
  unlink(): void {
    for (const remove of this.#links) remove();
  }

  #link(longer: AbortSignal): () => void {
    const follow = () => this.#controller.abort(longer.reason);
    if (longer.aborted) follow();
    else longer.addEventListener("abort", follow, { once: true });
    return () => longer.removeEventListener("abort", follow);
  }
}

/** Rejects when the signal aborts. The work itself continues, but its result is ignored. */
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
