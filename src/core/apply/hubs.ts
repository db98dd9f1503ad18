/** Applies the events of hubs, and keeps the links between hubs, pools and clusters. */
import type { HubEvent } from "../model/event.ts";
import type { Hub, HubSpec } from "../model/hub.ts";
import { type ExclusiveResource, isHeld, must, type Pool, type State } from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { setCluster } from "./clusters.ts";
import { edit } from "./edit.ts";
import { linkHub, recount, reindex, scheduleResource } from "./indexes.ts";
import { scheduleLease } from "./leases.ts";

export function hubEvent(state: State, event: HubEvent, at: Instant): void {
  if (event.type === "hub-defined") return hubDefined(state, event);
  const hub = must(state.hubs.get(event.name), event.name);
  switch (event.type) {
    case "hub-retired":
      edit(hub).retired = true;
      if (hub.clusters.size === 0) edit(state.hubs).delete(hub.name);
      for (const pool of [...hub.pools]) linkPool(state, pool);
      return;
    case "hub-set": {
      const { state: set, reason } = event;
      edit(hub).set = set === "active" ? null : { state: set, at, reason };
      return;
    }
    case "hub-probed":
      return hubProbed(state, hub, event, at);
  }
}

function hubDefined(state: State, { name, labels, limit, state: set }: HubSpec): void {
  const spec: HubSpec = {
    ...{ name, labels },
    ...(limit === undefined ? undefined : { limit }),
    ...(set === undefined ? undefined : { state: set }),
  };
  const known = state.hubs.get(name);
  if (known !== undefined) {
    Object.assign(edit(known), { spec, retired: false });
  } else {
    addHub(state, { name, spec });
    for (const resource of state.resources.values()) linkHub(state, resource);
  }
  for (const pool of state.pools.values()) linkPool(state, pool);
}

export type FrozenHub = Pick<Hub, "name" | "spec"> &
  Partial<Omit<Hub, "kind" | "clusters" | "pools">>;

/** Also used by `thaw`. */
export function addHub(state: State, frozen: FrozenHub): void {
  edit(state.hubs).set(frozen.name, {
    ...{ retired: false, set: null, findings: null, outage: null, probedAt: null, creations: [] },
    ...frozen,
    kind: "hub",
    ...{ clusters: new Set<ExclusiveResource>(), pools: new Set<Pool>() },
  });
}

export function freezeHub({ kind: _, clusters: __, pools: ___, ...frozen }: Hub): FrozenHub {
  return frozen;
}

/** Which hubs a pool may use follows from its policy and from the hubs that exist. */
export function linkPool(state: State, pool: Pool): void {
  for (const hub of pool.hubs ?? []) edit(hub.pools).delete(pool);
  const names = pool.policy.cluster?.hubs;
  const isGone = state.pools.get(pool.name) !== pool;
  if (names === undefined || isGone) {
    edit(pool).hubs = null;
    return;
  }
  const found = names.flatMap((name) => state.hubs.get(name) ?? []).filter((hub) => !hub.retired);
  edit(pool).hubs = new Set(found);
  for (const hub of found) edit(hub.pools).add(pool);
}

function hubProbed(
  state: State,
  hub: Hub,
  event: Extract<HubEvent, { type: "hub-probed" }>,
  at: Instant,
): void {
  const { error, kinds, versions, ready } = event;
  const writable = edit(hub);
  writable.probedAt = at;
  const found = {
    ...(kinds === undefined ? undefined : { kinds }),
    ...(versions === undefined ? undefined : { versions }),
    ...(ready === undefined ? undefined : { ready }),
  };
  if (error == null) writable.findings = { ...hub.findings, ...found };
  if (error === undefined || (error === null) === (hub.outage === null)) {
    if (error != null && hub.outage !== null) writable.outage = { ...hub.outage, error };
    return;
  }
  const since = hub.outage?.since;
  // In an order that does not depend on when they were added.
  const clusters = [...hub.clusters].sort((a, b) => (a.name < b.name ? -1 : 1));
  recount(clusters, () => {
    writable.outage = error === null ? null : { since: at, error };
  });
  reindex(clusters);
  for (const resource of clusters) {
    if (since !== undefined) postpone(resource, since, at);
    freezeWork(state, resource);
  }
}

/** The time without the hub does not count. */
function postpone(resource: ExclusiveResource, since: Instant, at: Instant): void {
  const { cluster } = resource;
  if (cluster === null || cluster.deadlineAt === never) return;
  const from = Math.max(since, cluster.since);
  setCluster(resource, { deadlineAt: after(cluster.deadlineAt, at - from) });
}

/** The lease of a worker ends with its phase, and so not before the hub answers again. */
function freezeWork(state: State, resource: ExclusiveResource): void {
  const { claim, cluster, hub } = resource;
  if (!isHeld(resource)) return scheduleResource(state, resource);
  if (claim?.purpose !== "provision" || cluster === null) return;
  edit(claim.lease).endsAt = hub?.outage == null ? cluster.deadlineAt : never;
  if (claim.lease.revoked === null) scheduleLease(state, claim.lease);
}
