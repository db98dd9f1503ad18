import { resolve } from "node:path";
import type { Claim } from "../../api/schemas.ts";
import type { HeldLease } from "../../client/berth-client.ts";
import { usageError } from "../failure.ts";
import { findGivenToken } from "../identity/credentials.ts";
import { poolsOf } from "../show/leases.ts";

/** Turns `aws-account` into `AWS_ACCOUNT`. */
export function variableSuffix(pool: string): string {
  return pool.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

/** Throws if two pools would set the same variable. Callers check this before they send a request. */
export function refuseVariableClashes(pools: readonly string[]): void {
  const byVariable = new Map<string, string>();
  for (const pool of pools) {
    const variable = `BERTH_RESOURCE_${variableSuffix(pool)}`;
    const other = byVariable.get(variable);
    if (other !== undefined) {
      throw usageError(
        `Cannot request ${other} and ${pool} together: both would set ${variable}`,
        "Rename one of the pools, or use two nested berth run commands",
      );
    }
    byVariable.set(variable, pool);
  }
}

/**
 * The command's variables for its lease. Several resources of one pool are separated by spaces.
 * `tokenFile` is the caller's `--token-file`.
 */
export function leaseVariables(
  lease: HeldLease,
  url: string,
  tokenFile?: string,
): Record<string, string> {
  const variables: Record<string, string> = {
    BERTH_LEASE_ID: lease.id,
    BERTH_LEASE_TOKEN: lease.token,
    ...credentialVariables(lease, tokenFile),
    BERTH_URL: url,
  };
  for (const pool of poolsOf(lease.claims)) {
    const claims = lease.claims.filter((claim) => claim.pool === pool);
    const list = (read: (claim: Claim) => string | number) => claims.map(read).join(" ");
    variables[`BERTH_RESOURCE_${variableSuffix(pool)}`] = list(({ resource }) => resource);
    variables[`BERTH_FENCE_${variableSuffix(pool)}`] = list(({ fence }) => fence);
  }
  return variables;
}

/**
 * A caller with a token of its own keeps it, so that the command can call Berth as well. The command
 * finds the id token of a GitHub job by itself.
 */
function credentialVariables({ token }: HeldLease, tokenFile: string | undefined) {
  // The lease's token replaces a BERTH_TOKEN that the caller has set, because it would be preferred
  // to the file.
  if (tokenFile !== undefined) return { BERTH_TOKEN: token, BERTH_TOKEN_FILE: resolve(tokenFile) };
  return findGivenToken() === undefined ? { BERTH_TOKEN: token } : undefined;
}
