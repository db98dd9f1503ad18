/** All pools as the page knows them, kept up to date with changes. */
import type { PoolChanges } from "../../../src/api/pool-changes-schema.ts";
import type { Pool } from "../../../src/api/schemas.ts";

export interface ListedPool extends Pool {
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
  return { cursor, pools: Array.from(all.values(), (pool) => aged(pool as ListedPool, nowMs)) };
}

function aged(pool: ListedPool, nowMs: number): ListedPool {
  const { oldestQueuedAt } = pool;
  const waitMs = oldestQueuedAt === null ? null : nowMs - Date.parse(oldestQueuedAt);
  const oldestWaitSeconds = waitMs === null ? null : Math.max(0, Math.floor(waitMs / 1_000));
  return pool.oldestWaitSeconds === oldestWaitSeconds ? pool : { ...pool, oldestWaitSeconds };
}
