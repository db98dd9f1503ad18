import type { Placing } from "../shared/placement/demand.ts";
import type { ClusterReport, Parameters } from "./cluster.ts";
import type { HubFindings, HubSpec, HubState } from "./hub.ts";
import type { ClaimId, PoolName, RequestId, ResourceName, SpaceName } from "./ids.ts";
import type { FoundCluster, SearchScope } from "./orphan.ts";
import type { PoolSpec } from "./policy.ts";
import type { PrioritiesSpec } from "./priority.ts";
import type { SpacesSpec } from "./space.ts";
import type { Instant } from "./time.ts";

export interface Item extends Placing {
  readonly pool: PoolName;
  /** Other pools that the item may be taken from, best first, if `pool` has none now. */
  readonly anyOf?: readonly PoolName[];
  readonly count: number;
  /** The state of the resources to take. Default: `free`. A cleaner asks for `dirty`. */
  readonly state?: string;
  /** The state of the resources while they are held. Default: `busy`. */
  readonly into?: string;
  /**
   * Only for a pool of clusters: all parameters, checked and resolved by the edge. Absent: those of
   * the clusters that the pool keeps.
   */
  readonly parameters?: Parameters;
}

export interface Group {
  /** Leases of one group may share parts, such as networks. */
  readonly name: string;
  /** The number of requests that are granted together. 1: each alone. */
  readonly size: number;
}

/** The ask of a client. It gets all items or none. */
export interface Ask {
  readonly holder: string;
  /** The space that the lease belongs to. Absent: the server knows no spaces. */
  readonly space?: SpaceName;
  readonly items: readonly Item[];
  /** The client's request id, repeated when it retries: one key never gets two leases. */
  readonly key?: string;
  /** Null: the pool's timeout for holders without a token, which may be `never`. */
  readonly ttlMs?: number | null;
  readonly lifetimeMs?: number;
  /** Higher goes first. Default: 0. */
  readonly priority?: number;
  /** The name of a priority, instead of a number. A request in the queue has the number too. */
  readonly priorityClass?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Only for clients that poll. The client counts as present for this time after each poll, and a
   * lease that it has not received yet waits for it as long. It may use its key again for the next
   * lease.
   */
  readonly presenceMs?: number;
  /** The group of requests that belong together. */
  readonly group?: Group;
  /** The lease has no token: commands name the holder and the resource instead. */
  readonly byName?: true;
  /** Only the core makes such an ask: another cluster for a claim of a lease that exists. */
  readonly replaces?: { readonly lease: RequestId; readonly claim: ClaimId };
}

export interface ResourceChange {
  /** Only for a resource that is not held: frees a quarantined one, or takes one out of use. */
  readonly state?: string;
  /** Shown with the state: why it was quarantined, or the output of its cleaner. */
  readonly note?: string;
  /** If true, it is not lent again until undrained. Its holder keeps it. */
  readonly drained?: boolean;
  /** Merged; a `null` value removes the key. */
  readonly labels?: Readonly<Record<string, string | null>>;
  /** Merged like labels. May contain credentials, so only a holder may see it. */
  readonly userData?: Readonly<Record<string, string | null>>;
}

/** A holder's report about its provider. */
export interface Report {
  readonly throttled: boolean;
  /** The provider's message, for people. */
  readonly evidence?: string;
}

/** Who did it and why, for actions on behalf of others. */
export interface Reason {
  readonly by: string;
  readonly why: string;
  /** The name that a caller has given who has proved another one, which is `by`. */
  readonly as?: string;
}

