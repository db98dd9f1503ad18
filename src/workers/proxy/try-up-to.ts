import { Problem } from "../../api/problem.ts";
import type { BerthClient } from "../../client/berth-client.ts";
import type { JobLeases } from "./job-leases.ts";

/** Resources that a job leases only if they are free at once. It also runs without them. */
export interface OptionalLease {
  readonly pool: string;
  /** Fewer resources are useless for the job. */
  readonly min: number;
  readonly max: number;
}

/** Other jobs may take resources between two tries, so the number of tries is limited. */
const triesMax = 5;

/**
 * Acquires as many as are free, up to `max`. Returns none if fewer than `min` are free or the pool
 * does not exist.
 */
export async function tryUpTo(
  leases: JobLeases,
  client: BerthClient,
  { pool, min, max }: OptionalLease,
  note: (text: string) => void,
): Promise<string[]> {
  let count = max;
  for (let tries = 0; tries < triesMax && count >= Math.max(min, 1); tries++) {
    try {
      return (await leases.acquire({ type: pool, count, timeoutMs: 0 })).names;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === "pool_not_found") {
        note(`lease type ${pool} does not exist`);
        return [];
      }
      count = Math.min(count - 1, await nextCount(client, pool, error));
    }
  }
  note(`no leases of type ${pool} available`);
  return [];
}

/** Returns the largest count for the next try. Rethrows errors that a smaller count cannot fix. */
async function nextCount(client: BerthClient, pool: string, error: Problem): Promise<number> {
  if (error.code === "never_fits") return Number(error.facts["size"] ?? 0);
  if (error.code !== "none_free") throw error;
  return (await client.pool(pool)).states["free"] ?? 0;
}
