import { after, type Instant } from "../core/model/time.ts";
import type { Environment } from "./environment.ts";

const checkEveryMs = 500;

/**
 * Detects that the process did not run for a while (a long pause, a suspended machine). Heartbeats
 * could not arrive meanwhile, so that time must not expire any lease. The watch has a timer of its
 * own, because an idle broker takes no turns.
 */
export class StallWatch {
  readonly #environment: Environment;
  readonly #stallMs: number;
  readonly #onStall: () => void;
  #lastCheckAt: Instant;
  #stopped = false;
  #cancel = () => {};

  constructor(environment: Environment, stallMs: number, onStall: () => void) {
    this.#environment = environment;
    this.#stallMs = stallMs;
    this.#onStall = onStall;
    this.#lastCheckAt = environment.now();
    this.#checkLater();
  }

  /** The broker calls this before every decision that may end a lease. */
  check(now: Instant): void {
    const hasStalled = now - this.#lastCheckAt > this.#stallMs;
    this.#lastCheckAt = now;
    if (hasStalled) this.#onStall();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #checkLater(): void {
    const at = after(this.#environment.now(), checkEveryMs);
    this.#cancel = this.#environment.wakeAt(at, () => {
      this.check(this.#environment.now());
      if (!this.#stopped) this.#checkLater(); // `onStall` may have called stop().
    });
  }
}
