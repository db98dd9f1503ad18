import type { BerthClient } from "../../client/berth-client.ts";

/** A misspelt pool has no leases either: an empty listing must not hide the mistake. */
export async function poolMustExist(client: BerthClient, pool: string | undefined): Promise<void> {
  if (pool !== undefined) await client.pool(pool);
}
