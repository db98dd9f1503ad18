import type { Purpose } from "../../core/model/lifecycle.ts";
import type { Holds } from "./estimate.ts";

/**
 * The number of recent holds of a pool that an estimate uses. Older ones may no longer be typical.
 */
const perPoolMax = 300;

interface Held {
  readonly pool: string;
  readonly purpose: Purpose;
  readonly grantedAt: number | null;
  readonly endedAt: number;
}

/** The last holds of each pool. */
export class HoldSamples {
  readonly #holds = new Map<string, number[]>();

  /** The leases must be in the order of their ends. */
  record(ended: Iterable<Held>): void {
    for (const { pool, purpose, grantedAt, endedAt } of ended) {
      if (grantedAt === null || purpose === "clean") continue;
      const holds = this.#holds.get(pool);
      if (holds === undefined) this.#holds.set(pool, [endedAt - grantedAt]);
      else {
        holds.push(endedAt - grantedAt);
        if (holds.length >= 2 * perPoolMax) holds.splice(0, perPoolMax);
      }
    }
  }

  /** Only the given pools, because the result is sent to another thread. */
  of(pools: Iterable<string>): Holds {
    const found = new Map<string, readonly number[]>();
    for (const pool of pools) found.set(pool, this.#holds.get(pool)?.slice(-perPoolMax) ?? []);
    return found;
  }
}
