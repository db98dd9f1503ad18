/** The kinds of trouble of each pool that has some. */
export type PoolTroubles = ReadonlyMap<string, readonly string[]>;

/** A request of the pool has waited for longer than usual. */
export function waitsTooLong(pool: string, troubles: PoolTroubles): boolean {
  return troubles.get(pool)?.includes("waits_long") ?? false;
}

/** The admission check of the pool cannot be done. A cluster without capacity is no trouble. */
export function checkFails(pool: string, troubles: PoolTroubles): boolean {
  return troubles.get(pool)?.includes("admission_check_fails") ?? false;
}
