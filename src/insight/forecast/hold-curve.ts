import type { Random } from "./random.ts";

/**
 * How long holds last, drawn from those that were recorded.
 *
 * Those that go on are part of what is known: they have lasted this long at least. Left out, a pool
 * whose long jobs have not ended yet would seem to have short ones only. So it is a Kaplan-Meier
 * curve: each end weighs what those that went on past it leave to it.
 */
export class HoldCurve {
  readonly #lengths: number[] = [];
  /** Share of all holds that last at most as long as the length of the same index. */
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

  /** A hold that has gone on for so long already; infinite where nothing is known. */
  draw(random: Random, ageMs = 0): number {
    const longest = this.#lengths.at(-1);
    if (longest === undefined) return Number.POSITIVE_INFINITY;
    const from = firstAbove(this.#lengths, ageMs);
    const before = from === 0 ? 0 : (this.#shares[from - 1] ?? 1);
    const share = before + random.next() * (1 - before);
    const found = firstAbove(this.#shares, share);
    // Longer than any that has ended: it goes on for as long as one that begins now.
    if (found >= this.#lengths.length) {
      return Math.max(ageMs, longest) + this.#among(random.next());
    }
    return Math.max(this.#lengths[Math.max(found, from)] ?? longest, ageMs);
  }

  #among(share: number): number {
    return this.#lengths[Math.floor(share * this.#lengths.length)] ?? 0;
  }
}

/** Index of the first value above the limit; the values are sorted. */
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
