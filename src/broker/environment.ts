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
  /**
   * Takes the time of the machine again, which may be the time of others, but is not before `at`: the
   * time of the last event of another server.
   */
  startOver(at: Instant): void;
  /** Calls `run` after the input that is already here has been read, so that it forms one batch. */
  soon(run: () => void): void;
}

/** `setTimeout` fires at once if the delay is longer. */
const timeoutMsMax = 2 ** 31 - 1;

/**
 * The speed of a broker clock that is ahead of the wall clock. Slower is safe: leases last longer than
 * their holders expect, never shorter.
 */
const slowSpeed = 0.9;

export interface Clocks {
  /** Milliseconds since 1970, which a person or a program can set. */
  readonly wall: () => number;
  /** Milliseconds since the process started. */
  readonly monotonic: () => number;
}

const systemClocks: Clocks = { wall: () => Date.now(), monotonic: () => performance.now() };

/**
 * Starts at the wall-clock time and is monotonic from then on: setting the system clock while the
 * broker runs neither ends a lease early nor keeps one for ever. `notBefore` is the time of the last
 * event in the journal; time in a restarted broker must not be earlier. If the wall clock is behind
 * it, the broker clock runs slower until the wall clock of the start has caught up.
 */
export class SystemEnvironment implements Environment {
  readonly #clocks: Clocks;
  #startedAtMs: number;
  #wallAtStart: number;
  #notBefore: number;

  constructor(notBefore = 0, clocks: Clocks = systemClocks) {
    this.#clocks = clocks;
    this.#startedAtMs = clocks.monotonic();
    this.#wallAtStart = clocks.wall();
    this.#notBefore = notBefore;
  }

  /** How far the wall clock was ahead of the last event at the start; negative: behind it. */
  get startGapMs(): number {
    return this.#wallAtStart - this.#notBefore;
  }

  now(): Instant {
    const elapsedMs = this.#elapsedMs();
    const slow = this.#notBefore + elapsedMs * slowSpeed;
    return Math.floor(Math.max(this.#wallAtStart + elapsedMs, slow)) as Instant;
  }

  startOver(at: Instant): void {
    const now = this.now();
    this.#startedAtMs = this.#clocks.monotonic();
    this.#wallAtStart = this.#clocks.wall();
    this.#notBefore = Math.max(at, now);
  }

  /** How far this clock is ahead of the wall clock now; negative: behind it. */
  aheadMs(): number {
    return this.now() - this.#clocks.wall();
  }

  #elapsedMs(): number {
    return this.#clocks.monotonic() - this.#startedAtMs;
  }

  wakeAt(at: Instant, wake: () => void): () => void {
    const normalMs = at - this.#wallAtStart;
    const slowMs = (at - this.#notBefore) / slowSpeed;
    const delayMs = Math.max(0, Math.min(normalMs, slowMs) - this.#elapsedMs());
    const timer = setTimeout(wake, Math.min(Math.ceil(delayMs), timeoutMsMax)).unref();
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
