import type { Group, Item } from "../../core/model/command.ts";
import type { PoolName } from "../../core/model/ids.ts";
import type { Purpose } from "../../core/model/lifecycle.ts";
import type { Placing } from "../../core/shared/placement/demand.ts";
import type { Amounts } from "../../core/shared/placement/shareable.ts";

/**
 * One entry of the history: one for each claim of a lease, or one for each requested pool if
 * nothing was granted. Entries are flat, because queries are by pool and by resource. The entries
 * of one request share its id.
 */
export interface HistoryEntry {
  /**
   * Increases in the order of the ends, so it works as a cursor: new entries only come after it.
   */
  readonly number: number;
  readonly id: string;
  /** Null if nothing was granted. */
  readonly claim: string | null;
  readonly holder: string;
  readonly space: string;
  /**
   * `clean`: a cleaner held it. `provision`: a worker made or destroyed the cluster. Both are upkeep,
   * so no statistic counts them as use.
   */
  readonly purpose: Purpose;
  readonly pool: string;
  readonly resource: string | null;
  /** The requested count if nothing was granted; otherwise 1. */
  readonly count: number;
  /** The amounts of a claim on a shared resource, by dimension. Null: an exclusive resource. */
  readonly amount: Amounts | null;
  /** The whole request, if `pool` and `count` of its entries are not all that it asked for. */
  readonly asked: Asked | null;
  readonly priority: number;
  readonly askedAt: number;
  /**
   * The number of the event that created the request. It orders requests of the same millisecond.
   */
  readonly askedSeq: number;
  readonly grantedAt: number | null;
  /** The last thing that the request waited for. Null if it did not wait, or if this is unknown. */
  readonly waitedFor: string | null;
  readonly endedAt: number;
  /**
   * `released`, `expired`, `hold`, `cancelled`, … as in the event. A cleaner that released its lease
   * has `cleaned`, `failed` or `stopped` instead of `released`, and a request that an operator removed
   * has `removed` instead of `cancelled`.
   */
  readonly how: string;
}

/** An item of a request. */
export interface AskedItem extends Placing {
  readonly pool: string;
  readonly anyOf?: readonly string[];
  readonly count: number;
  /** Absent: for use. */
  readonly purpose?: Upkeep;
}

/** A time in which something was away. */
export interface Outage {
  /** `server`: it did not run. `journal`: it could not be written. `hub`: it did not answer. */
  readonly what: "server" | "journal" | "hub";
  /** Of the hub. */
  readonly name: string | null;
  readonly from: number;
  /** Null: it goes on. */
  readonly to: number | null;
}

/** From then on a pool had this limit; null: none. */
export interface PoolLimit {
  readonly pool: string;
  readonly at: number;
  readonly limit: number | null;
}

/** The purposes that are no use. */
export type Upkeep = Exclude<Purpose, "use">;

/** A request that has amounts, alternatives, places or a group. */
export interface Asked {
  readonly items: readonly AskedItem[];
  readonly group?: Group;
}

export interface OpenClaim {
  readonly claim: string;
  readonly pool: string;
  readonly resource: string;
  /** Absent: an exclusive resource. */
  readonly amount?: Amounts;
  /** Absent: for use. */
  readonly purpose?: Upkeep;
}

/** A waiting request or a held lease, which becomes an entry once it ends. */
export interface OpenEntry {
  readonly id: string;
  readonly holder: string;
  readonly space: string;
  readonly priority: number;
  readonly items: readonly AskedItem[];
  readonly group?: Group;
  readonly askedAt: number;
  readonly askedSeq: number;
  readonly grantedAt: number | null;
  readonly waitedFor?: string;
  readonly claims: readonly OpenClaim[];
}

/** The number of resources in a pool from a time on. */
export interface PoolSize {
  readonly pool: string;
  readonly at: number;
  readonly size: number;
  /**
   * The capacity of all resources of a shared pool, by dimension, with overcommit. No dimension: an
   * older Berth did not record it. Absent: the resources are exclusive.
   */
  readonly capacity?: Amounts;
}

/** All pools that an item may be granted from. */
export function poolsOf({ pool, anyOf = [] }: Pick<AskedItem, "pool" | "anyOf">): string[] {
  return [pool, ...anyOf];
}

/** The item as a client would ask for it. */
export function itemOf({ pool, anyOf, purpose: _, ...item }: AskedItem): Item {
  const others = anyOf === undefined ? undefined : { anyOf: anyOf as readonly PoolName[] };
  return { ...item, pool: pool as PoolName, ...others };
}

/** Whether the server ended the lease, because its holder was silent or its lifetime was over. */
export function isExpiry(how: string): boolean {
  return how === "expired" || how === "lifetime";
}
