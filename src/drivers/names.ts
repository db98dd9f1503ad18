import { createHash } from "node:crypto";

/** DNS labels have 63, but IAM roles and the like are named after clusters and have less. */
const hexDigits = 20;

/**
 * What a cluster is called outside. It follows from the instance, so that a cluster is found again
 * after any crash. It is a DNS label of 26 characters, and never a part of another such name.
 */
export function externalName(instance: string): string {
  return `berth-${createHash("sha256").update(instance).digest("hex").slice(0, hexDigits)}`;
}

/** Put on everything that is made for a cluster. The stock belongs to no space until it is lent. */
export function tagsOf(cluster: {
  readonly resource: string;
  readonly instance: string;
  readonly pool: string;
  readonly space: string | null;
}): Readonly<Record<string, string>> {
  return {
    "berth-instance": cluster.instance,
    "berth-resource": cluster.resource,
    "berth-pool": cluster.pool,
    ...(cluster.space === null ? undefined : { "berth-space": cluster.space }),
  };
}
