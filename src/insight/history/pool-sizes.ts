import { effectiveCapacity } from "../../core/shared/placement/overcommit.ts";
import type { Amounts, CapacitySpec } from "../../core/shared/placement/shareable.ts";
import type { PoolSize } from "./entry.ts";

/** The changes since the last call of `take`. */
export interface SizeChanges {
  /** Resources with their current pool; null if the resource was removed. */
  readonly members: Map<string, string | null>;
  /** The capacities of shared resources; null if the resource was removed. */
  readonly capacities: Map<string, Amounts | null>;
  readonly sizes: Map<string, PoolSize>;
}

export interface Members {
  readonly members: ReadonlyMap<string, string>;
  readonly capacities: ReadonlyMap<string, Amounts>;
}

interface Total {
  size: number;
  readonly capacity: Map<string, number>;
  /** Resources with a capacity. */
  shared: number;
}

/** Which resource is in which pool, and how large each pool is. */
export class PoolSizes {
  readonly #members: Map<string, string>;
  readonly #capacities: Map<string, Amounts>;
  readonly #totals = new Map<string, Total>();
  #changes = noSizeChanges();

  constructor({ members, capacities }: Members = { members: new Map(), capacities: new Map() }) {
    this.#members = new Map(members);
    this.#capacities = new Map(capacities);
    for (const [resource, pool] of members) this.#count(pool, 1, capacities.get(resource));
  }

  poolOf(resource: string): string | undefined {
    return this.#members.get(resource);
  }

  /** Pools that have a resource with a capacity. */
  get sharedPools(): readonly string[] {
    return [...this.#totals].flatMap(([pool, { shared }]) => (shared > 0 ? [pool] : []));
  }

  take(): SizeChanges {
    const changes = this.#changes;
    this.#changes = noSizeChanges();
    return changes;
  }

  clear(at: number): void {
    for (const resource of [...this.#members.keys()]) this.leave(resource, at);
  }

  /** Adds a resource, or moves it from another pool. It keeps its capacity unless it gets one. */
  join(resource: string, pool: string, at: number, room?: CapacitySpec): void {
    const capacity = room === undefined ? this.#capacities.get(resource) : capacityOf(room);
    this.leave(resource, at);
    this.#members.set(resource, pool);
    this.#changes.members.set(resource, pool);
    this.#setCapacity(resource, capacity);
    this.#count(pool, 1, capacity);
    this.#record(pool, at);
  }

  leave(resource: string, at: number): void {
    const pool = this.#members.get(resource);
    if (pool === undefined) return;
    this.#count(pool, -1, this.#capacities.get(resource));
    this.#members.delete(resource);
    this.#changes.members.set(resource, null);
    this.#setCapacity(resource, undefined);
    this.#record(pool, at);
  }

  resize(resource: string, room: CapacitySpec, at: number): void {
    const pool = this.#members.get(resource);
    if (pool !== undefined) this.join(resource, pool, at, room);
  }

  #setCapacity(resource: string, capacity: Amounts | undefined): void {
    if (capacity !== undefined) {
      this.#capacities.set(resource, capacity);
      this.#changes.capacities.set(resource, capacity);
    } else if (this.#capacities.delete(resource)) this.#changes.capacities.set(resource, null);
  }

  #count(pool: string, sign: 1 | -1, capacity: Amounts | undefined): void {
    const total = this.#totals.get(pool) ?? { size: 0, capacity: new Map(), shared: 0 };
    this.#totals.set(pool, total);
    total.size += sign;
    if (capacity === undefined) return;
    total.shared += sign;
    for (const [name, amount] of Object.entries(capacity)) {
      total.capacity.set(name, (total.capacity.get(name) ?? 0) + sign * amount);
    }
  }

  #record(pool: string, at: number): void {
    const { size = 0, capacity, shared = 0 } = this.#totals.get(pool) ?? {};
    const found = shared > 0 ? { capacity: Object.fromEntries(capacity ?? []) } : undefined;
    this.#changes.sizes.set(`${at} ${pool}`, { pool, at, size, ...found });
  }
}

/** The amounts that may be lent, with overcommit. */
export function capacityOf({ capacity, overcommit }: CapacitySpec): Amounts {
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => {
      return [name, effectiveCapacity(amount, overcommit?.[name])];
    }),
  );
}

export function noSizeChanges(): SizeChanges {
  return { members: new Map(), capacities: new Map(), sizes: new Map() };
}
