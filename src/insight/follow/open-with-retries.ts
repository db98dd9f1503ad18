import type { Followed } from "./journal-follower.ts";

interface Follower {
  /** The number of events that are not recorded yet. */
  readonly lag: number;
  /** Resolves once the file contains every event that is committed now, on disk. */
  onDisk(): Promise<void>;
}

export interface RetryOptions {
  /** The interval at which opening is tried again. */
  readonly retryMs?: number | undefined;
  /** Called if it cannot be opened at first. */
  readonly failed?: ((cause: unknown) => void) | undefined;
}

const defaultRetryMs = 30_000;

/**
 * What follows the journal in a file of its own. Grants do not depend on it: if the file cannot be opened,
 * this tries again by itself. Until then the journal keeps the events that the file lacks.
 */
export class OpenWithRetries<Opened extends { readonly follower: Follower }> {
  readonly #open: () => Opened;
  readonly #followed: Followed;
  readonly #retryMs: number;
  readonly #opened = Promise.withResolvers<Opened>();
  #state: Opened | Error;
  #stopListening = () => {};
  #timer: NodeJS.Timeout | undefined;

  /** `open` leaves nothing open if it throws. */
  constructor(open: () => Opened, followed: Followed, options: RetryOptions) {
    this.#open = open;
    this.#followed = followed;
    this.#retryMs = options.retryMs ?? defaultRetryMs;
    this.#state = this.#try();
    if (!(this.#state instanceof Error)) return;
    options.failed?.(this.#state);
    this.#stopListening = followed.listen({
      committed: () => {},
      caughtUp: async () => (await this.#opened.promise).follower.onDisk(),
    });
    this.#retryLater();
  }

  /** The error with which opening failed the last time, while it is not open. */
  get state(): Opened | Error {
    return this.#state;
  }

  get whenOpen(): Promise<Opened> {
    return this.#opened.promise;
  }

  get lag(): number {
    return this.#state instanceof Error ? this.#followed.head : this.#state.follower.lag;
  }

  /** Tries no more. Returns what is open. */
  stop(): Opened | undefined {
    this.#stopListening();
    clearTimeout(this.#timer);
    return this.#state instanceof Error ? undefined : this.#state;
  }

  #try(): Opened | Error {
    try {
      const opened = this.#open();
      this.#opened.resolve(opened);
      return opened;
    } catch (cause) {
      return cause instanceof Error ? cause : new Error(String(cause));
    }
  }

  #retryLater(): void {
    this.#timer = setTimeout(() => {
      this.#state = this.#try();
      if (this.#state instanceof Error) this.#retryLater();
      else this.#stopListening();
    }, this.#retryMs).unref();
  }
}
