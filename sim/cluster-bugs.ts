/** Planted bugs about clusters. They change the state behind the journal, as a bug would. */
import { setCluster } from "../src/core/apply/clusters.ts";
import { edit } from "../src/core/apply/edit.ts";
import { reindex, update } from "../src/core/apply/indexes.ts";
import { chargeCluster } from "../src/core/apply/spaces.ts";
import { clustersIn } from "../src/core/clusters/snapshot.ts";
import type { Hub } from "../src/core/model/hub.ts";
import type { PoolPolicy } from "../src/core/model/policy.ts";
import type { Pool, State } from "../src/core/model/state.ts";
import type { Instant } from "../src/core/model/time.ts";
import type { EdgeBugs } from "./server.ts";

export function spoilClusters(state: State, bugs: EdgeBugs, at: Instant): void {
  const { lendUsed, ignoreMax, ignoreAccounts, uncharge } = bugs;
  for (const hub of state.hubs.values()) spoilHub(hub, bugs);
  if (!lendUsed && !ignoreMax && !ignoreAccounts && !uncharge) return;
  for (const pool of state.pools.values()) {
    if (pool.clusters === null) continue;
    if (ignoreMax && pool.policy.cluster?.max !== undefined) withoutMax(pool);
    if (ignoreAccounts && pool.parent?.policy.limit !== undefined) withoutLimit(pool.parent);
    for (const resource of clustersIn(pool)) {
      const isIdle = resource.claim === null;
      if (lendUsed && isIdle && resource.state === "destroying") {
        update(resource, { state: "free" }, at);
      }
      if (uncharge && isIdle && resource.cluster.space !== null) {
        chargeCluster(state, resource, -1);
        setCluster(resource, { space: null });
      }
    }
  }
}

/** Affects decisions only: the journal and snapshots have the original. */
function spoilHub(hub: Hub, { ignoreHubLimits, lendUnreachable }: EdgeBugs): void {
  if (ignoreHubLimits && hub.spec.limit !== undefined) {
    const { spec } = hub;
    const spoilt = { ...spec, limit: 1_000 };
    edit(hub).spec = Object.defineProperty(spoilt, "toJSON", { value: () => spec });
  }
  if (!lendUnreachable || hub.outage === null) return;
  const { outage } = hub;
  edit(hub).outage = null;
  reindex(hub.clusters);
  edit(hub).outage = outage;
}

function withoutMax(pool: Pool): void {
  const { policy } = pool;
  if (policy.cluster === undefined) return;
  const { max: _, ...cluster } = policy.cluster;
  spoil(pool, { ...policy, cluster });
}

function withoutLimit(pool: Pool): void {
  spoil(pool, { ...pool.policy, limit: 1_000 });
}

/** Affects decisions only: the journal has the original policy. */
function spoil(pool: Pool, spoilt: PoolPolicy): void {
  const { policy } = pool;
  edit(pool).policy = Object.defineProperty(spoilt, "toJSON", { value: () => policy });
}
