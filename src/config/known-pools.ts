/** The facts about pools that quotas of spaces are checked against. */
import type { PoolPolicy } from "../core/model/policy.ts";
import { effectiveCapacity } from "../core/shared/placement/overcommit.ts";
import type { MemberDraft } from "./read-pool.ts";

export interface KnownPool {
  /** How many claims the pool can have; undefined if the file does not determine it. */
  readonly size: number | undefined;
  /** The sum of each dimension of a shared pool. An exclusive pool has none. */
  readonly capacities: ReadonlyMap<string, number>;
}

export type KnownPools = ReadonlyMap<string, KnownPool>;

interface PoolFacts {
  readonly name: string;
  readonly policy: PoolPolicy;
  readonly count?: number;
  readonly members: readonly Pick<MemberDraft, "room">[];
}

export function knownPoolsOf(pools: readonly PoolFacts[]): KnownPools {
  const parents = new Set<string | undefined>(pools.map(({ policy }) => policy.parent));
  return new Map(
    pools.map((pool) => {
      const size = parents.has(pool.name) ? undefined : sizeOf(pool);
      return [pool.name, { size, capacities: sums(pool) }];
    }),
  );
}

/**
 * A shared pool lends amounts, so that its members do not limit the number of claims. A pool of
 * clusters has no members before it makes them.
 */
function sizeOf({ policy, count = 0, members }: PoolFacts): number | undefined {
  if (policy.cluster !== undefined) return policy.limit ?? policy.cluster.max;
  if (policy.limit !== undefined || policy.placement !== undefined) return policy.limit;
  return Math.max(count + members.length, policy.dynamic?.max ?? 0);
}

function sums({ members }: PoolFacts): ReadonlyMap<string, number> {
  const byDimension = new Map<string, number>();
  for (const { room } of members) {
    for (const [dimension, capacity] of Object.entries(room?.capacity ?? {})) {
      const added = effectiveCapacity(capacity, room?.overcommit?.[dimension]);
      byDimension.set(dimension, (byDimension.get(dimension) ?? 0) + added);
    }
  }
  return byDimension;
}
