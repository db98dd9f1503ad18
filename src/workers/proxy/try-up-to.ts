import { Problem } from "../../api/problem.ts";
import type { BerthClient } from "../../client/berth-client.ts";
import type { JobLeases } from "./job-leases.ts";

/** Taken if it can be had at once, and done without otherwise. */
export interface Trial {
  readonly pool: string;
  /** Fewer are of no use. */
  readonly min: number;
  readonly max: number;
}

/** Others take some while we look; it is no use to chase them for long. */
const triesMax = 5;

/** As many as are free, up to `max`; none if there are fewer than `min`, or no such pool. */
export async function tryUpTo(
  leases: JobLeases,
  client: BerthClient,
  { pool, min, max }: Trial,
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
      count = Math.min(count - 1, await possible(client, pool, error));
    }
  }
  note(`no leases of type ${pool} available`);
  return [];
}

/** How many may be asked for next; what is no question of how many is thrown on. */
async function possible(client: BerthClient, pool: string, error: Problem): Promise<number> {
  if (error.code === "never_fits") return Number(error.facts["size"] ?? 0);
  if (error.code !== "none_free") throw error;
  return (await client.pool(pool)).states["free"] ?? 0;
}
