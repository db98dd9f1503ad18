import { percentilesOf } from "./percentiles.ts";

/** How long requests of a pool usually wait, as recorded. */
export interface UsualWait {
  readonly pool: string;
  /** 99 of 100 waited no longer. */
  readonly p99Ms: number;
}

/** With fewer grants, nobody can say what is usual. */
const grantsMin = 20;

/** What happens now is not yet usual; otherwise waits that are too long would soon be usual. */
const recentMs = 3_600_000;

type Wait = readonly [pool: string, waitMs: number, grantedAt: number];

/** Without the last hour, unless too little is older. */
export function usualWaitsOf(waits: Iterable<Wait>, now: number): UsualWait[] {
  const byPool = new Map<string, { readonly older: number[]; readonly recent: number[] }>();
  for (const [pool, waitMs, grantedAt] of waits) {
    const found = byPool.get(pool) ?? { older: [], recent: [] };
    byPool.set(pool, found);
    (grantedAt < now - recentMs ? found.older : found.recent).push(waitMs);
  }
  return [...byPool].flatMap(([pool, { older, recent }]): UsualWait[] => {
    const values = older.length < grantsMin ? [...older, ...recent] : older;
    if (values.length < grantsMin) return [];
    return [{ pool, p99Ms: percentilesOf(values)?.p99 ?? 0 }];
  });
}

const weekMs = 7 * 24 * 3_600_000;
/** What is usual changes slowly, and a week of half a million leases takes a part of a second. */
const everyMs = 300_000;

/** The usual waits of all pools, read now and then. Nobody waits for a reading. */
export class UsualWaits {
  readonly #read: (since: number, now: number) => Promise<readonly UsualWait[]>;
  #known: ReadonlyMap<string, number> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(read: (since: number, now: number) => Promise<readonly UsualWait[]>) {
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
    this.#read(now - weekMs, now)
      .then((found) => {
        this.#known = new Map(found.map(({ pool, p99Ms }) => [pool, p99Ms]));
      })
      .catch(() => {});
  }
}
