/** How often estimates were right: compares the first estimate of each request with its grant. */
export interface Accuracy {
  readonly compared: number;
  /** Granted by the P50; about half of the requests should be. */
  readonly withinP50: number;
  /** Granted by the P90; about nine in ten should be. */
  readonly withinP90: number;
  /** The mean absolute error of the P50. */
  readonly meanErrorMs: number;
}

export interface Promised {
  readonly p50At: number;
  readonly p90At: number;
  readonly pools: readonly string[];
}

export class AccuracyBook {
  readonly #pools = new Map<string, Accuracy>();
  #total = nothing;

  get total(): Accuracy {
    return this.#total;
  }

  get pools(): ReadonlyMap<string, Accuracy> {
    return this.#pools;
  }

  compare({ p50At, p90At, pools }: Promised, grantedAt: number): void {
    const with1 = ({ compared, withinP50, withinP90, meanErrorMs }: Accuracy): Accuracy => ({
      compared: compared + 1,
      withinP50: withinP50 + Number(grantedAt <= p50At),
      withinP90: withinP90 + Number(grantedAt <= p90At),
      meanErrorMs: meanErrorMs + (Math.abs(grantedAt - p50At) - meanErrorMs) / (compared + 1),
    });
    this.#total = with1(this.#total);
    for (const pool of pools) this.#pools.set(pool, with1(this.#pools.get(pool) ?? nothing));
  }
}

const nothing: Accuracy = { compared: 0, withinP50: 0, withinP90: 0, meanErrorMs: 0 };
