/** The outcomes of commands, with all refusals. */
import type { LeaseView, RequestView } from "../explain/view.ts";
import type { Wanted } from "./cluster.ts";
import type { Reason } from "./command.ts";
import type { LeaseEnd, RequestEnd, WaitCode } from "./event.ts";
import type { ClaimId, PoolName, RequestId, ResourceName, SpaceName } from "./ids.ts";
import type { OrphanCluster } from "./orphan.ts";
import type { LastHolder } from "./state.ts";
import type { Instant } from "./time.ts";
import type { UserDataFault } from "./user-data.ts";

/** The outcome of a command. Plain data that later changes of the state do not affect. */
export type Outcome =
  | { readonly type: "granted"; readonly lease: LeaseView }
  | { readonly type: "waiting"; readonly request: RequestView }
  | { readonly type: "done" }
  /** Several resources at once, one lease each. */
  | { readonly type: "taken"; readonly leases: readonly LeaseView[] }
  /** The resources whose leases were ended, and their holders. */
  | { readonly type: "reset"; readonly holders: ReadonlyMap<ResourceName, string> }
  /** The resources that were not imported, and why. */
  | { readonly type: "imported"; readonly leases: number; readonly left: readonly LeftOut[] }
  /** The report of a worker: what is wanted of the cluster now. */
  | { readonly type: "reported"; readonly wanted: Wanted }
  /** Of the clusters that a search has found, those that are not in the books. */
  | { readonly type: "orphans"; readonly orphans: readonly OrphanCluster[] }
  | { readonly type: "refused"; readonly refusal: Refusal };

export interface LeftOut {
  readonly resource: ResourceName;
  readonly pool: PoolName;
  /**
   * `used_since`: Berth lent it after the other broker's last change, so the state here is newer.
   */
  readonly why: "not_configured" | "held_already" | "used_since";
}

export const done: Outcome = { type: "done" };

export function refused(refusal: Refusal): Outcome {
  return { type: "refused", refusal };
}

/** The id of the request or lease in the outcome, if any. */
export function idOf(outcome: Outcome): RequestId | undefined {
  if (outcome.type === "granted") return outcome.lease.id;
  return outcome.type === "waiting" ? outcome.request.id : undefined;
}

