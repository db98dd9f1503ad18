import type { Random } from "./random.ts";

/**
 * The distribution of hold times, from recorded holds.
 *
 * Running holds count too: they last at least as long as they have lasted. Without them, a pool
 * whose long jobs are still running would seem to have only short ones. So this is a Kaplan-Meier
 * curve: the weight of each end depends on the holds that lasted longer.
 */
export class HoldCurve {
  readonly #lengths: number[] = [];
  /** The share of all holds that last at most as long as the length at the same index. */
  readonly #shares: number[] = [];
  readonly meanMs: number;

  constructor(endedMs: readonly number[], goingOnMs: readonly number[]) {
    const all = [
      ...endedMs.map((lengthMs) => ({ lengthMs, ended: true })),
      ...goingOnMs.map((lengthMs) => ({ lengthMs, ended: false })),
    ].sort((a, b) => a.lengthMs - b.lengthMs || Number(b.ended) - Number(a.ended));
    let surviving = 1;
    let meanMs = 0;
    for (const [index, { lengthMs, ended }] of all.entries()) {
      if (!ended) continue;
      const mass = surviving / (all.length - index);
      surviving -= mass;
      meanMs += mass * lengthMs;
      this.#lengths.push(lengthMs);
      this.#shares.push(1 - surviving);
    }
    this.meanMs = meanMs + surviving * (this.#lengths.at(-1) ?? 0);
  }

  /**
   * Draws a hold time for a lease that is already held for `ageMs`. Infinite if nothing is known.
   */
  draw(random: Random, ageMs = 0): number {
    const longest = this.#lengths.at(-1);
    if (longest === undefined) return Number.POSITIVE_INFINITY;
    const from = firstAbove(this.#lengths, ageMs);
    const before = from === 0 ? 0 : (this.#shares[from - 1] ?? 1);
    const share = before + random.next() * (1 - before);
    const found = firstAbove(this.#shares, share);
    // The lease is older than every finished hold, so it gets the hold time of a new lease on top.
    if (found >= this.#lengths.length) {
      return Math.max(ageMs, longest) + this.#among(random.next());
    }
    return Math.max(this.#lengths[Math.max(found, from)] ?? longest, ageMs);
  }

  #among(share: number): number {
    return this.#lengths[Math.floor(share * this.#lengths.length)] ?? 0;
  }
}

/** The index of the first value above the limit. The values are sorted. */
function firstAbove(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
