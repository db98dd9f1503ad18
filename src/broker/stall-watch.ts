import { after, type Instant } from "../core/model/time.ts";
import type { Environment } from "./environment.ts";

const lookEveryMs = 500;

/**
 * Notices that the process stood still: it could not listen meanwhile, so that time must not count
 * against those who spoke. It looks by itself, because a broker with nothing to do has no turns.
 */
export class StallWatch {
  readonly #environment: Environment;
  readonly #stallMs: number;
  readonly #stalled: () => void;
  #aliveAt: Instant;
  #stop = () => {};

  constructor(environment: Environment, stallMs: number, stalled: () => void) {
    this.#environment = environment;
    this.#stallMs = stallMs;
    this.#stalled = stalled;
    this.#aliveAt = environment.now();
    this.#lookLater();
  }

  /** Before anything is decided that may end a lease. */
  look(now: Instant): void {
    const stalled = now - this.#aliveAt > this.#stallMs;
    this.#aliveAt = now;
    if (stalled) this.#stalled();
  }

  stop(): void {
    this.#stop();
  }

  #lookLater(): void {
    const at = after(this.#environment.now(), lookEveryMs);
    this.#stop = this.#environment.wakeAt(at, () => {
      this.look(this.#environment.now());
      this.#lookLater();
    });
  }
}
