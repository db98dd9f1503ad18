import { type FrozenState, freeze } from "../../core/apply/snapshot.ts";
import { cohortOf } from "../../core/gates/limits.ts";
import { EndedMemory } from "../../core/model/ended-memory.ts";
import { partOf, type Space } from "../../core/model/space.ts";
import {
  claimsOn,
  type Lease,
  type Pool,
  type Request,
  type State,
} from "../../core/model/state.ts";

/** Larger parts are not estimated, because copying them would delay commands. */
export const contestedMax = 50_000;

/**
 * The independent parts of a state in which a request waits, except those to skip. Pools that share a
 * waiting request, a lease or a limit are one part; other pools have no influence on it.
 */
export function contestedParts(
  state: State,
  skips: (pools: ReadonlySet<Pool>) => boolean = () => false,
): FrozenState[] {
  const seen = new Set<Pool>();
  const parts: FrozenState[] = [];
  for (const pool of state.pools.values()) {
    if (pool.waiting === 0 || seen.has(pool)) continue;
    const part = new Part(pool);
    for (const member of part.pools) seen.add(member);
    if (part.size <= contestedMax && !skips(part.pools)) parts.push(part.freeze(state));
  }
  return parts;
}

class Part {
  readonly pools = new Set<Pool>();
  readonly #requests = new Set<Request>();
  readonly #leases = new Set<Lease>();

  constructor(start: Pool) {
    this.pools.add(start);
    for (const pool of this.pools) this.#explore(pool); // The set grows during the loop.
  }

  get size(): number {
    let size = this.#requests.size + this.#leases.size;
    for (const { members } of this.pools) size += members.size;
    return size;
  }

  /** Without what is known of repeated requests: the forecast has none. */
  freeze(state: State): FrozenState {
    const { oddKeys: _, ...part } = freeze({
      ...state,
      pools: new Map(this.pools.values().map((pool) => [pool.name, pool])),
      requests: new Map(this.#inOrder().map((request) => [request.id, request])),
      leases: new Map(this.#leases.values().map((lease) => [lease.id, lease])),
      ended: new EndedMemory(),
      keys: new Map(),
    });
    const elsewhere = Array.from(this.#spaces(), (space) => this.#elsewhere(space));
    return elsewhere.length === 0 ? part : { ...part, elsewhere };
  }

  #spaces(): ReadonlySet<Space> {
    const spaces = new Set<Space>();
    for (const { space } of this.#requests) if (space !== null) spaces.add(space);
    return spaces;
  }

  /** The order between spaces follows from what they hold of all pools. */
  #elsewhere(space: Space) {
    let largestPart = 0;
    for (const pool of space.held.keys()) {
      if (!this.pools.has(pool)) largestPart = Math.max(largestPart, partOf(space, pool));
    }
    return { space: space.name, largestPart, cost: space.cost };
  }

  #explore(pool: Pool): void {
    for (const { queue } of pool.buckets.values()) {
      for (const request of queue) {
        for (const one of request.gang?.members ?? [request]) this.#requests.add(one);
        for (const need of request.needs) this.pools.add(need.pool);
      }
    }
    for (const resource of pool.members) {
      for (const { lease } of claimsOn(resource)) this.#holds(lease);
    }
    for (const kin of cohortOf(pool)) this.pools.add(kin);
  }

  #holds(lease: Lease): void {
    if (this.#leases.has(lease)) return;
    this.#leases.add(lease);
    for (const { resource } of lease.claims) this.pools.add(resource.pool);
  }

  #inOrder(): Request[] {
    return [...this.#requests].sort((a, b) => a.order - b.order);
  }
}
