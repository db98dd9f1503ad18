/** The kinds of trouble of each pool that has some. */
export type PoolTroubles = ReadonlyMap<string, readonly string[]>;

/** A request of the pool has waited for longer than usual. */
export function waitsTooLong(pool: string, troubles: PoolTroubles): boolean {
  return troubles.get(pool)?.includes("waits_long") ?? false;
}
