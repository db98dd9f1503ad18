/**
 * The API server's clock, as far as its replies tell it: each has a `Date` in whole seconds.
 *
 * Times in a Lease are written by one machine and judged by another, and the clock of either may be
 * off by hours. Both therefore count in the server's time and on a clock of their own that is never
 * set. Every reply narrows down what the difference can be.
 */
export class ServerClock {
  #lowestMs = Number.NEGATIVE_INFINITY;
  #highestMs = Number.POSITIVE_INFINITY;

  /** `date` was true at some moment between the two, which are of `performance.now()`. */
  heard(date: string | undefined, sentAtMs: number, receivedAtMs: number): void {
    const secondMs = Date.parse(date ?? "");
    if (Number.isNaN(secondMs)) return;
    const lowestMs = secondMs - receivedAtMs;
    const highestMs = secondMs + 1_000 - sentAtMs;
    // Someone has set the server's clock, or this machine has slept: what was known is void.
    const fits = lowestMs <= this.#highestMs && highestMs >= this.#lowestMs;
    this.#lowestMs = fits ? Math.max(this.#lowestMs, lowestMs) : lowestMs;
    this.#highestMs = fits ? Math.min(this.#highestMs, highestMs) : highestMs;
  }

  /** It is not earlier than this at the server: to be used for saying that something is over. */
  atLeastMs(nowMs: number = performance.now()): number {
    return this.#isKnown ? nowMs + this.#lowestMs : Date.now();
  }

  /** It is not later than this at the server: to be written where others judge by it. */
  atMostMs(nowMs: number = performance.now()): number {
    return this.#isKnown ? nowMs + this.#highestMs : Date.now();
  }

  get #isKnown(): boolean {
    return Number.isFinite(this.#lowestMs);
  }
}
