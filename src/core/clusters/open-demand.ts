/**
 * Clusters that requests wait for and that have no hub yet. Pools whose sets of hubs overlap only in part can take each
 * other's only place, so a new cluster goes where it leaves a place to as many of these as possible.
 */
import type { Hub } from "../model/hub.ts";
import type { Pool } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import type { Budget } from "./demand.ts";
import { unionsOf } from "./hub-unions.ts";
import { hubsFor, roomOn } from "./placement.ts";
import { missingOfKind } from "./snapshot.ts";

interface Unplaced {
  readonly pool: Pool;
  readonly kind: string;
  readonly hubs: ReadonlySet<Hub>;
  count: number;
}

export class OpenDemand {
  readonly #unplaced: readonly Unplaced[];
  readonly #unions: readonly ReadonlySet<Hub>[];

  constructor(budgets: ReadonlyMap<Pool, Budget>, now: Instant) {
    this.#unplaced = [...budgets].flatMap(([pool, { demand }]) => {
      const policy = pool.policy.cluster;
      if (pool.hubs === null || policy === undefined) return [];
      return Array.from(demand, ([kind, { count: wanted, parameters }]) => {
        const hubs = new Set(hubsFor(pool, policy, parameters, now));
        return { pool, kind, hubs, count: missingOfKind(pool, kind, wanted) };
      }).filter(({ count }) => count > 0);
    });
    this.#unions = unionsOf(this.#unplaced.map(({ hubs }) => hubs));
  }

  /** One of them gets a hub now. */
  place(pool: Pool, kind: string): void {
    const found = this.#unplaced.find((one) => one.pool === pool && one.kind === kind);
    if (found !== undefined && found.count > 0) found.count -= 1;
  }

  /**
   * How many of them find no place if one more cluster is made on this hub. The largest number that does is the smallest
   * cut: the room of some hubs, and all that may be made elsewhere.
   */
  leftOutBy(hub: Hub): number {
    let leftOut = 0;
    for (const union of this.#unions) {
      let room = 0;
      for (const each of union) room += each === hub ? Math.max(0, roomOn(hub) - 1) : roomOn(each);
      leftOut = Math.max(leftOut, this.#onlyOn(union) - room);
    }
    return leftOut;
  }

  #onlyOn(union: ReadonlySet<Hub>): number {
    let count = 0;
    for (const one of this.#unplaced) if (isSubset(one.hubs, union)) count += one.count;
    return count;
  }
}

function isSubset(hubs: ReadonlySet<Hub>, union: ReadonlySet<Hub>): boolean {
  for (const hub of hubs) if (!union.has(hub)) return false;
  return true;
}
