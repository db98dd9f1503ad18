import {
  type AskedItem,
  type HistoryEntry,
  type OpenEntry,
  type PoolSize,
  poolsOf,
} from "../history/entry.ts";
import { endedBelow, openBelow } from "../history/limit-entries.ts";
import { ofPool } from "../history/reader.ts";
import { type StatsPart, statsOf } from "../history/stats.ts";
import { type Starts, startsOf } from "./starts.ts";

interface Past {
  readonly ended: readonly HistoryEntry[];
  readonly open: readonly OpenEntry[];
  readonly sizes: readonly PoolSize[];
  /** What was asked for and could never be granted; it has no entry. */
  readonly refused: readonly AskedItem[];
}

/** With the starts among all claims: the waits are only of those that were granted. */
export interface ReplayedPart extends StatsPart {
  readonly starts: Starts;
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
  of(pool: string | null): ReplayedPart {
    if (pool === null) return this.#part(this.#all);
    return this.#part({
      ended: this.#ended.get(pool) ?? [],
      open: [...ofPool(this.#open.get(pool) ?? [], pool)],
      sizes: this.#sizes.get(pool) ?? [],
      refused: this.#all.refused.filter((item) => poolsOf(item).includes(pool)),
    });
  }

  /** Of a pool that is only a limit: the claims of the pools below it, against the limit. */
  ofLimit(pool: string, below: ReadonlySet<string>, limit: number): ReplayedPart {
    const { ended, open, refused } = this.#all;
    return this.#part({
      ended: [...endedBelow(ended, below)],
      open: [...openBelow(open, below)],
      sizes: [{ pool, at: this.#range.from, size: limit }],
      refused: refused.filter((item) => poolsOf(item).some((name) => below.has(name))),
    });
  }

  #part(past: Past): ReplayedPart {
    const { from, to } = this.#range;
    const refused = past.refused.reduce((sum, { count }) => sum + count, 0);
    const { total } = statsOf({ from, to, stepMs: to - from }, past);
    return { ...total, starts: startsOf(this.#range, past, refused) };
  }
}
