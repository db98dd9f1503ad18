import type { HistoryEntry } from "../history/entry.ts";
import { rank, sorted } from "../history/percentiles.ts";
import type { Dirty, Upkeep } from "../history/upkeep-fold.ts";

/** A resource that was dirty although no lease of the period had left it so. */
export interface Occupied {
  readonly pool: string;
  readonly at: number;
  /** Infinite: until the end of the period. */
  readonly durationMs: number;
}

export interface RecordedUpkeep {
  readonly upkeep: Iterable<Upkeep>;
  /** What was still dirty at the end of the recording. */
  readonly dirty: Iterable<Dirty>;
}

/**
 * How long each resource was dirty in a period: by the claim that left it dirty, so that a replay
 * with the same configuration has it free again at the same time.
 */
export class CleaningTimes {
  readonly #byClaim = new Map<string, number>();
  readonly #usual = new Map<string, number>();
  readonly #all = new Map<string, Upkeep>();

  constructor(recorded: RecordedUpkeep, cleanings: Iterable<HistoryEntry>, to: number) {
    const times = new Map<string, number[]>();
    const add = (pool: string, durationMs: number) => {
      const all = times.get(pool);
      if (all === undefined) times.set(pool, [durationMs]);
      else all.push(durationMs);
    };
    for (const one of recorded.upkeep) {
      if (one.dirtyAt >= to) continue;
      add(one.pool, one.readyAt - one.dirtyAt);
      this.#keep(one);
    }
    // An older Berth did not record these times. The cleanings themselves are known.
    const shortest = cleaningMs(cleanings);
    for (const [pool, all] of shortest) if (!times.has(pool)) times.set(pool, all);
    for (const [pool, all] of times) this.#usual.set(pool, rank(sorted(all), 0.5));
    for (const one of recorded.dirty) {
      // It takes longer than this, and perhaps no longer than usual.
      const readyAt = Math.max(to + 1, one.dirtyAt + this.usualMs(one.pool));
      if (one.dirtyAt < to) this.#keep({ ...one, readyAt });
    }
  }

  /** Zero if no cleaning in the pool is recorded. */
  usualMs(pool: string): number {
    return this.#usual.get(pool) ?? 0;
  }

  isKnown(pool: string): boolean {
    return this.#usual.has(pool);
  }

  /** Undefined if the claim did not leave its resource dirty. */
  after(id: string, claim: string): number | undefined {
    return this.#byClaim.get(`${id} ${claim}`);
  }

  /** Resources that were dirty during the period, but not after one of these leases. */
  *notAfter(ids: ReadonlySet<string>, from: number): Generator<Occupied, void, undefined> {
    for (const { pool, id, dirtyAt, readyAt } of this.#all.values()) {
      if ((id !== null && ids.has(id)) || readyAt <= from) continue;
      const at = Math.max(from, dirtyAt);
      yield { pool, at, durationMs: readyAt - at };
    }
  }

  #keep(one: Upkeep): void {
    const { id, claim, resource, dirtyAt, readyAt } = one;
    if (id !== null) this.#byClaim.set(`${id} ${claim}`, readyAt - dirtyAt);
    this.#all.set(`${resource} ${dirtyAt}`, one);
  }
}

function cleaningMs(cleanings: Iterable<HistoryEntry>): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { purpose, pool, grantedAt, endedAt, how } of cleanings) {
    if (purpose !== "clean" || grantedAt === null) continue;
    if (how !== "cleaned" && how !== "released") continue;
    const all = found.get(pool);
    if (all === undefined) found.set(pool, [endedAt - grantedAt]);
    else all.push(endedAt - grantedAt);
  }
  return found;
}
