/**
 * What the hubs leave to the pools that share them. A cluster may be made on any hub of its pool, so a
 * number of clusters fits exactly if every union of the sets of hubs that pools have is large enough
 * for the pools that can use no other hub (Hall's theorem).
 */
import { type Hub, limitOfHub } from "../model/hub.ts";
import type { ExclusiveResource, Pool } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { unionsOf } from "./hub-unions.ts";
import { closedBecause } from "./placement.ts";

interface Union {
  readonly hubs: ReadonlySet<Hub>;
  left: number;
}

export class HubFunds {
  readonly #unions: readonly Union[];

  /** `isFixed`: no plan can change the cluster. */
  constructor(
    pools: readonly Pool[],
    isFixed: (resource: ExclusiveResource) => boolean,
    now: Instant,
  ) {
    const capacity = new Map<Hub, number>();
    for (const pool of pools) {
      for (const hub of pool.hubs ?? []) {
        const before = capacity.get(hub) ?? 0;
        capacity.set(hub, Math.max(before, capacityOf(hub, pool, isFixed, now)));
      }
    }
    this.#unions = unionsOf(pools.flatMap(({ hubs }) => hubs ?? [])).map((hubs) => {
      const left = [...hubs].reduce((sum, hub) => sum + (capacity.get(hub) ?? 0), 0);
      return { hubs, left };
    });
  }

  /** How many of these fit. */
  fitting({ hubs }: Pool, wanted: number): number {
    if (hubs === null) return wanted;
    return this.#of(hubs).reduce((count, { left }) => Math.min(count, left), wanted);
  }

  take({ hubs }: Pool, count: number): void {
    if (hubs === null) return;
    for (const union of this.#of(hubs)) union.left -= count;
  }

  #of(hubs: ReadonlySet<Hub>): readonly Union[] {
    return this.#unions.filter((union) => [...hubs].every((hub) => union.hubs.has(hub)));
  }
}

/** A hub that makes no new clusters still has those that are there. */
function capacityOf(
  hub: Hub,
  { policy }: Pool,
  isFixed: (resource: ExclusiveResource) => boolean,
  now: Instant,
): number {
  const { cluster } = policy;
  let fixed = 0;
  for (const resource of hub.clusters) if (isFixed(resource)) fixed += 1;
  const isOpen = cluster !== undefined && closedBecause(hub, cluster, now) === null;
  return (isOpen ? limitOfHub(hub) : hub.clusters.size) - fixed;
}
