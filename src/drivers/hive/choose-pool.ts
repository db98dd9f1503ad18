/**
 * Which ClusterPool a claim goes to. Claims that wait already count against the stock of their pool:
 * otherwise all that come at once choose the same one.
 */
import { createHash } from "node:crypto";
import { isFalse } from "../hub/conditions.ts";
import type { ClusterClaim, ClusterPool } from "./objects.ts";

export function choosePool(
  pools: readonly ClusterPool[],
  claims: readonly ClusterClaim[],
  instance: string,
): ClusterPool | undefined {
  const ranked = pools
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((pool) => ({ pool, rank: rankOf(pool, claims), tie: tieOf(pool, instance) }))
    .toSorted((one, other) => compare([...other.rank, other.tie], [...one.rank, one.tie]));
  return ranked[0]?.pool;
}

/**
 * Another pool that has a cluster running now, for a claim that waits in a pool that has none for it.
 * Undefined: it is best to stay.
 */
export function betterPool(
  claim: ClusterClaim,
  pools: readonly ClusterPool[],
  claims: readonly ClusterClaim[],
  instance: string,
): ClusterPool | undefined {
  const own = pools.find(({ metadata }) => metadata.name === claim.spec?.clusterPoolName);
  const ahead = claims.filter((each) => each !== claim && isOlder(each, claim));
  if (own !== undefined && readyFor(own, ahead) > 0) return undefined;
  const others = pools.filter((pool) => pool !== own && readyFor(pool, claims) > 0);
  return choosePool(others, claims, instance);
}

/** Clusters that run and that no waiting claim will get. */
function readyFor(pool: ClusterPool, claims: readonly ClusterClaim[]): number {
  return (pool.status?.ready ?? 0) - waitingIn(pool, claims);
}

function waitingIn({ metadata }: ClusterPool, claims: readonly ClusterClaim[]): number {
  return claims.filter(
    ({ spec, metadata: { deletionTimestamp } }) =>
      spec?.clusterPoolName === metadata.name &&
      spec.namespace === undefined &&
      deletionTimestamp === undefined,
  ).length;
}

/** Stock that runs, stock that sleeps, and whether another cluster can be made; more is better. */
function rankOf(pool: ClusterPool, claims: readonly ClusterClaim[]): readonly number[] {
  const ready = readyFor(pool, claims);
  const canGrow = pool.spec?.maxSize !== 0 && !isFalse(pool, "CapacityAvailable");
  return [Math.max(0, ready), ready + (pool.status?.standby ?? 0), canGrow ? 1 : 0];
}

/** Spreads equal claims over equal pools, the same way at each attempt. */
function tieOf({ metadata }: ClusterPool, instance: string): number {
  return createHash("sha256").update(`${instance} ${metadata.name}`).digest().readUInt32BE(0);
}

function isOlder({ metadata: one }: ClusterClaim, { metadata: other }: ClusterClaim): boolean {
  const [made, than] = [one.creationTimestamp ?? "", other.creationTimestamp ?? ""];
  return made === than ? one.name < other.name : made < than;
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}
