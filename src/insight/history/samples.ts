import type { Amounts } from "../../core/shared/placement/shareable.ts";
import type { HistoryEntry, OpenClaim, OpenEntry, PoolSize } from "./entry.ts";

/** The times at which pools are sampled, in order and at equal distances. */
export interface SampleTimes {
  readonly from: number;
  readonly stepMs: number;
  readonly count: number;
}

/** The numbers of one pool, one for each time. */
export interface PoolSamples {
  readonly pool: string;
  readonly held: readonly number[];
  readonly waiting: readonly number[];
  /**
   * Of a shared pool whose capacity is known: the part in use of the dimension that is used most.
   * There are no samples from before the capacity was known.
   */
  readonly usedPercent?: readonly number[];
}

/** The part in use of the dimension of which most is used. */
export function usedPercentOf(dimensions: Iterable<{ used: number; capacity: number }>): number {
  const parts = Iterator.from(dimensions).map(({ used, capacity }) =>
    capacity === 0 ? 0 : used / capacity,
  );
  return Math.round(Math.max(0, ...parts) * 100);
}

interface Source {
  readonly ended: Iterable<HistoryEntry>;
  readonly open: Iterable<OpenEntry>;
  readonly sizes: Iterable<PoolSize>;
}

/**
 * How many resources of each pool were in use at these times, and how many requests waited for it.
 * Cleaning is no use, so it does not count. The samples of a pool start when it was created.
 */
export function samplesOf(times: SampleTimes, { ended, open, sizes }: Source): PoolSamples[] {
  const pools = new Map<string, Samples>();
  const samplesIn = (pool: string): Samples => {
    const found = pools.get(pool) ?? new Samples(times);
    pools.set(pool, found);
    return found;
  };
  for (const size of sizes) samplesIn(size.pool).resize(size);
  for (const entry of ended) {
    if (entry.purpose !== "use") continue;
    const { pool, id, askedAt, grantedAt, endedAt } = entry;
    samplesIn(pool).wait(id, askedAt, grantedAt ?? endedAt);
    if (grantedAt !== null) samplesIn(pool).hold(entry, grantedAt, endedAt);
  }
  for (const { id, askedAt, grantedAt, claims, items } of open) {
    if (grantedAt === null) {
      for (const { pool } of items.filter(isUse)) samplesIn(pool).wait(id, askedAt, never);
    } else {
      for (const claim of claims.filter(isUse)) {
        samplesIn(claim.pool).wait(id, askedAt, grantedAt);
        samplesIn(claim.pool).hold(claim, grantedAt, never);
      }
    }
  }
  return Array.from(pools, ([pool, samples]) => ({ pool, ...samples.part() }));
}

const never = Number.POSITIVE_INFINITY;

function isUse({ purpose }: Pick<OpenClaim, "purpose">): boolean {
  return purpose === undefined;
}

type Held = Pick<OpenClaim | HistoryEntry, "resource" | "amount">;

class Samples {
  readonly #times: SampleTimes;
  readonly #held: number[];
  readonly #waiting: number[];
  /** Requests whose wait is counted: a request has one entry for each of its claims. */
  readonly #counted = new Set<string>();
  /** A shared resource has many claims and counts once. */
  readonly #shared = new Map<string, number[]>();
  /** The amounts in use, by dimension. */
  readonly #amounts = new Map<string, number[]>();
  /** In the order of their times. */
  readonly #sizes: PoolSize[] = [];

  constructor(times: SampleTimes) {
    this.#times = times;
    this.#held = this.#zeros();
    this.#waiting = this.#zeros();
  }

  resize(size: PoolSize): void {
    this.#sizes.push(size);
  }

  wait(id: string, start: number, end: number): void {
    if (!this.#counted.has(id)) this.#add(this.#waiting, start, end);
    this.#counted.add(id);
  }

  hold({ resource, amount }: Held, start: number, end: number): void {
    if (amount === null || amount === undefined) return this.#add(this.#held, start, end);
    this.#add(this.#in(this.#shared, resource ?? ""), start, end);
    for (const [dimension, count] of Object.entries(amount)) {
      this.#add(this.#in(this.#amounts, dimension), start, end, count);
    }
  }

  part(): Omit<PoolSamples, "pool"> {
    const shared = [...this.#shared.values()];
    const held = this.#held.map((count, index) => {
      return count + shared.filter((claims) => (claims[index] ?? 0) > 0).length;
    });
    const [oldest] = this.#sizes;
    const first = oldest === undefined ? 0 : this.#indexOf(oldest.at);
    const usedPercent = this.#usedPercent();
    return {
      held: held.slice(first),
      waiting: this.#waiting.slice(first),
      ...(usedPercent !== undefined && { usedPercent }),
    };
  }

  #usedPercent(): number[] | undefined {
    if (!this.#sizes.some(isKnown)) return undefined;
    const capacities = this.#capacities();
    const first = capacities.findIndex((capacity) => capacity !== undefined);
    return first < 0
      ? []
      : capacities.slice(first).map((capacity, index) => {
          const dimensions = Object.entries(capacity ?? {}).map(([name, amount]) => {
            return { used: this.#amounts.get(name)?.[first + index] ?? 0, capacity: amount };
          });
          return usedPercentOf(dimensions);
        });
  }

  /** At each time; undefined before it is known. */
  #capacities(): (Amounts | undefined)[] {
    const capacities = new Array<Amounts | undefined>(this.#times.count).fill(undefined);
    for (const size of this.#sizes) {
      capacities.fill(isKnown(size) ? size.capacity : undefined, this.#indexOf(size.at));
    }
    return capacities;
  }

  #in(samples: Map<string, number[]>, name: string): number[] {
    const found = samples.get(name) ?? this.#zeros();
    samples.set(name, found);
    return found;
  }

  /** Adds to each time from `start`, and before `end`. */
  #add(samples: number[], start: number, end: number, count = 1): void {
    const last = this.#indexOf(end);
    for (let index = this.#indexOf(start); index < last; index++) {
      samples[index] = (samples[index] ?? 0) + count;
    }
  }

  /** Of the first time at or after this one. */
  #indexOf(at: number): number {
    const { from, stepMs, count } = this.#times;
    return Math.max(0, Math.min(count, Math.ceil((at - from) / stepMs)));
  }

  #zeros(): number[] {
    return new Array<number>(this.#times.count).fill(0);
  }
}

/** An older Berth recorded that a pool was shared, without its capacity. */
function isKnown({ capacity = {} }: PoolSize): boolean {
  return Object.keys(capacity).length > 0;
}
