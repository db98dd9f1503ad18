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
  for (const { pool, at } of sizes) samplesIn(pool).existedAt(at);
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
  #firstAt: number | undefined;

  constructor(times: SampleTimes) {
    this.#times = times;
    this.#held = this.#zeros();
    this.#waiting = this.#zeros();
  }

  existedAt(at: number): void {
    this.#firstAt = Math.min(at, this.#firstAt ?? at);
  }

  wait(id: string, start: number, end: number): void {
    if (!this.#counted.has(id)) this.#add(this.#waiting, start, end);
    this.#counted.add(id);
  }

  hold({ resource, amount }: Held, start: number, end: number): void {
    if ((amount ?? null) === null) return this.#add(this.#held, start, end);
    const name = resource ?? "";
    const claims = this.#shared.get(name) ?? this.#zeros();
    this.#shared.set(name, claims);
    this.#add(claims, start, end);
  }

  part(): Omit<PoolSamples, "pool"> {
    const shared = [...this.#shared.values()];
    const held = this.#held.map((count, index) => {
      return count + shared.filter((claims) => (claims[index] ?? 0) > 0).length;
    });
    const first = this.#firstAt === undefined ? 0 : this.#indexOf(this.#firstAt);
    return { held: held.slice(first), waiting: this.#waiting.slice(first) };
  }

  /** Adds one at each time from `start`, and before `end`. */
  #add(samples: number[], start: number, end: number): void {
    const last = this.#indexOf(end);
    for (let index = this.#indexOf(start); index < last; index++) {
      samples[index] = (samples[index] ?? 0) + 1;
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
