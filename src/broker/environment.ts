import type { Instant } from "../core/model/time.ts";

/**
 * Everything outside of the process that the broker uses, except its journal. The simulator passes an
 * environment with a virtual clock, so it runs the same code as production.
 */
export interface Environment {
  /** Never decreases. */
  now(): Instant;
  /**
   * Calls `wake` once, usually at `at` or later, and returns a function that cancels it. A call for
   * a very distant time may come earlier, so `wake` must check the time.
   */
  wakeAt(at: Instant, wake: () => void): () => void;
  /** Calls `run` after the input that is already here has been read, so that it forms one batch. */
  soon(run: () => void): void;
}

/** `setTimeout` fires at once if the delay is longer. */
const timeoutMsMax = 2 ** 31 - 1;

/**
 * Starts at the wall-clock time and is monotonic from then on: setting the system clock while the
 * broker runs neither ends a lease early nor keeps one for ever. `notBefore` is the time of the last
 * event in the journal; time in a restarted broker must not be earlier.
 */
export class SystemEnvironment implements Environment {
  readonly #startMs: number;

  constructor(notBefore = 0) {
    this.#startMs = Math.max(Date.now(), notBefore) - performance.now();
  }

  now(): Instant {
    return Math.floor(this.#startMs + performance.now()) as Instant;
  }

  wakeAt(at: Instant, wake: () => void): () => void {
    const delayMs = Math.min(Math.max(0, at - this.now()), timeoutMsMax);
    const timer = setTimeout(wake, delayMs).unref();
    return () => clearTimeout(timer);
  }

  soon(run: () => void): void {
    setImmediate(run);
  }
}
