/** Commands about single clusters: of the worker that makes them, and of operators. */
import { planPool } from "../clusters/plan.ts";
import { candidateOf, snapshotOf } from "../clusters/snapshot.ts";
import { limitOf, limitsFor } from "../gates/limits.ts";
import { type Cluster, type ClusterReport, handleLengthMax, isPhase } from "../model/cluster.ts";
import type { ClusterCommand } from "../model/command.ts";
import type { ClaimId, RequestId, ResourceName } from "../model/ids.ts";
import { brokenState, destroyingState, resumingState, usedState } from "../model/lifecycle.ts";
import { done, type Outcome, type Refusal, refused } from "../model/outcome.ts";
import { same } from "../model/policy.ts";
import type { ExclusiveResource, Pool } from "../model/state.ts";
import { after } from "../model/time.ts";
import { leaseNotFound, leaseRevoked, poolNotFound, resourceNotFound } from "./not-found.ts";
import { endClaim, endLease } from "./release.ts";
import { emit, type Turn } from "./turn.ts";

type Of<Type extends ClusterCommand["type"]> = Extract<ClusterCommand, { type: Type }>;

interface Made extends ExclusiveResource {
  readonly cluster: Cluster;
}

function find({ state }: Turn, name: ResourceName): Made | Refusal {
  const resource = state.resources.get(name);
  if (resource === undefined) return resourceNotFound(state, name);
  const isCluster = resource.sharing === "exclusive" && resource.cluster !== null;
  return isCluster ? (resource as Made) : { code: "not_a_cluster", resource: name };
}

/** Only the worker that holds the cluster may report. It learns what is wanted. */
export function reportCluster(turn: Turn, command: Of<"cluster-report">): Outcome {
  const { id, resource: name, report } = command;
  const lease = turn.state.leases.get(id);
  if (lease === undefined) return refused(leaseNotFound(turn.state, id));
  if (lease.revoked !== null) return refused(leaseRevoked(lease.id, lease.revoked));
  const found = find(turn, name);
  if ("code" in found) return refused(found);
  const { claim, cluster, state } = found;
  if (claim?.lease !== lease || claim.purpose !== "provision") {
    return refused({ code: "cluster_state", resource: name, action: "report", state });
  }
  if ((report.handle?.length ?? 0) > handleLengthMax) {
    return refused({ code: "handle_too_long", resource: name, max: handleLengthMax });
  }
  const news = newsIn(cluster, report);
  if (Object.keys(news).length > 0)
    emit(turn, { type: "cluster-reported", resource: name, ...news });
  emit(turn, { type: "lease-renewed", id });
  return { type: "reported", wanted: found.cluster.wanted };
}

/** Small steps of progress are not worth a line in the journal. */
const progressStep = 0.05;

function newsIn(cluster: Cluster, report: ClusterReport): ClusterReport {
  const { progress: before } = cluster;
  const entries = Object.entries(report).filter(([key, value]) => {
    if (value === undefined || same(value, cluster[key as keyof ClusterReport])) return false;
    const isStep = key === "progress" && typeof value === "number" && before !== null;
    return !isStep || Math.abs(value - before) >= progressStep || value === 1;
  });
  return Object.fromEntries(entries);
}

/** The instance must be the same: a name may mean another cluster by now. */
export function clusterLost(turn: Turn, command: Of<"cluster-lost">): Outcome {
  const { resource: name, instance, why } = command;
  const found = find(turn, name);
  if ("code" in found) return refused(found);
  const { claim, cluster, state } = found;
  if (cluster.instance !== instance || state === destroyingState || cluster.lost !== null) {
    return done;
  }
  if (claim?.purpose === "provision" || state === usedState || state === brokenState) return done;
  if (claim !== null) emit(turn, { type: "cluster-lost", resource: name, why });
  else emit(turn, { type: "cluster-moved", resource: name, ...broken, why });
  return done;
}

const broken = { state: brokenState, wanted: "destroyed" } as const;
const used = { state: usedState, wanted: "destroyed" } as const;

/** A cluster that was held for debugging is never lent again: somebody may have changed it. */
export function holdCluster(turn: Turn, command: Of<"cluster-hold">): Outcome {
  const { resource: name, forMs, reason } = command;
  const found = find(turn, name);
  if ("code" in found) return refused(found);
  const { claim, cluster, state } = found;
  if (state === destroyingState) {
    return refused({ code: "cluster_state", resource: name, action: "hold", state });
  }
  const hold = { ...reason, until: after(turn.now, forMs) };
  if (same(cluster.hold, hold)) return done;
  emit(turn, { type: "cluster-held", resource: name, hold, reason });
  const isIdle = claim === null && !isPhase(state) && state !== brokenState && state !== usedState;
  if (isIdle)
    emit(turn, { type: "cluster-moved", resource: name, ...used, why: reason.why, reason });
  return done;
}

export function unholdCluster(turn: Turn, command: Of<"cluster-unhold">): Outcome {
  const { resource: name, reason } = command;
  const found = find(turn, name);
  if ("code" in found) return refused(found);
  if (found.cluster.hold !== null)
    emit(turn, { type: "cluster-held", resource: name, hold: null, reason });
  return done;
}

