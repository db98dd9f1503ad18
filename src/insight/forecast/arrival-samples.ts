import type { Asked, AskedItem } from "../history/entry.ts";

/** The number of ended requests of a pool that are kept. */
const perPoolMax = 100;

/** A request as it came. */
export interface Arrival {
  readonly id: string;
  readonly askedAt: number;
  readonly space: string;
  readonly priority: number;
  readonly items: readonly AskedItem[];
}

export interface RecentArrivals {
  /** Every request that came since then and has ended is here. */
  readonly since: number;
  readonly ended: readonly Arrival[];
}

/** What history knows of a claim, or of a request that was never granted. */
export interface Ended {
  readonly id: string;
  readonly pool: string;
  readonly count: number;
  readonly space: string;
  readonly priority: number;
  readonly askedAt: number;
  readonly asked: Asked | null;
  readonly endedAt: number;
}

interface Kept {
  readonly entries: readonly Ended[];
  /** Whether older ones have been dropped. */
  readonly isCut: boolean;
}

/** The last requests of each pool, from the entries of the history. */
export class ArrivalSamples {
  readonly #pools = new Map<string, Ended[]>();

  /** The entries must come in the order of their ends. */
  record({ id, pool, count, space, priority, askedAt, asked, endedAt }: Ended): void {
    const entry = { id, pool, count, space, priority, askedAt, asked, endedAt };
    const known = this.#pools.get(pool);
    if (known === undefined) this.#pools.set(pool, [entry]);
    else {
      known.push(entry);
      if (known.length >= 2 * perPoolMax) known.splice(0, perPoolMax);
    }
  }

  of(pools: readonly string[]): RecentArrivals {
    const kept = pools.map((pool) => this.#keptOf(pool));
    const entries = kept.flatMap((one) => one.entries);
    const first = entries.reduce((earliest, { askedAt }) => Math.min(earliest, askedAt), Infinity);
    // A request that came after the oldest known end has ended later, or not yet.
    const since = kept.reduce((latest, { entries: [oldest], isCut }) => {
      return isCut && oldest !== undefined ? Math.max(latest, oldest.endedAt) : latest;
    }, first);
    return { since, ended: requestsOf(entries.filter(({ askedAt }) => askedAt >= since)) };
  }

  #keptOf(pool: string): Kept {
    const known = this.#pools.get(pool) ?? [];
    return { entries: known.slice(-perPoolMax), isCut: known.length > perPoolMax };
  }
}

/** A request has one entry for each of its claims. */
function requestsOf(entries: readonly Ended[]): Arrival[] {
  return [...Map.groupBy(entries, ({ id }) => id)].flatMap(([id, parts]): Arrival[] => {
    const [first] = parts;
    if (first === undefined) return [];
    const { askedAt, space, priority, asked } = first;
    return [{ id, askedAt, space, priority, items: asked?.items ?? itemsOf(parts) }];
  });
}

function itemsOf(parts: readonly Ended[]): AskedItem[] {
  const counts = new Map<string, number>();
  for (const { pool, count } of parts) counts.set(pool, (counts.get(pool) ?? 0) + count);
  return Array.from(counts, ([pool, count]) => ({ pool, count }));
}
