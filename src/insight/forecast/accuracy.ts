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

/** Since the server was started, and of the latest requests alone: what was bad in the morning may be right now. */
export interface Accuracies extends Accuracy {
  readonly latest: Accuracy;
}

export class AccuracyBook {
  readonly #pools = new Map<string, Page>();
  readonly #total = new Page(latestMax * 10);

  get total(): Accuracies {
    return this.#total.accuracies;
  }

  *pools(): Generator<[pool: string, accuracies: Accuracies]> {
    for (const [pool, page] of this.#pools) yield [pool, page.accuracies];
  }

  compare({ p50At, p90At, pools }: Promised, grantedAt: number): void {
    const one = {
      compared: 1,
      withinP50: Number(grantedAt <= p50At),
      withinP90: Number(grantedAt <= p90At),
      meanErrorMs: Math.abs(grantedAt - p50At),
    };
    this.#total.add(one);
    for (const pool of pools) {
      const page = this.#pools.get(pool) ?? new Page(latestMax);
      this.#pools.set(pool, page);
      page.add(one);
    }
  }
}

/** The latest are so many requests of a pool, and half as many at least. */
export const latestMax = 200;

/** Two halves of the latest requests are counted, so that none of them is kept. */
class Page {
  readonly #halfMax: number;
  #all = nothing;
  #before = nothing;
  #now = nothing;

  constructor(max: number) {
    this.#halfMax = max / 2;
  }

  get accuracies(): Accuracies {
    return { ...this.#all, latest: together(this.#before, this.#now) };
  }

  add(one: Accuracy): void {
    this.#all = together(this.#all, one);
    if (this.#now.compared === this.#halfMax) {
      this.#before = this.#now;
      this.#now = nothing;
    }
    this.#now = together(this.#now, one);
  }
}

function together(a: Accuracy, b: Accuracy): Accuracy {
  const compared = a.compared + b.compared;
  return {
    compared,
    withinP50: a.withinP50 + b.withinP50,
    withinP90: a.withinP90 + b.withinP90,
    meanErrorMs: (a.meanErrorMs * a.compared + b.meanErrorMs * b.compared) / Math.max(1, compared),
  };
}

const nothing: Accuracy = { compared: 0, withinP50: 0, withinP90: 0, meanErrorMs: 0 };
