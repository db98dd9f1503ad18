import type { Instant } from "../core/model/time.ts";
import type { Environment } from "./environment.ts";

interface Wake {
  readonly at: Instant;
  readonly order: number;
  readonly run: () => void;
}

/** A clock in the test's hand. Everything but time is real: `soon` is the event loop's next turn. */
export class HandClock implements Environment {
  #now: Instant;
  #order = 0;
  #wakes: Wake[] = [];

  constructor(notBefore = 0) {
    this.#now = Math.max(1_700_000_000_000, notBefore) as Instant;
  }

  now(): Instant {
    return this.#now;
  }

  wakeAt(at: Instant, run: () => void): () => void {
    const wake = { at, order: this.#order++, run };
    this.#wakes.push(wake);
    return () => {
      this.#wakes = this.#wakes.filter((other) => other !== wake);
    };
  }

  soon(run: () => void): void {
    setImmediate(run);
  }

  /** Lets time pass; whatever falls due on the way happens at its time. */
  async advance(durationMs: number): Promise<void> {
    const end = this.#now + durationMs;
    await settled();
    for (let wake = this.#first(end); wake !== undefined; wake = this.#first(end)) {
      this.#run(wake);
      await settled();
    }
    this.#now = end as Instant;
    await settled();
  }

  /** As if the process had stood still: nothing happens meanwhile, then everything at once. */
  async stall(durationMs: number): Promise<void> {
    this.#now = (this.#now + durationMs) as Instant;
    await this.advance(0);
  }

  #first(end: number): Wake | undefined {
    this.#wakes.sort((a, b) => a.at - b.at || a.order - b.order);
    const [first] = this.#wakes;
    return first !== undefined && first.at <= end ? first : undefined;
  }

  #run(wake: Wake): void {
    this.#wakes = this.#wakes.filter((other) => other !== wake);
    if (wake.at > this.#now) this.#now = wake.at;
    wake.run();
  }
}

/** Long enough for a batch to be decided, committed to memory and answered. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Turns the event loop until it is so; what never comes true ends with the test's own timeout. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
