/** The public view of a cluster: plain data with names, without references. */
import {
  type Cluster,
  isPhase,
  parametersKeyOf,
  spaceOfCredentials,
  stuckOn,
} from "../model/cluster.ts";
import type { PoolName, RequestId, ResourceName, SpaceName } from "../model/ids.ts";
import type { ExclusiveResource, State } from "../model/state.ts";
import { type Instant, never } from "../model/time.ts";

export interface ClusterView
  extends Pick<
    Cluster,
    | "instance"
    | "template"
    | "revision"
    | "parameters"
    | "hub"
    | "wanted"
    | "message"
    | "progress"
    | "apiUrl"
    | "version"
    | "price"
    | "space"
    | "stuck"
    | "lost"
    | "hold"
    | "plannedAt"
  > {
  readonly name: ResourceName;
  readonly pool: PoolName;
  /** Who may see what it is like (`ownerOfCluster`). */
  readonly owner: SpaceName | null | undefined;
  readonly state: string;
  readonly since: Instant;
  readonly deadlineAt: Instant | null;
  /** How long recent clusters took for the present phase; null without any. */
  readonly usualMs: number | null;
  readonly samples: number;
  readonly failures: number;
  /** When the next attempt begins, after a failed one. */
  readonly nextTryAt: Instant | null;
  /** Of the holder; null if nobody uses it. A worker's lease is not one. */
  readonly lease: {
    readonly id: RequestId;
    readonly holder: string;
    readonly since: Instant;
  } | null;
}

type Made = ExclusiveResource & { readonly cluster: Cluster };

export function isMade(resource: unknown): resource is Made {
  const { sharing, cluster } = Object(resource) as Partial<ExclusiveResource>;
  return sharing === "exclusive" && cluster !== null && cluster !== undefined;
}

/**
 * The space that may see what a cluster is like; null: all may, because it is stock. Undefined: no
 * space yet, because it is made to order, and its parameters are what a request of some space says.
 */
export function ownerOfCluster({ cluster, pool }: Made): SpaceName | null | undefined {
  const { space, parameters, parametersKey } = cluster;
  if (space !== null) return space;
  const ownSpace = spaceOfCredentials(parameters);
  if (ownSpace !== undefined) return ownSpace as SpaceName;
  const stock = parametersKeyOf(pool.policy.cluster?.parameters ?? {});
  return parametersKey === stock ? null : undefined;
}

/** Of all clusters that Berth has, also of those that are being destroyed. */
export function instancesOf(state: State): Set<string> {
  return new Set(Array.from(clustersOf(state), ({ cluster }) => cluster.instance));
}

export function* clustersOf(state: State): Generator<Made, void, undefined> {
  for (const pool of state.pools.values()) {
    if (pool.clusters === null) continue;
    for (const resource of pool.members) if (isMade(resource)) yield resource;
  }
}

export function clusterView(resource: Made): ClusterView {
  const { name, pool, state, cluster, claim, failures, restsUntil } = resource;
  const usual = isPhase(state) ? pool.clusters?.phases[state] : undefined;
  const lease = claim?.purpose === "use" ? claim.lease : null;
  const { parametersKey: _, handle: __, since, deadlineAt, ...shown } = cluster;
  return {
    ...shown,
    stuck: stuckOn(cluster),
    name,
    pool: pool.name,
    owner: ownerOfCluster(resource),
    state,
    since,
    deadlineAt: deadlineAt === never ? null : deadlineAt,
    usualMs: usual === undefined || usual.count === 0 ? null : usual.usualMs,
    samples: usual?.count ?? 0,
    failures,
    nextTryAt: claim !== null || restsUntil === never || failures === 0 ? null : restsUntil,
    lease: lease && { id: lease.id, holder: lease.ask.holder, since: lease.grantedAt },
  };
}
