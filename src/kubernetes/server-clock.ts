/**
 * Estimates the clock of the API server from the `Date` header of its replies, which has whole
 * seconds.
 *
 * One machine writes the times in a Lease and another one judges them, and the clock of either may
 * be wrong by hours. So both use the time of the server, plus their own monotonic clock. Every
 * reply narrows the possible difference.
 */
export class ServerClock {
  #lowestMs = Number.NEGATIVE_INFINITY;
  #highestMs = Number.POSITIVE_INFINITY;

  /**
   * `date` was the server's time at some moment between the two given times of `performance.now()`.
   */
  heard(date: string | undefined, sentAtMs: number, receivedAtMs: number): void {
    const secondMs = Date.parse(date ?? "");
    if (Number.isNaN(secondMs)) return;
    const lowestMs = secondMs - receivedAtMs;
    const highestMs = secondMs + 1_000 - sentAtMs;
    // The clock of the server was set, or this machine was suspended: the earlier bounds are no
    // longer valid.
    const fits = lowestMs <= this.#highestMs && highestMs >= this.#lowestMs;
    this.#lowestMs = fits ? Math.max(this.#lowestMs, lowestMs) : lowestMs;
    this.#highestMs = fits ? Math.min(this.#highestMs, highestMs) : highestMs;
  }

  /** A lower bound of the server's time. Use it to decide that something has expired. */
  atLeastMs(nowMs: number = performance.now()): number {
    return this.#isKnown ? nowMs + this.#lowestMs : Date.now();
  }

  /** An upper bound of the server's time. Use it for times that other machines will judge. */
  atMostMs(nowMs: number = performance.now()): number {
    return this.#isKnown ? nowMs + this.#highestMs : Date.now();
  }

  get #isKnown(): boolean {
    return Number.isFinite(this.#lowestMs);
  }
}
