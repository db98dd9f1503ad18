import type { Instant } from "../core/model/time.ts";
import type { Environment } from "./environment.ts";

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
