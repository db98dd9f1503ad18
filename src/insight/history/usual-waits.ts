import { percentilesOf } from "./percentiles.ts";

/** How long requests of a pool usually wait, as recorded. */
export interface UsualWait {
  readonly pool: string;
  /** 99 of 100 waited no longer. */
  readonly p99Ms: number;
}

/** With fewer grants, nobody can say what is usual. */
const grantsMin = 20;

export function usualWaitsOf(waits: Iterable<readonly [pool: string, waitMs: number]>) {
  const byPool = new Map<string, number[]>();
  for (const [pool, waitMs] of waits) {
    const found = byPool.get(pool);
    if (found === undefined) byPool.set(pool, [waitMs]);
    else found.push(waitMs);
  }
  return [...byPool].flatMap(([pool, values]): UsualWait[] => {
    if (values.length < grantsMin) return [];
    return [{ pool, p99Ms: percentilesOf(values)?.p99 ?? 0 }];
  });
}

const weekMs = 7 * 24 * 3_600_000;
/** What is usual changes slowly, and a week of half a million leases takes a part of a second. */
const everyMs = 300_000;

/** The usual waits of all pools, read now and then. Nobody waits for a reading. */
export class UsualWaits {
  readonly #read: (since: number) => Promise<readonly UsualWait[]>;
  #known: ReadonlyMap<string, number> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(read: (since: number) => Promise<readonly UsualWait[]>) {
    this.#read = read;
  }

  /** In milliseconds, by pool; pools with few recorded waits are missing. */
  get known(): ReadonlyMap<string, number> {
    return this.#known;
  }

  /** Reads them again if they are old. While history cannot be read, what is known stays. */
  refresh(now: number): void {
    if (now - this.#readAt < everyMs) return;
    this.#readAt = now;
    this.#read(now - weekMs)
      .then((found) => {
        this.#known = new Map(found.map(({ pool, p99Ms }) => [pool, p99Ms]));
      })
      .catch(() => {});
  }
}