/** All refusals of the core, as values. The API turns them into messages. */
export type Refusal =
  | {
      readonly code: "pool_not_found";
      readonly pool: PoolName;
      readonly nearest?: PoolName;
      readonly known: readonly PoolName[];
    }
  | {
      readonly code: "never_fits";
      readonly pool: PoolName;
      readonly asked: number;
      readonly size: number;
    }
  /** The space may never hold this many, or this much of `dimension`. */
  | {
      readonly code: "quota_too_small";
      readonly space: SpaceName;
      readonly pool: PoolName;
      readonly dimension?: string;
      readonly asked: number;
      readonly max: number;
    }
  /** The configuration has no such space, and allows no other. */
  | { readonly code: "space_unknown"; readonly space: SpaceName }
  /** The space may not use the pool. */
  | { readonly code: "pool_not_allowed"; readonly space: SpaceName; readonly pool: PoolName }
  /** As many requests of the space wait as may wait. */
  | { readonly code: "too_many_waiting"; readonly space: SpaceName; readonly max: number }
  /** The requests of the space that wait for the pool have as many different priorities as may be. */
  | {
      readonly code: "too_many_priorities";
      readonly space: SpaceName;
      readonly pool: PoolName;
      readonly max: number;
    }
  /** No eligible resource is large enough in this dimension. */
  | {
      readonly code: "amount_too_large";
      readonly pool: PoolName;
      readonly dimension: string;
      readonly asked: number;
      readonly largest: number;
      /** The resource that lacks the least, if each has enough of some dimension. */
      readonly resource?: string;
    }
  /** Too few resources are eligible and large enough. */
  | {
      readonly code: "too_few_eligible";
      readonly pool: PoolName;
      readonly asked: number;
      readonly possible: number;
      /** The number of eligible resources that are large enough. */
      readonly large: number;
      readonly eligible: number;
      readonly total: number;
      /** The number of resources that are not eligible, by reason. */
      readonly unfit: Readonly<Record<string, number>>;
      /** The name or the label that the client may have meant: `aws-3`, `region=eu-west`. */
      readonly nearest?: string;
    }
  | { readonly code: "never_fits_together"; readonly pool: PoolName; readonly items: number }
  | {
      readonly code: "strategy_not_allowed";
      readonly pool: PoolName;
      readonly strategy: string;
      readonly known: readonly string[];
    }
  /**
   * `lent_whole`: an item for an exclusive pool has a key that is only for shared pools.
   * `lent_by_amount`: an item for a shared pool names a state.
   */
  | { readonly code: "lent_whole"; readonly pool: PoolName; readonly key: string }
  | { readonly code: "lent_by_amount"; readonly pool: PoolName }
  | {
      readonly code: "amount_missing";
      readonly pool: PoolName;
      /** The dimensions of the pool. */
      readonly known: readonly string[];
    }
  | {
      readonly code: "dimension_unknown";
      readonly pool: PoolName;
      readonly dimension: string;
      readonly nearest?: string;
      readonly known: readonly string[];
    }
  | { readonly code: "request_id_reused"; readonly key: string; readonly id: RequestId }
  /** The group already has all its requests. */
  | { readonly code: "group_full"; readonly group: string; readonly size: number }
  | {
      readonly code: "group_size_differs";
      readonly group: string;
      readonly size: number;
      readonly asked: number;
    }
  | { readonly code: "request_not_found"; readonly id: string }
  | {
      readonly code: "request_ended";
      readonly id: RequestId;
      readonly how: RequestEnd | LeaseEnd;
      readonly endedAt: Instant;
    }
  /** The request does not wait any more. */
  | { readonly code: "request_granted"; readonly id: RequestId }
  /** There is no class of priorities with this name. */
  | {
      readonly code: "priority_unknown";
      readonly name: string;
      readonly nearest?: string;
      readonly known: readonly string[];
    }
  | { readonly code: "lease_not_found"; readonly id: string }
  | { readonly code: "lease_not_granted"; readonly id: RequestId }
  | {
      readonly code: "lease_ended";
      readonly id: RequestId;
      readonly how: RequestEnd | LeaseEnd;
      readonly endedAt: Instant;
      /** Who revoked it and why, as long as that is known. */
      readonly reason?: Reason;
    }
  | { readonly code: "pool_not_in_lease"; readonly id: RequestId; readonly pool: PoolName }
  | { readonly code: "claim_not_found"; readonly id: RequestId; readonly claim: ClaimId }
  | {
      readonly code: "resource_not_found";
      readonly resource: ResourceName;
      readonly nearest?: ResourceName;
    }
  /** The request did not want to wait, and nothing is free for it. */
  | {
      readonly code: "none_free";
      readonly pool: PoolName;
      /** The rule that holds it back, as of a request that waits. Absent: others have them. */
      readonly because?: { readonly code: WaitCode; readonly what: string };
    }
  /** These of the named resources are not free. */
  | {
      readonly code: "not_all_free";
      readonly resources: readonly ResourceName[];
      readonly state: string;
    }
  | {
      readonly code: "not_its_holder";
      readonly resource: ResourceName;
      /** The holder that the command names. */
      readonly by: string;
      /** Empty if it is not held. */
      readonly holder: string;
      /** How the named holder lost it, if it was the last holder. */
      readonly lost?: LastHolder;
      /** The lease has a token, so the name alone is not enough. */
      readonly needsToken: boolean;
    }
  | {
      readonly code: "state_differs";
      readonly resource: ResourceName;
      readonly state: string;
      readonly claimed: string;
    }
  | { readonly code: "resource_held"; readonly resource: ResourceName; readonly holder: string }
  | { readonly code: "state_reserved"; readonly state: string }
  | {
      readonly code: "state_not_allowed";
      readonly pool: PoolName;
      readonly state: string;
      readonly allowed: readonly string[];
    }
  /** The resource is no cluster: no pool with a template made it. */
  | { readonly code: "not_a_cluster"; readonly resource: ResourceName }
  /** An item for a pool of clusters names a resource, labels or a state. */
  | { readonly code: "lent_by_parameters"; readonly pool: PoolName; readonly key: string }
  /** An item has parameters, but the pool has no template. */
  | { readonly code: "parameters_not_allowed"; readonly pool: PoolName }
  /** A worker, a holder or an operator wants what this cluster cannot do in its state. */
  | {
      readonly code: "cluster_state";
      readonly resource: ResourceName;
      readonly action: "release" | "hold" | "unhold" | "destroy" | "abandon" | "report" | "replace";
      readonly state: string;
      /** Of a release: the state that the worker names, and those that it may name. */
      readonly to?: string;
      readonly allowed?: readonly string[];
    }
  /** The driver's handle is too long. */
  | { readonly code: "handle_too_long"; readonly resource: ResourceName; readonly max: number }
  | { readonly code: "cluster_exists"; readonly resource: ResourceName }
  /** The plan would destroy the adopted cluster at once. */
  | { readonly code: "cluster_surplus"; readonly pool: PoolName; readonly size: number }
  /** No further cluster fits into the pool or below a limit. */
  | {
      readonly code: "cluster_limit";
      readonly pool: PoolName;
      readonly used: number;
      readonly limit: number;
    }
  /** No hub of the pool makes this version. */
  | {
      readonly code: "version_unsupported";
      readonly pool: PoolName;
      readonly version: string;
      readonly known: readonly string[];
      readonly nearest?: string;
    }
  | { readonly code: "hub_not_found"; readonly hub: string; readonly nearest?: string }
  /** The configuration is stricter than what an operator wants. */
  | { readonly code: "hub_configured"; readonly hub: string; readonly state: string }
  | {
      readonly code: "too_many_entries";
      readonly resource: ResourceName;
      readonly what: "labels" | "user data";
      readonly max: number;
    }
  | {
      readonly code: "user_data_refused";
      readonly resource: ResourceName;
      readonly fault: UserDataFault;
    };

export type RefusalCode = Refusal["code"];
