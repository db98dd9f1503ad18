/**
 * A hub is an API server on which clusters are made. The plan chooses one when it plans a cluster, and
 * the cluster keeps it. A hub that cannot be reached freezes its clusters: nothing is lent, begun or
 * given up there, and no deadline passes, until it answers again.
 */
import type { Reason } from "./command.ts";
import type { ExclusiveResource, Pool } from "./state.ts";
import type { Instant } from "./time.ts";

/**
 * `cordoned`: no new clusters; those that exist are used up. `draining`: those that nobody holds are
 * also replaced elsewhere.
 */
export type HubState = "active" | "cordoned" | "draining";

export const hubStates: readonly HubState[] = ["active", "cordoned", "draining"];

/** A hub as the configuration has it, without what only its provisioner needs. */
export interface HubSpec {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** How many clusters there may be on it, in any state. Absent: no limit. */
  readonly limit?: number;
  /** Absent: active. */
  readonly state?: Exclude<HubState, "active">;
}

/** What the last probes have found. Absent: unknown. */
export interface HubFindings {
  /** The kinds that it serves, of those that templates need: `ClusterClaim.hive.openshift.io`. */
  readonly kinds?: readonly string[];
  /** The minor versions that it can make, such as `4.20`. */
  readonly versions?: readonly string[];
  /** How many clusters its back end has ready, by template. */
  readonly ready?: Readonly<Record<string, number>>;
}

export interface HubOutage {
  readonly since: Instant;
  /** What the probe has said, in full. */
  readonly error: string;
}

/** How the creation of a cluster ended. */
export interface CreationEnd {
  readonly at: Instant;
  readonly failed: boolean;
}

export interface Hub {
  readonly kind: "hub";
  readonly name: string;
  readonly spec: HubSpec;
  /** No longer in the configuration. It is forgotten with its last cluster. */
  readonly retired: boolean;
  /** What an operator has set; null: the configuration counts. */
  readonly set: {
    readonly state: Exclude<HubState, "active">;
    readonly at: Instant;
    readonly reason: Reason;
  } | null;
  /** Null: no probe has answered yet, so nothing is planned there. */
  readonly findings: HubFindings | null;
  readonly outage: HubOutage | null;
  /** When a probe last changed what is known. */
  readonly probedAt: Instant | null;
  readonly clusters: ReadonlySet<ExclusiveResource>;
  /** Pools whose clusters may be made there. */
  readonly pools: ReadonlySet<Pool>;
  /** The last ones, oldest first. At most `creationsMax`. */
  readonly creations: readonly CreationEnd[];
}

export const creationsMax = 20;
export const hubErrorLengthMax = 4_000;

/** The stricter of what the configuration and an operator say. */
export function hubStateOf({
  spec,
  set,
  retired,
}: Pick<Hub, "spec" | "set" | "retired">): HubState {
  const states = [spec.state, set?.state];
  if (states.includes("draining")) return "draining";
  return retired || states.includes("cordoned") ? "cordoned" : "active";
}

export function limitOfHub({ spec }: Pick<Hub, "spec">): number {
  return spec.limit ?? Number.POSITIVE_INFINITY;
}

/** Whether nothing can be done with the cluster, because its hub cannot be reached. */
export function isFrozen({ hub }: Pick<ExclusiveResource, "hub">): boolean {
  return hub !== null && hub.outage !== null;
}