/** All commands of the core. The caller adds the time. */
export type Command =
  | {
      readonly type: "configure";
      readonly pools: readonly PoolSpec[];
      /** Absent: every space is allowed, with the same weight and without quotas. */
      readonly spaces?: SpacesSpec;
      /** Absent: no classes and no ageing. */
      readonly priorities?: PrioritiesSpec;
      /** Absent: no hubs. */
      readonly hubs?: readonly HubSpec[];
    }
  /** A part of what the next `configure` would remove, so that no decision removes a million. */
  | { readonly type: "remove-resources"; readonly names: readonly ResourceName[] }
  | {
      readonly type: "acquire";
      readonly id: RequestId;
      readonly ask: Ask;
      /** How long the client keeps its connection open. It counts as present for this time. */
      readonly waitMs: number;
      /** If true, the request is granted now, behind all waiting requests, or refused. */
      readonly nowOnly?: true;
    }
  /** The reply with a lease did not reach its client. */
  | {
      readonly type: "not-delivered";
      readonly id: RequestId;
      /** The number of the lost reply. A later reply may have arrived. */
      readonly repliesSent: number;
    }
  | { readonly type: "keep-waiting"; readonly id: RequestId; readonly waitMs: number }
  | {
      readonly type: "leave";
      readonly id: RequestId;
      readonly why: LeaveReason;
      /** Set if an operator removes the request. */
      readonly reason?: Reason;
    }
  /** An operator changes the priority of a waiting request. The bound of its space does not count. */
  | {
      readonly type: "bump";
      readonly id: RequestId;
      /** A number, or the name of a class. */
      readonly priority: number | string;
      readonly reason: Reason;
    }
  | { readonly type: "renew"; readonly id: RequestId }
  | {
      readonly type: "release";
      readonly id: RequestId;
      readonly claim?: ClaimId;
      /** Overrides the pool's `onRelease`. */
      readonly state?: string;
      /** The caller may be no worker: unless the lease is one of upkeep, not every state is allowed. */
      readonly asHolder?: true;
      /** The cleaning failed. The broker retries it later, or quarantines the resource. */
      readonly failure?: string;
      /** Whether the provider throttled the holder, for pools with an adaptive rate. */
      readonly outcome?: Report;
    }
  /** Releases the lease, or its claims in one pool, and queues the same ask again. */
  | {
      readonly type: "refresh";
      readonly id: RequestId;
      readonly next: RequestId;
      readonly key?: string;
      readonly pool?: PoolName;
      readonly waitMs: number;
    }
  | ({ readonly type: "signal"; readonly id: RequestId; readonly pool?: PoolName } & Report)
  /** An operator pins a pool's starts per minute; null removes the pin. */
  | {
      readonly type: "pin";
      readonly pool: PoolName;
      readonly rate: number | null;
      readonly reason: Reason;
    }
  /** An external check found room for `grants` more claims, for the next `forMs`. */
  | {
      readonly type: "admit";
      readonly pool: PoolName;
      readonly grants: number;
      readonly forMs: number;
    }
  /** The check found no room, or failed. `why` is its message. */
  | { readonly type: "withhold"; readonly pool: PoolName; readonly why: string }
  | HeldCommand
  | ClusterCommand
  | HubCommand
  /** A decision failed. The request leaves or, without one, the pools are suspended. */
  | {
      readonly type: "set-aside";
      readonly request?: RequestId;
      readonly pools: readonly PoolName[];
      readonly why: string;
    }
  /** An operator ends a lease. */
  | {
      readonly type: "revoke";
      readonly id: RequestId;
      readonly reason: Reason;
      /** The operator has made sure that the holder has stopped. */
      readonly holderGone?: true;
    }
  | {
      readonly type: "change-resource";
      readonly resource: ResourceName;
      readonly change: ResourceChange;
      readonly reason: Reason;
    }
  /** Handles all due deadlines. */
  | { readonly type: "tick" }
  /**
   * The server could not receive heartbeats for some time. Every holder and every waiting request gets a
   * full ttl; with `pausedMs`, only those for which such a pause is long (`pausePerTtlMax`).
   */
  | { readonly type: "give-grace"; readonly pausedMs?: number };

