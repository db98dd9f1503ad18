/** All pools as the page knows them, kept up to date with changes. */
import type { PoolChanges } from "../../../src/api/pool-changes-schema.ts";
import type { Pool } from "../../../src/api/schemas.ts";

export interface ListedPool extends Pool {
  /** When the request came that waits longest; of a limit, the one of the pools below it. */
  readonly oldestQueuedAt: string | null;
}

export interface PoolList {
  /** For the next changes. */
  readonly cursor: string;
  readonly pools: readonly ListedPool[];
}

/** `nowMs` is the server's time, from which waits are computed. */
export function withChanges(
  before: PoolList | undefined,
  { cursor, whole, pools }: PoolChanges,
  nowMs: number,
): PoolList {
  const known = whole ? [] : (before?.pools ?? []);
  const all = new Map<string, object>(known.map((pool) => [pool.name, pool]));
  // A pool that is not known yet comes with all its fields.
  for (const change of pools) all.set(change.name, { ...all.get(change.name), ...change });
  const merged = withOldestBelow(Array.from(all.values()) as ListedPool[]);
  return { cursor, pools: merged.map((pool) => aged(pool, nowMs)) };
}

/** A limit has no queue: its oldest request is that of the pools below it, so that both show one wait. */
function withOldestBelow(pools: readonly ListedPool[]): readonly ListedPool[] {
  const byName = new Map(pools.map((pool) => [pool.name, pool]));
  const oldest = new Map<string, string>();
  for (const { limit, oldestQueuedAt: at, policy } of pools) {
    if (limit !== undefined || at === null) continue;
    let above = policy.parent ?? null;
    // A pool cannot be its own ancestor; a list that changes may look so for a moment.
    for (let level = 0; above !== null && level < pools.length; level++) {
      if (at < (oldest.get(above) ?? "~")) oldest.set(above, at);
      above = byName.get(above)?.policy.parent ?? null;
    }
  }
  return pools.map((pool) => {
    const oldestQueuedAt = oldest.get(pool.name) ?? null;
    const isSame = pool.limit === undefined || pool.oldestQueuedAt === oldestQueuedAt;
    return isSame ? pool : { ...pool, oldestQueuedAt };
  });
}

function aged(pool: ListedPool, nowMs: number): ListedPool {
  const { oldestQueuedAt } = pool;
  const waitMs = oldestQueuedAt === null ? null : nowMs - Date.parse(oldestQueuedAt);
  const oldestWaitSeconds = waitMs === null ? null : Math.max(0, Math.floor(waitMs / 1_000));
  const { limit } = pool;
  if (limit !== undefined) {
    const isSame = limit.oldestWaitSeconds === oldestWaitSeconds;
    return isSame ? pool : { ...pool, limit: { ...limit, oldestWaitSeconds } };
  }
  return pool.oldestWaitSeconds === oldestWaitSeconds ? pool : { ...pool, oldestWaitSeconds };
}
