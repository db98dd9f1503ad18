import type { Claim } from "../../api/schemas.ts";
import type { HeldLease } from "../../client/berth-client.ts";
import { usageError } from "../failure.ts";
import { poolsOf } from "../show/leases.ts";

/** `aws-account` as `AWS_ACCOUNT`. */
export function variablePart(pool: string): string {
  return pool.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

/** Two pools must not overwrite each other's variable; found before anything is asked for. */
export function refuseClashes(pools: readonly string[]): void {
  const byVariable = new Map<string, string>();
  for (const pool of pools) {
    const variable = `BERTH_RESOURCE_${variablePart(pool)}`;
    const other = byVariable.get(variable);
    if (other !== undefined) {
      throw usageError(
        `Cannot ask for ${other} and ${pool} at once: both would set ${variable}`,
        "Rename one of the pools, or ask for them in two runs, one inside the other",
      );
    }
    byVariable.set(variable, pool);
  }
}

/** What a command is told of its lease. Several resources of a pool are separated by spaces. */
export function leaseVariables(lease: HeldLease, url: string): Record<string, string> {
  const variables: Record<string, string> = {
    BERTH_LEASE_ID: lease.id,
    BERTH_TOKEN: lease.token,
    BERTH_URL: url,
  };
  for (const pool of poolsOf(lease.claims)) {
    const claims = lease.claims.filter((claim) => claim.pool === pool);
    const words = (wordOf: (claim: Claim) => string | number) => claims.map(wordOf).join(" ");
    variables[`BERTH_RESOURCE_${variablePart(pool)}`] = words(({ resource }) => resource);
    variables[`BERTH_FENCE_${variablePart(pool)}`] = words(({ fence }) => fence);
  }
  return variables;
}
