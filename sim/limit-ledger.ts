/**
 * A second ledger of the limits. It counts all claims at every grant: no grant may exceed a limit
 * at any level of the tree.
 */
import type { GrantedClaim } from "../src/core/model/event.ts";
import type { PoolPolicy } from "../src/core/model/policy.ts";
import { assertInvariant } from "./violation.ts";

interface Thing {
  readonly pool: string;
  readonly heldBy: string | null;
  readonly state: string;
  readonly retired: boolean;
}

export class LimitLedger {
  readonly #policies = new Map<string, PoolPolicy>();

  defined(pool: string, policy: PoolPolicy): void {
    this.#policies.set(pool, policy);
  }

  removed(pool: string): void {
    this.#policies.delete(pool);
  }

  /** `shares` counts the claims on a shared resource. */
  granted(
    id: string,
    claims: readonly GrantedClaim[],
    things: ReadonlyMap<string, Thing>,
    shares: (resource: string) => number,
  ): void {
    const touched = new Set<string>();
    for (const { resource } of claims) {
      for (const pool of this.#up(things.get(resource)?.pool)) touched.add(pool);
    }
    for (const pool of touched) {
      const limit = this.#limit(pool, things);
      let used = 0;
      for (const [name, thing] of things) {
        if (this.#counts(thing, pool)) used += 1;
        if (this.#up(thing.pool).includes(pool)) used += shares(name);
      }
      assertInvariant(
        used <= limit,
        () => `${id} took ${pool} to ${used}, and its limit is ${limit}`,
      );
    }
  }

  #counts({ pool, heldBy, state }: Thing, limit: string): boolean {
    return heldBy !== null && state !== "cleaning" && this.#up(pool).includes(limit);
  }

  #limit(pool: string, things: ReadonlyMap<string, Thing>): number {
    const { limit } = this.#policies.get(pool) ?? {};
    if (limit !== undefined) return limit;
    const parent = [...this.#policies.values()].some((policy) => policy.parent === pool);
    if (!parent) return Number.POSITIVE_INFINITY;
    return [...things.values()].filter((thing) => thing.pool === pool && !thing.retired).length;
  }

  /** The pool and all its ancestors. */
  #up(pool: string | undefined): string[] {
    const above: string[] = [];
    for (let at = pool; at !== undefined && this.#policies.has(at); ) {
      above.push(at);
      at = this.#policies.get(at)?.parent;
    }
    return above;
  }
}
