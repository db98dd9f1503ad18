/**
 * A second ledger of the spaces. At every grant it counts all claims again: no grant may exceed a
 * quota, and no request of a space with a lower share may be passed over.
 */
import type { DurableEvent, ResolvedAsk } from "../src/core/model/event.ts";
import type { PoolPolicy } from "../src/core/model/policy.ts";
import { defaultSpacePolicy, type SpacePolicy } from "../src/core/model/space.ts";
import type { ClusterLedger } from "./cluster-ledger.ts";
import { CohortLedger } from "./cohort-ledger.ts";
import { assertInvariant } from "./violation.ts";

interface Thing {
  readonly pool: string;
  readonly state: string;
}

interface Held {
  readonly ask: ResolvedAsk;
  /** Resources by claim. */
  readonly claims: ReadonlyMap<string, string>;
}

/** What the ledger of leases knows. */
export interface Books {
  readonly things: ReadonlyMap<string, Thing>;
  readonly leases: ReadonlyMap<string, Held>;
  readonly waiting: ReadonlyMap<string, { readonly ask: ResolvedAsk }>;
  readonly clusters: Pick<ClusterLedger, "has" | "chargedTo">;
}

export class SpaceLedger {
  readonly #books: Books;
  readonly #policies = new Map<string, SpacePolicy>();
  #others: SpacePolicy | null = defaultSpacePolicy;
  readonly #pools = new Map<string, PoolPolicy>();
  readonly #cohorts = new CohortLedger({
    policies: () => this.#policies,
    heldBy: (space, pool) => {
      return this.#claimsOf(space).filter((of) => this.#up(of).includes(pool)).length;
    },
    wantedBy: (space, pool) => this.#wantedBy(space, pool),
  });

  constructor(books: Books) {
    this.#books = books;
  }

  record(event: DurableEvent): void {
    switch (event.type) {
      case "spaces-defined":
        this.#policies.clear();
        for (const { name, policy } of event.spaces) this.#policies.set(name, policy);
        this.#others = event.others;
        return;
      case "pool-defined":
        this.#pools.set(event.pool, event.policy);
        return;
      case "pool-removed":
        this.#pools.delete(event.pool);
        return;
      default:
        return;
    }
  }

  /**
   * Called after the grant is in the books. A quota that was lowered may be exceeded, but a grant may
   * not add to that. `pools` are those of its claims.
   */
  checkQuotas(id: string, { space }: ResolvedAsk, pools: readonly string[]): void {
    if (space === undefined) return;
    const { quotas, costMax, cohort } = this.#policyOf(space);
    for (const quota of quotas) {
      const { pool, dimension, max } = quota;
      const isTouched = pools.some((of) => this.#up(of).includes(pool));
      if (dimension !== undefined || !isTouched) continue;
      if (cohort !== undefined && this.#policies.has(space)) {
        this.#cohorts.checkGrant(id, space, quota);
        continue;
      }
      const held = this.#claimsOf(space).filter((of) => this.#up(of).includes(pool)).length;
      assertInvariant(
        held <= max,
        () => `${id} took ${space} to ${held} ${pool}, and its quota is ${max}`,
      );
    }
    const isFree = pools.every((of) => (this.#pools.get(of)?.cost ?? 0) === 0);
    if (costMax === undefined || isFree) return;
    const cost = this.#costOf(space);
    assertInvariant(cost <= costMax, () => `${id} took ${space} to the cost ${cost} of ${costMax}`);
  }

  /** Whether a quota of the space delays a request for this many of a pool. */
  isDelayed({ space }: ResolvedAsk, pool: string, count: number): boolean {
    if (space === undefined) return false;
    const { quotas, costMax } = this.#policyOf(space);
    const above = this.#up(pool);
    const isFull = quotas.some((quota) => {
      const { pool: limited, dimension, max } = quota;
      if (dimension !== undefined || !above.includes(limited)) return false;
      if (this.#cohorts.isFull(space, quota, count)) return true;
      const held = this.#claimsOf(space).filter((of) => this.#up(of).includes(limited)).length;
      return held + count > max;
    });
    const cost = count * (this.#pools.get(pool)?.cost ?? 0);
    return isFull || (costMax !== undefined && cost > 0 && this.#costOf(space) + cost > costMax);
  }

  /** Negative: the space of `a` has the lower share. Shared pools are not counted here. */
  compareShares(a: ResolvedAsk, b: ResolvedAsk): number {
    return a.space === b.space ? 0 : this.#shareOf(a.space) - this.#shareOf(b.space);
  }

  /** Whether the space holds something of the pool, or of one below it. */
  holdsOf(space: string, pool: string): boolean {
    return this.#claimsOf(space).some((of) => this.#up(of).includes(pool));
  }

  /** Whether shares can be computed: amounts of shared pools are counted elsewhere. */
  get knowsShares(): boolean {
    return [...this.#pools.values()].every(({ placement }) => placement === undefined);
  }

  #shareOf(space: string | undefined): number {
    if (space === undefined) return 0;
    const counts = new Map<string, number>();
    for (const of of this.#claimsOf(space)) {
      for (const pool of this.#up(of)) counts.set(pool, (counts.get(pool) ?? 0) + 1);
    }
    const shares = [...counts].map(([pool, count]) => count / this.#sizeOf(pool));
    return Math.max(0, ...shares) / this.#policyOf(space).weight;
  }

  #sizeOf(pool: string): number {
    const { limit, dynamic, cluster } = this.#pools.get(pool) ?? {};
    const there = [...this.#books.things.values()].filter((thing) => thing.pool === pool);
    return Math.max(1, limit ?? Math.max(there.length, dynamic?.max ?? cluster?.max ?? 0));
  }

  /** The pool of each claim of a space, without cleaning, and of each cluster that it is charged for. */
  #claimsOf(space: string): string[] {
    const { clusters, leases, things } = this.#books;
    const claimed = [...leases.values()].flatMap(({ ask, claims }) => {
      if (ask.space !== space || ask.items.some(({ into }) => into === "cleaning")) return [];
      const listed = [...claims.values()].filter((name) => !clusters.has(name));
      return listed.map((name) => things.get(name)?.pool ?? "");
    });
    return [...claimed, ...clusters.chargedTo(space).map(({ pool }) => pool)];
  }

  /** How many of a pool each waiting request of a space wants, of those that surely are in a queue. */
  #wantedBy(space: string, pool: string): number[] {
    return [...this.#books.waiting.values()].flatMap(({ ask }) => {
      const isPlain = ask.group === undefined && ask.items.every(({ anyOf }) => !anyOf);
      if (ask.space !== space || !isPlain) return [];
      const counted = ask.items.filter(({ pool: of, into }) => {
        return into !== "cleaning" && this.#up(of).includes(pool);
      });
      return [counted.reduce((sum, { count }) => sum + count, 0)];
    });
  }

  #costOf(space: string): number {
    const costs = this.#claimsOf(space).map((pool) => this.#pools.get(pool)?.cost ?? 0);
    return costs.reduce((sum, cost) => sum + cost, 0);
  }

  #policyOf(space: string): SpacePolicy {
    return this.#policies.get(space) ?? this.#others ?? defaultSpacePolicy;
  }

  /** The pool and all its ancestors. */
  #up(pool: string): string[] {
    const above: string[] = [];
    for (let at: string | undefined = pool; at !== undefined && this.#pools.has(at); ) {
      above.push(at);
      at = this.#pools.get(at)?.parent;
    }
    return above;
  }
}
