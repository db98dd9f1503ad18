import { Histogram, type Registry } from "prom-client";

/** One set of labels: how many observations fell into each bucket. */
export class BucketCounts {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly #bounds: readonly number[];
  /** Not cumulative; the last is for what exceeds every bound. */
  readonly counts: number[];
  sum = 0;

  constructor(labels: BucketCounts["labels"], bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

interface Settings {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly buckets: number[];
  readonly registers: Registry[];
}

/**
 * A histogram that is counted in plain numbers and written out at the scrape. To observe with
 * prom-client's own, which looks up and checks the labels each time, costs more than a grant.
 */
export class BucketHistogram extends Histogram {
  readonly #settings: Settings;
  readonly #series: BucketCounts[] = [];

  constructor(settings: Settings) {
    super(settings);
    this.#settings = settings;
  }

  /** Is shown from now on. The caller keeps it: labels are not looked up here. */
  series(labels: BucketCounts["labels"] = {}): BucketCounts {
    const series = new BucketCounts(labels, this.#settings.buckets);
    this.#series.push(series);
    return series;
  }

  /** What prom-client's registry and its own `get` call for the values. */
  async getForPromString() {
    const { name, help } = this.#settings;
    const values = this.#series.flatMap((series) => [...this.#valuesOf(series)]);
    return { name, help, type: "histogram", aggregator: "sum", values };
  }

  *#valuesOf({ labels: sharedLabels, counts, sum }: BucketCounts) {
    const { name, buckets } = this.#settings;
    const metricName = `${name}_bucket`;
    let total = 0;
    for (const [index, count] of counts.entries()) {
      total += count;
      yield { metricName, sharedLabels, labels: { le: buckets[index] ?? "+Inf" }, value: total };
    }
    yield { metricName: `${name}_sum`, sharedLabels, labels: {}, value: sum };
    yield { metricName: `${name}_count`, sharedLabels, labels: {}, value: total };
  }
}
