import type { Instant } from "../core/model/time.ts";
import type { Environment } from "./environment.ts";

interface Wake {
  readonly at: Instant;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that the test advances. Only time is virtual: `soon` is the next turn of the event loop. */
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

  startOver(at: Instant): void {
    if (at > this.#now) this.#now = at;
  }

  soon(run: () => void): void {
    setImmediate(run);
  }

  /** Advances the time step by step: each timer on the way runs at its own time. */
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

  /** Simulates a process that did not run: first the time jumps, then all due timers run. */
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

/** Turns the event loop until the condition is true. Otherwise the timeout of the test ends it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
