/** The clock that the broker runs on, and the timers on it. */
import { after, type Instant } from "../core/model/time.ts";

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

/** One timer, set to the earliest of the requested times. */
export class Alarm {
  readonly #environment: Environment;
  readonly #wake: () => void;
  #setFor = Number.POSITIVE_INFINITY;
  #cancel = () => {};

  constructor(environment: Environment, wake: () => void) {
    this.#environment = environment;
    this.#wake = wake;
  }

  /** Keeps an earlier timer as it is. A callback that runs too early sets the alarm again. */
  set(at: Instant): void {
    if (at >= this.#setFor) return;
    this.clear();
    this.#setFor = at;
    this.#cancel = this.#environment.wakeAt(at, () => {
      this.#setFor = Number.POSITIVE_INFINITY;
      this.#wake();
    });
  }

  clear(): void {
    this.#cancel();
    this.#setFor = Number.POSITIVE_INFINITY;
  }
}

/** How often the watch checks, at least: an idle broker takes no turns. */
const checkEveryMsMax = 500;
/** How many checks happen in the shortest pause that counts. */
const checksPerPause = 3;

/**
 * Detects that the process did not run for a while (a long pause, a suspended machine). Heartbeats
 * could not arrive meanwhile, so that time must not expire any lease. The watch has a timer of its
 * own, because an idle broker takes no turns. The limit follows the shortest ttl in use: a pause of a
 * second is nothing for a ttl of minutes, and too much for a ttl of a second.
 */
export class StallWatch {
  readonly #environment: Environment;
  #stallMs: number;
  readonly #onStall: (pausedMs: number) => void;
  #lastCheckAt: Instant;
  #stopped = false;
  #cancel = () => {};

  constructor(environment: Environment, stallMs: number, onStall: (pausedMs: number) => void) {
    this.#environment = environment;
    this.#stallMs = stallMs;
    this.#onStall = onStall;
    this.#lastCheckAt = environment.now();
    this.#checkLater();
  }

  /** Pauses longer than this are stalls from now on, unless the limit is shorter already. */
  lowerLimit(stallMs: number): void {
    if (stallMs >= this.#stallMs) return;
    this.#stallMs = stallMs;
    this.#cancel();
    this.#checkLater();
  }

  /** The broker calls this before every decision that may end a lease. */
  check(now: Instant): void {
    const pausedMs = now - this.#lastCheckAt;
    this.#lastCheckAt = now;
    if (pausedMs > this.#stallMs) this.#onStall(pausedMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #checkLater(): void {
    if (this.#stopped) return;
    const everyMs = Math.min(checkEveryMsMax, Math.floor(this.#stallMs / checksPerPause));
    const at = after(this.#environment.now(), everyMs);
    this.#cancel = this.#environment.wakeAt(at, () => {
      this.check(this.#environment.now());
      this.#checkLater(); // `onStall` may have called stop().
    });
  }
}
