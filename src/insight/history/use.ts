import type { Amounts } from "../../core/shared/placement/shareable.ts";
import type { PoolSize } from "./entry.ts";

/** A claim as far as use depends on it. */
export interface UsedClaim {
  readonly pool: string;
  /** Null: an exclusive resource. */
  readonly amount: Amounts | null;
}

export interface DimensionUse {
  readonly name: string;
  readonly utilisation: number;
}

/** One dimension, in amounts times milliseconds. */
interface Dimension {
  lent: number;
  capacity: number;
}

interface SharedUse {
  sizeMs: number;
  readonly dimensions: Map<string, Dimension>;
}

/**
 * How much of some pools was in use over a period. An exclusive resource is used while it is held.
 * A shared pool is used by amounts and never by the number of claims: its use is that of the
 * dimension that was used most, because this one limits what fits.
 */
export class Use {
  readonly #shared = new Map<string, SharedUse>();
  #heldMs = 0;
  #sizeMs = 0;

  hold(durationMs: number, { pool, amount }: UsedClaim): void {
    if (amount === null) {
      this.#heldMs += durationMs;
      return;
    }
    for (const [name, count] of Object.entries(amount)) {
      this.#dimension(pool, name).lent += durationMs * count;
    }
  }

  grow(durationMs: number, { pool, size, capacity }: PoolSize): void {
    if (capacity === undefined) {
      this.#sizeMs += durationMs * size;
      return;
    }
    this.#sharedUse(pool).sizeMs += durationMs * size;
    for (const [name, count] of Object.entries(capacity)) {
      this.#dimension(pool, name).capacity += durationMs * count;
    }
  }

  /** Null if there was no resource, or if no capacity is known. */
  get utilisation(): number | null {
    let [heldMs, sizeMs] = [this.#heldMs, this.#sizeMs];
    for (const shared of this.#shared.values()) {
      const shares = sharesOf(shared.dimensions);
      if (shares.length === 0) continue;
      const most = Math.max(...shares.map(({ utilisation }) => utilisation));
      heldMs += most * shared.sizeMs;
      sizeMs += shared.sizeMs;
    }
    return sizeMs === 0 ? null : heldMs / sizeMs;
  }

  /** Dimensions of the same name are added up over all pools. */
  get dimensions(): readonly DimensionUse[] {
    const all = new Map<string, Dimension>();
    for (const { dimensions } of this.#shared.values()) {
      for (const [name, { lent, capacity }] of dimensions) {
        const sum = all.get(name) ?? { lent: 0, capacity: 0 };
        all.set(name, { lent: sum.lent + lent, capacity: sum.capacity + capacity });
      }
    }
    return sharesOf(all).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #sharedUse(pool: string): SharedUse {
    const found = this.#shared.get(pool) ?? { sizeMs: 0, dimensions: new Map() };
    this.#shared.set(pool, found);
    return found;
  }

  #dimension(pool: string, name: string): Dimension {
    const { dimensions } = this.#sharedUse(pool);
    const found = dimensions.get(name) ?? { lent: 0, capacity: 0 };
    dimensions.set(name, found);
    return found;
  }
}

/** A dimension without capacity has no share. */
function sharesOf(dimensions: ReadonlyMap<string, Dimension>): DimensionUse[] {
  return [...dimensions].flatMap(([name, { lent, capacity }]) =>
    capacity === 0 ? [] : [{ name, utilisation: lent / capacity }],
  );
}
