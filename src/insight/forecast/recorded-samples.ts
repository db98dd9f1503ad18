import type { Purpose } from "../../core/model/lifecycle.ts";
import {
  ArrivalSamples,
  type Ended as EndedRequest,
  type RecentArrivals,
} from "./arrival-samples.ts";

/**
 * The number of recent holds of a pool that an estimate uses. Older ones may no longer be typical.
 */
const perPoolMax = 300;

/** Durations by pool, in milliseconds. */
export type Durations = ReadonlyMap<string, readonly number[]>;

/** What is recorded of some pools. */
export interface Samples {
  /** Holds of jobs. */
  readonly holds: Durations;
  /** From dirty to free, with the time until a cleaner began and with failed cleanings. */
  readonly upkeep: Durations;
  /** Cleanings that succeeded, from the grant of the cleaner's lease. */
  readonly cleanings: Durations;
  /** Requests that came lately. More of them will come, and some go ahead of those that wait. */
  readonly arrivals: RecentArrivals;
}

interface Ended extends EndedRequest {
  readonly purpose: Purpose;
  readonly grantedAt: number | null;
  readonly how: string;
}

interface Cleaned {
  readonly pool: string;
  readonly dirtyAt: number;
  readonly readyAt: number;
}

/** The last requests, holds and cleanings of each pool. */
export class RecordedSamples {
  readonly #arrivals = new ArrivalSamples();
  readonly #holds = new Map<string, number[]>();
  readonly #upkeep = new Map<string, number[]>();
  readonly #cleanings = new Map<string, number[]>();

  /** The leases must be in the order of their ends. */
  record(ended: Iterable<Ended>): void {
    for (const entry of ended) {
      const { pool, purpose, grantedAt, endedAt, how } = entry;
      if (purpose === "use") this.#arrivals.record(entry);
      if (grantedAt === null) continue;
      const durationMs = endedAt - grantedAt;
      if (purpose === "use") add(this.#holds, pool, durationMs);
      else if (purpose === "clean" && (how === "cleaned" || how === "released"))
        add(this.#cleanings, pool, durationMs);
    }
  }

  recordUpkeep(upkeep: Iterable<Cleaned>): void {
    for (const { pool, dirtyAt, readyAt } of upkeep) add(this.#upkeep, pool, readyAt - dirtyAt);
  }

  /** Only the given pools, because the result is sent to another thread. */
  of(pools: readonly string[]): Samples {
    const cleanings = latest(this.#cleanings, pools);
    return {
      holds: latest(this.#holds, pools),
      // An older Berth did not record how long resources were dirty.
      upkeep: new Map([...cleanings, ...latest(this.#upkeep, pools)]),
      cleanings,
      arrivals: this.#arrivals.of(pools),
    };
  }
}

function add(samples: Map<string, number[]>, pool: string, durationMs: number): void {
  const known = samples.get(pool);
  if (known === undefined) samples.set(pool, [durationMs]);
  else {
    known.push(durationMs);
    if (known.length >= 2 * perPoolMax) known.splice(0, perPoolMax);
  }
}

function latest(samples: Durations, pools: readonly string[]): Durations {
  return new Map(
    pools.flatMap((pool) => {
      const found = samples.get(pool);
      return found === undefined ? [] : [[pool, found.slice(-perPoolMax)] as const];
    }),
  );
}
