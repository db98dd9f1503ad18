/** A rate, and how much may come at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

const sweptKeysMin = 1_024;

/**
 * One bucket of tokens per key. A bucket is one number: the time at which it would be full again
 * (the generic cell rate algorithm). Full buckets are forgotten, and there is a limit of keys, so
 * that callers cannot fill the memory with names and addresses that they make up.
 */
export class TokenBuckets {
  readonly #keysMax: number;
  readonly #fullAtMs = new Map<string, number>();
  /** With this many keys the full buckets are forgotten. */
  #sweepAt: number;
  #rate: Rate;

  constructor(rate: Rate, keysMax: number) {
    this.#rate = rate;
    this.#keysMax = keysMax;
    this.#sweepAt = Math.min(keysMax, sweptKeysMin);
  }

  get size(): number {
    return this.#fullAtMs.size;
  }

  configure(rate: Rate): void {
    this.#rate = rate;
  }

  /** Takes a token and returns 0, or returns after how many milliseconds there will be one. */
  take(key: string, nowMs: number): number {
    const everyMs = 1_000 / this.#rate.perSecond;
    const known = this.#fullAtMs.get(key);
    const fullAtMs = known === undefined ? nowMs : Math.max(known, nowMs);
    const waitMs = fullAtMs - nowMs - (this.#rate.burst - 1) * everyMs;
    if (waitMs > 0) return waitMs;
    if (known === undefined && this.#fullAtMs.size >= this.#sweepAt) this.#sweep(nowMs);
    this.#fullAtMs.set(key, fullAtMs + everyMs);
    return 0;
  }

  /** As `take`, but takes nothing. */
  waitMs(key: string, nowMs: number): number {
    const everyMs = 1_000 / this.#rate.perSecond;
    const fullAtMs = this.#fullAtMs.get(key) ?? nowMs;
    return Math.max(0, fullAtMs - nowMs - (this.#rate.burst - 1) * everyMs);
  }

  /**
   * Next at twice the keys that are left, so that each call pays for little of it. Every lease has a
   * key: without this the map would be too large for the caches of a processor.
   */
  #sweep(nowMs: number): void {
    for (const [key, fullAtMs] of this.#fullAtMs) {
      if (fullAtMs <= nowMs) this.#fullAtMs.delete(key);
    }
    // A tenth at least, so that it is rare.
    const enough = this.#keysMax * 0.9;
    for (const key of this.#fullAtMs.keys()) {
      if (this.#fullAtMs.size <= enough) break;
      this.#fullAtMs.delete(key);
    }
    this.#sweepAt = Math.min(this.#keysMax, Math.max(sweptKeysMin, 2 * this.#fullAtMs.size));
  }
}
