import type { Instant } from "../core/model/time.ts";

/**
 * Everything of the world that the broker touches besides its journal. The simulator has its own,
 * with a clock that jumps on command, so what runs there is the code that runs in production.
 */
export interface Environment {
  /** Never smaller than before. */
  now(): Instant;
  /** Calls back once, not before `at`; returns how to call it off. */
  wakeAt(at: Instant, wake: () => void): () => void;
  /** Calls back after what is arriving at this moment has arrived, so that it becomes one batch. */
  soon(run: () => void): void;
}

/** `setTimeout` fires at once for anything longer. */
const timeoutMsMax = 2 ** 31 - 1;

/**
 * Wall-clock time when it starts, monotonic from then on: a clock that is set forward or back while
 * the broker runs neither ends a lease early nor keeps one for ever. `notBefore` is the time of the
 * last thing that happened, which a restarted broker must not fall behind.
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
