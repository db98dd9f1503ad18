import type { HistoryEntry, OpenEntry, PoolSize } from "../history/entry.ts";
import { ofPool } from "../history/reader.ts";
import { type StatsPart, statsOf } from "../history/stats.ts";

interface Past {
  readonly ended: readonly HistoryEntry[];
  readonly open: readonly OpenEntry[];
  readonly sizes: readonly PoolSize[];
}

/**
 * Statistics of the same period by pool. The entries are grouped once: filtering them for each of
 * 240 pools took longer than the replay.
 */
export class StatsByPool {
  readonly #range: { readonly from: number; readonly to: number };
  readonly #all: Past;
  readonly #ended: ReadonlyMap<string, HistoryEntry[]>;
  readonly #sizes: ReadonlyMap<string, PoolSize[]>;
  readonly #open: ReadonlyMap<string, OpenEntry[]>;

  constructor(range: { readonly from: number; readonly to: number }, past: Past) {
    this.#range = range;
    this.#all = past;
    this.#ended = Map.groupBy(past.ended, ({ pool }) => pool);
    this.#sizes = Map.groupBy(past.sizes, ({ pool }) => pool);
    const open = new Map<string, OpenEntry[]>();
    for (const entry of past.open) {
      const pools = [...entry.items, ...entry.claims].map(({ pool }) => pool);
      for (const pool of new Set(pools)) {
        open.set(pool, open.get(pool) ?? []);
        open.get(pool)?.push(entry);
      }
    }
    this.#open = open;
  }

  /** Null: all pools together. */
  of(pool: string | null): StatsPart {
    const { from, to } = this.#range;
    return statsOf({ from, to, stepMs: to - from }, this.#partsOf(pool)).total;
  }

  #partsOf(pool: string | null): Parameters<typeof statsOf>[1] {
    if (pool === null) return this.#all;
    return {
      ended: this.#ended.get(pool) ?? [],
      open: ofPool(this.#open.get(pool) ?? [], pool),
      sizes: this.#sizes.get(pool) ?? [],
    };
  }
}
