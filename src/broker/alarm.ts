import type { Instant } from "../core/model/time.ts";
import type { Environment } from "./environment.ts";

/** One wake-up call at the earliest of the times that were asked for. */
export class Alarm {
  readonly #environment: Environment;
  readonly #wake: () => void;
  #setFor = Number.POSITIVE_INFINITY;
  #cancel = () => {};

  constructor(environment: Environment, wake: () => void) {
    this.#environment = environment;
    this.#wake = wake;
  }

  /** A call that comes sooner stays as it is: who is woken too early asks again. */
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
