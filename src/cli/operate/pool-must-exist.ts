import type { BerthClient } from "../../client/berth-client.ts";

/** Throws if there is no such pool. Otherwise a misspelt pool would look like an empty one. */
export async function poolMustExist(client: BerthClient, pool: string | undefined): Promise<void> {
  if (pool !== undefined) await client.pool(pool);
}