/** Destroys a cluster that nobody holds, as soon as `concurrent` allows. */
export function destroyCluster(turn: Turn, command: Of<"cluster-destroy">): Outcome {
  const { resource: name, reason } = command;
  const found = find(turn, name);
  if ("code" in found) return refused(found);
  const { claim, cluster, state } = found;
  if (claim?.purpose === "use" || cluster.hold !== null) {
    return refused({ code: "cluster_state", resource: name, action: "destroy", state });
  }
  const { why } = reason;
  if (state === destroyingState || state === usedState || cluster.wanted === "destroyed")
    return done;
  if (claim === null) emit(turn, { type: "cluster-moved", resource: name, ...used, why, reason });
  else emit(turn, { type: "cluster-wanted", resource: name, wanted: "destroyed", why, reason });
  return done;
}

/** Removes a cluster from the books. Its space is no longer charged; what is left is a leak. */
export function abandonCluster(turn: Turn, command: Of<"cluster-abandon">): Outcome {
  const { resource: name, reason } = command;
  const found = find(turn, name);
  if ("code" in found) return refused(found);
  const { claim, cluster, pool, state } = found;
  if (claim?.purpose === "use") {
    return refused({ code: "cluster_state", resource: name, action: "abandon", state });
  }
  if (claim !== null) endLease(turn, claim.lease, { why: "revoked", reason });
  const { instance, handle } = cluster;
  const kept = handle === null ? undefined : { handle };
  const what = { resource: name, pool: pool.name, instance, ...kept, reason };
  emit(turn, { type: "cluster-abandoned", ...what });
  return done;
}

/**
 * The holder wants another cluster, for example because its own is lost. The old one is destroyed;
 * the new one comes to the same lease, under the same claim, with a larger fence. Until then the lease
 * lacks the claim.
 */
export function replaceCluster(turn: Turn, command: Of<"cluster-replace">): Outcome {
  const { id, claim: claimId } = command;
  const lease = turn.state.leases.get(id);
  if (lease === undefined) return refused(leaseNotFound(turn.state, id));
  if (lease.revoked !== null) return refused(leaseRevoked(lease.id, lease.revoked));
  const isAwaited = (request: RequestId) =>
    turn.state.requests.get(request)?.ask.replaces?.claim === claimId;
  if (lease.replacements.some(isAwaited)) return done;
  const claim = lease.claims.find((one) => one.id === claimId);
  if (claim === undefined) return refused({ code: "claim_not_found", id, claim: claimId });
  const cluster = claim.amount === null ? claim.resource.cluster : null;
  const { pool, name, state } = claim.resource;
  if (cluster === null) return refused({ code: "not_a_cluster", resource: name });
  if (claim.purpose !== "use") {
    return refused({ code: "cluster_state", resource: name, action: "replace", state });
  }
  const { holder, space, priority, ttlMs } = lease.ask;
  endClaim(turn, claim, { why: "replaced" });
  const ask = {
    holder,
    ...(space === undefined ? undefined : { space }),
    ...(priority === undefined ? undefined : { priority }),
    items: [{ pool: pool.name, count: 1, parameters: cluster.parameters }],
    ttlMs,
    replaces: { lease: id, claim: claimId },
  };
  emit(turn, { type: "request-queued", id: replacementId(id, claimId, claim.fence), ask });
  return done;
}

/** The fence makes it different each time. */
function replacementId(lease: RequestId, claim: ClaimId, fence: number): RequestId {
  return `${lease}.${claim}.${fence}` as RequestId;
}

/** A worker looks at the adopted cluster and gets its access before it is lent. */
export function adoptCluster(turn: Turn, command: Of<"cluster-adopt">): Outcome {
  const { pool: poolName, resource, instance, handle, hub, reason } = command;
  const pool = turn.state.pools.get(poolName);
  const policy = pool?.policy.cluster;
  if (pool === undefined || policy === undefined)
    return refused(poolNotFound(turn.state, poolName));
  if (turn.state.resources.has(resource)) return refused({ code: "cluster_exists", resource });
  const full = fullLimit(pool);
  if (full !== undefined) return refused(full);
  // Without a revision, the operator says that it is what the pool would make.
  const { parameters = policy.parameters, revision = policy.revision } = command;
  const planned = snapshotOf(pool, turn.now);
  const clusters = [...planned.clusters, candidateOf(resource, parameters)];
  const isSurplus = planPool({ ...planned, clusters }).some((action) => {
    return action.do === "destroy" && action.name === resource;
  });
  if (isSurplus) return refused({ code: "cluster_surplus", pool: poolName, size: policy.size });
  const birth = { instance, template: policy.template, revision, parameters };
  const known = {
    ...(handle === undefined ? undefined : { handle }),
    ...(hub === undefined ? undefined : { hub }),
  };
  const cluster = { ...birth, price: pool.policy.cost ?? 0, ...known };
  const why = reason.why;
  const what = { pool: poolName, resource, state: resumingState, cluster, why, reason };
  emit(turn, { type: "resource-added", ...what });
  return done;
}

function fullLimit(pool: Pool): Refusal | undefined {
  const { max } = pool.policy.cluster ?? {};
  const used = pool.members.size;
  if (max !== undefined && used >= max) {
    return { code: "cluster_limit", pool: pool.name, used, limit: max };
  }
  for (const limit of limitsFor(pool)) {
    if (limit.used < limitOf(limit)) continue;
    return { code: "cluster_limit", pool: limit.name, used: limit.used, limit: limitOf(limit) };
  }
  return undefined;
}