/** Commands about clusters: of the worker that makes them, of holders and of operators. */
export type ClusterCommand =
  /** The worker tells what it has found out about the cluster that its lease `id` holds. */
  | {
      readonly type: "cluster-report";
      readonly id: RequestId;
      readonly resource: ResourceName;
      readonly report: ClusterReport;
    }
  /** A cluster that no worker holds is gone or has failed outside. `instance` must be the same. */
  | {
      readonly type: "cluster-lost";
      readonly resource: ResourceName;
      readonly instance: string;
      readonly why: string;
    }
  /** The holder wants another cluster in place of the one of this claim, in the same lease. */
  | { readonly type: "cluster-replace"; readonly id: RequestId; readonly claim: ClaimId }
  /** Keeps a cluster for debugging: it is not lent again, and not destroyed until then. */
  | {
      readonly type: "cluster-hold";
      readonly resource: ResourceName;
      readonly forMs: number;
      readonly reason: Reason;
    }
  | { readonly type: "cluster-unhold"; readonly resource: ResourceName; readonly reason: Reason }
  | { readonly type: "cluster-destroy"; readonly resource: ResourceName; readonly reason: Reason }
  /** Removes it from the books without its destruction. */
  | { readonly type: "cluster-abandon"; readonly resource: ResourceName; readonly reason: Reason }
  /** Adds a cluster that exists outside. A worker checks it before it is lent. */
  | {
      readonly type: "cluster-adopt";
      readonly pool: PoolName;
      readonly resource: ResourceName;
      readonly instance: string;
      readonly handle?: string;
      readonly hub?: string;
      /** Absent: those of the clusters that the pool keeps. */
      readonly parameters?: Parameters;
      /** Absent: unknown, so the cluster is replaced when the plan allows. */
      readonly revision?: string;
      readonly reason: Reason;
    }
  /** What a search has found outside, all of this scope. Those that are not in the books are orphans. */
  | (SearchScope & { readonly type: "clusters-found"; readonly found: readonly FoundCluster[] });

/** Commands about hubs: of operators, and of the worker that probes them. */
export type HubCommand =
  | {
      readonly type: "hub-set";
      readonly hub: string;
      readonly state: HubState;
      readonly reason: Reason;
    }
  /** What a probe has found. With `error` the hub cannot be reached, and the findings stay. */
  | ({
      readonly type: "hub-probed";
      readonly hub: string;
      readonly error?: string;
    } & HubFindings);

/** Commands of a holder that has no token, only a name. Workers may use any word as a state. */
export type HeldCommand =
  /** Takes the named resources, all or none. One lease each, with the given ids. */
  | {
      readonly type: "take";
      readonly holder: string;
      readonly space?: SpaceName;
      readonly resources: readonly ResourceName[];
      readonly ids: readonly RequestId[];
      readonly state: string;
      readonly into: string;
    }
  | {
      readonly type: "renew-held";
      readonly holder: string;
      /** The space of the caller. Leases of another space are not changed. */
      readonly space?: SpaceName;
      readonly resource: ResourceName;
      /** The state in which the holder believes the resource is. */
      readonly state: string;
      readonly userData?: Readonly<Record<string, string | null>>;
      /**
       * The lease that the holder means, if it sends one. Another lease of the same holder is not
       * changed.
       */
      readonly lease?: RequestId;
    }
  | {
      readonly type: "release-held";
      readonly holder: string;
      /** The space of the caller. Leases of another space are not changed. */
      readonly space?: SpaceName;
      readonly resource: ResourceName;
      readonly lease?: RequestId;
      readonly state: string;
      /** The caller is no worker, so not every state is allowed. */
      readonly asHolder?: true;
    }
  /** Ends the leases in this state whose holders sent nothing for `silentMs`. */
  | {
      readonly type: "reset";
      readonly pool: PoolName;
      readonly state: string;
      readonly silentMs: number;
      readonly to: string;
    }
  /** Imports resources of another broker, longest idle first. */
  | { readonly type: "import"; readonly resources: readonly ImportedResource[] };

export interface ImportedResource {
  readonly name: ResourceName;
  readonly pool: PoolName;
  readonly state: string;
  /** Empty if it is not held. */
  readonly holder: string;
  /** The id for the lease, if it is held. */
  readonly id: RequestId;
  readonly userData: Readonly<Record<string, string>>;
  /** When the other broker last changed it, if known. */
  readonly updatedAt?: Instant;
  readonly expiresAt?: Instant;
}

/** `cancelled` by the client, or `disconnected` by a client without a key to return with. */
export type LeaveReason = "cancelled" | "disconnected";
