import type { Amounts, CapacitySpec } from "../shared/placement/shareable.ts";
import type { ClusterBirth, ClusterHold, ClusterReport, Wanted } from "./cluster.ts";
import type { Ask, Reason } from "./command.ts";
import type { HubFindings, HubSpec, HubState } from "./hub.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "./ids.ts";
import type { Origin } from "./origin.ts";
import type { FoundCluster, SearchScope } from "./orphan.ts";
import type { PoolPolicy } from "./policy.ts";
import type { PrioritiesSpec } from "./priority.ts";
import type { SpacesSpec } from "./space.ts";
import type { Instant } from "./time.ts";

/** What a request waits for. */
export type WaitCode =
  | "no_free"
  | "behind_others"
  | "kept_for_others"
  | "not_enough_free"
  | "no_room"
  | "group_incomplete"
  | "none_usable"
  /** Resources are free, but the pace does not allow the next grant yet. */
  | "paced"
  /** The same, and reports of throttling have made the pace slower. */
  | "limit_reduced"
  /** Resources are free, but the external check has given no credits. */
  | "admission"
  /** Resources are free, but a limit that the pool shares is used up. */
  | "limit_reached"
  /** Resources are free, but the space of the request holds as much as its quota allows. */
  | "quota_reached"
  /** A cluster is being made, or woken, for the request. */
  | "cluster_creating"
  | "cluster_resuming"
  /** No cluster can be made for the request now: a limit is reached. */
  | "cluster_limit"
  /** A decision on the pool failed. */
  | "suspended";

/** The state of a resource after its release. */
export interface Return {
  readonly resource: ResourceName;
  readonly state: string;
  /** The end of its time in the state `cooling`. Absent: no cooldown. */
  readonly restsUntil?: Instant;
  /** When it is deleted unless it is lent before; null: never. Absent: unchanged. */
  readonly expiresAt?: Instant | null;
  /** The number of failed cleanings in a row. Absent: unchanged. */
  readonly failures?: number;
  readonly note?: string;
  /** Only for a cluster: nobody has used it, so no space is charged for it any longer. */
  readonly unused?: true;
}

export interface GrantedClaim {
  readonly id: ClaimId;
  readonly resource: ResourceName;
  /** Larger than the fence of every earlier grant, of any resource. */
  readonly fence: number;
  readonly heldUntil?: Instant;
  /** The state while it is held. Absent: `busy`. */
  readonly into?: string;
  /** Held by a worker that makes or destroys the cluster. Absent: see `purposeOf`. */
  readonly purpose?: "provision";
  /** The end of the phase that the worker begins. Absent: it continues a phase. */
  readonly deadlineAt?: Instant;
  /** Only for shared resources. */
  readonly amount?: Amounts;
  /** The parts that the claim has, by kind. */
  readonly parts?: Readonly<Record<string, readonly string[]>>;
}

/** The reservation on one resource for an impatient request. */
export interface KeptRoom {
  readonly resource: ResourceName;
  readonly amount: Amounts;
  /** The last fence at the time of the reservation. */
  readonly since: number;
  readonly parts?: Readonly<Record<string, readonly string[]>>;
}

/** The pool that lists a resource now. */
export interface Move {
  readonly pool: PoolName;
  readonly labels?: Readonly<Record<string, string>>;
  readonly room?: CapacitySpec;
}

/** The state of a pool's pace after a grant. */
export interface Paced {
  readonly pool: PoolName;
  readonly baseAt: Instant;
  readonly ticks: number;
  readonly everyMs: number;
  /** Absent: 0. */
  readonly share?: number;
}

/** The number of credits that a grant used. */
export interface Admitted {
  readonly pool: PoolName;
  readonly count: number;
}

/** Why a pool's start rate changed. */
export interface RateCause {
  readonly how: "throttled" | "clean" | "pinned" | "unpinned" | "configured";
  /** The lease that sent the report, or the operator. */
  readonly lease?: RequestId;
  readonly by?: string;
  /** The evidence that came with the report, or the operator's reason. */
  readonly why?: string;
}

export type RequestEnd =
  | "cancelled"
  | "disconnected"
  /** The client sent nothing for its ttl while it waited. */
  | "abandoned"
  /** The new configuration can never satisfy it. */
  | "unsatisfiable"
  /** The decision on the request failed, because of a bug in the broker. */
  | "undecidable";

export type LeaseEnd =
  | "released"
  | "expired"
  | "lifetime"
  | "revoked"
  /** The client never received the lease. */
  | "uncollected"
  /** Ended by an external reaper (Boskos's reset). */
  | "reset";

/**
 * All events of the journal. The state is a fold over them.
 *
 * An event records the result, never the rule that led to it: a grant names its resources, and a
 * release names the new state of each. So an old journal replays to the same state under new rules.
 */
export type DurableEvent = RecordedEvent & {
  /** Who caused it. The broker adds this to the events of a command, but not to what follows. */
  readonly from?: Origin;
};

type RecordedEvent =
  | { readonly type: "pool-defined"; readonly pool: PoolName; readonly policy: PoolPolicy }
  /** The pool is no longer in the configuration. It stays until its held resources are released. */
  | { readonly type: "pool-retired"; readonly pool: PoolName }
  | { readonly type: "pool-removed"; readonly pool: PoolName }
  /** A decision on the pool failed, so it lends nothing until it is tried again. */
  | { readonly type: "pool-suspended"; readonly pool: PoolName; readonly why: string }
  | { readonly type: "pool-resumed"; readonly pool: PoolName }
  /** A holder reports whether its provider throttled it. */
  | {
      readonly type: "pool-signalled";
      readonly pool: PoolName;
      readonly id: RequestId;
      readonly throttled: boolean;
      readonly evidence?: string;
    }
  | {
      readonly type: "rate-changed";
      readonly pool: PoolName;
      /** Starts per minute from now on; null: no longer paced. */
      readonly rate: number | null;
      readonly cause: RateCause;
      /** The pool only advises this rate and does not use it. */
      readonly advised?: true;
    }
  /** An external check allows this many more claims. */
  | {
      readonly type: "pool-admitted";
      readonly pool: PoolName;
      readonly grants: number;
      readonly until: Instant;
    }
  /** The external check found no room, or failed. */
  | { readonly type: "pool-withheld"; readonly pool: PoolName; readonly why: string }
  | {
      readonly type: "resource-added";
      readonly pool: PoolName;
      readonly resource: ResourceName;
      readonly labels?: Readonly<Record<string, string>>;
      /** Absent: `free`. */
      readonly state?: string;
      /** Made on demand, not listed in the configuration. */
      readonly dynamic?: true;
      /** Only for shared resources. */
      readonly room?: CapacitySpec;
      /** Only for clusters. */
      readonly cluster?: ClusterBirth;
      /** Why the plan makes it, in words, or who has adopted it. */
      readonly why?: string;
      readonly reason?: Reason;
    }
  | ClusterEvent
  | HubEvent
  /** The configuration has changed its capacity, taints or parts. Holders keep their amounts. */
  | {
      readonly type: "resource-resized";
      readonly resource: ResourceName;
      readonly room: CapacitySpec;
    }
  /** The resource is listed from now on or, with `dynamic`, no longer listed but dynamic. */
  | {
      readonly type: "resource-adopted";
      readonly resource: ResourceName;
      readonly dynamic: boolean;
    }
  /** No longer in its pool's configuration while held. It leaves when it is released. */
  | {
      readonly type: "resource-retired";
      readonly resource: ResourceName;
      /** The pool that lists it now, if it was moved. */
      readonly movesTo?: Move;
    }
  | { readonly type: "resource-kept"; readonly resource: ResourceName }
  /**
   * Another pool lists it now. The resource keeps its state, cooldown, drain mark and user data.
   */
  | ({
      readonly type: "resource-moved";
      readonly resource: ResourceName;
    } & Move)
  | { readonly type: "resource-removed"; readonly resource: ResourceName }
  /** The configuration has changed its labels. Labels that an operator had set are removed. */
  | {
      readonly type: "resource-relabelled";
      readonly resource: ResourceName;
      readonly labels: Readonly<Record<string, string>>;
    }
  | {
      readonly type: "resource-changed";
      readonly resource: ResourceName;
      readonly state?: string;
      readonly note?: string;
      readonly drained?: boolean;
      readonly labels?: Readonly<Record<string, string>>;
      /** All of its user data, as configured or imported. Older versions wrote every change so. */
      readonly userData?: Readonly<Record<string, string>>;
      /** Only the entries that change; null removes one. */
      readonly userDataChanges?: Readonly<Record<string, string | null>>;
      readonly expiresAt?: Instant;
      readonly reason?: Reason;
    }
  | { readonly type: "resource-rested"; readonly resource: ResourceName; readonly state: string }
  /** The configuration of all spaces. */
  | ({ readonly type: "spaces-defined" } & SpacesSpec)
  /** The names of priorities, and how priorities rise. */
  | ({ readonly type: "priorities-defined" } & PrioritiesSpec)
  | { readonly type: "request-queued"; readonly id: RequestId; readonly ask: ResolvedAsk }
  | {
      readonly type: "request-left";
      readonly id: RequestId;
      readonly why: RequestEnd;
      readonly reason?: Reason;
    }
  /**
   * A waiting request has another rank: it has waited long, its space is starved, or an operator
   * changed its priority.
   */
  | {
      readonly type: "priority-changed";
      readonly id: RequestId;
      readonly priority: number;
      /** By waiting. Absent: an operator set it. */
      readonly aged?: true;
      /**
       * With `aged`: the priority is the same. Its space has got nothing of a pool for too long, so
       * the request goes first within its priority.
       */
      readonly starved?: true;
      /** With `starved`: the pool of which its space got nothing. */
      readonly pool?: PoolName;
      readonly reason?: Reason;
    }
  /** The reservations of an impatient request. Empty if nothing could be reserved. */
  | { readonly type: "room-kept"; readonly id: RequestId; readonly rooms: readonly KeptRoom[] }
  | {
      readonly type: "lease-granted";
      readonly id: RequestId;
      /** Only if it was granted at once. For a request that waited, see `request-queued`. */
      readonly ask?: ResolvedAsk;
      readonly claims: readonly GrantedClaim[];
      /** The last wait code. Only for the history: no rule depends on it. */
      readonly waitedFor?: WaitCode;
      readonly endsAt?: Instant;
      /** The client polls, and has not received the lease yet. */
      readonly undelivered?: true;
      /** The new state of each pace that the grant used. */
      readonly paced?: readonly Paced[];
      /** The credits that the grant used, by pool. */
      readonly admitted?: readonly Admitted[];
    }
  /** The reply with the lease is being sent; or, with false, it did not arrive. */
  | { readonly type: "lease-delivered"; readonly id: RequestId; readonly delivered: boolean }
  | {
      readonly type: "claim-ended";
      readonly id: RequestId;
      readonly claim: ClaimId;
      readonly why: "released" | "hold" | "replaced";
      readonly back: Return;
    }
  /**
   * An operator revokes the lease while its holder may still be at work. The holder keeps the
   * resources until it confirms, or until its ttl is over.
   */
  | {
      readonly type: "lease-revoked";
      readonly id: RequestId;
      /** The time of the last heartbeat plus the ttl. */
      readonly heldUntil: Instant;
      readonly reason: Reason;
    }
  /** The pool takes the lease back for a waiting request. It is revoked at that time. */
  | {
      readonly type: "notice-given";
      readonly id: RequestId;
      readonly endsBy: Instant;
      readonly reason: Reason;
    }
  | {
      readonly type: "lease-ended";
      readonly id: RequestId;
      readonly why: LeaseEnd;
      readonly back: readonly Return[];
      readonly reason?: Reason;
    }
  /** Replaces an event that could not be applied, so that the numbers of all others stay. */
  | { readonly type: "event-skipped"; readonly was: string; readonly why: string };

/** What happens to clusters, besides what happens to every resource. */
export type ClusterEvent =
  /** The cluster is in another state now, and has work for a worker or waits. */
  | {
      readonly type: "cluster-moved";
      readonly resource: ResourceName;
      readonly state: string;
      readonly wanted: Wanted;
      readonly why: string;
      readonly reason?: Reason;
    }
  /** The plan wants something else of a cluster that a worker holds. */
  | {
      readonly type: "cluster-wanted";
      readonly resource: ResourceName;
      readonly wanted: Wanted;
      readonly why: string;
      readonly reason?: Reason;
    }
  /** What a worker has found out. Only what has changed. */
  | ({ readonly type: "cluster-reported"; readonly resource: ResourceName } & ClusterReport)
  /** Its destruction takes too long. It is tried again and again. */
  | { readonly type: "cluster-stuck"; readonly resource: ResourceName }
  /** Its holder has lost it: the cluster is gone or has failed outside. */
  | { readonly type: "cluster-lost"; readonly resource: ResourceName; readonly why: string }
  /** An operator keeps it for debugging or, with null, no longer does. */
  | {
      readonly type: "cluster-held";
      readonly resource: ResourceName;
      readonly hold: ClusterHold | null;
      readonly reason?: Reason;
    }
  /** The lease has another cluster for this claim: `request` has waited for it. */
  | {
      readonly type: "claim-replaced";
      readonly id: RequestId;
      readonly request: RequestId;
      readonly granted: GrantedClaim;
      readonly waitedFor?: WaitCode;
    }
  /** An operator has removed it from the books. Whatever still exists outside is a leak. */
  | {
      readonly type: "cluster-abandoned";
      readonly resource: ResourceName;
      readonly pool: PoolName;
      readonly instance: string;
      readonly handle?: string;
      readonly reason: Reason;
    }
  /** A search has found a cluster outside that is not in the books. */
  | ({ readonly type: "orphan-found" } & FoundCluster & SearchScope)
  /** It does not exist any longer, or it is in the books now. */
  | { readonly type: "orphan-gone"; readonly instance: string };

/** What happens to hubs. */
export type HubEvent =
  | ({ readonly type: "hub-defined" } & HubSpec)
  /** It is no longer in the configuration, and stays while it has clusters. */
  | { readonly type: "hub-retired"; readonly name: string }
  /** An operator has set it. */
  | {
      readonly type: "hub-set";
      readonly name: string;
      readonly state: HubState;
      readonly reason: Reason;
    }
  /** What a probe has found out. Only what has changed; with `error` it cannot be reached. */
  | ({
      readonly type: "hub-probed";
      readonly name: string;
      /** Null: it answers again. Absent: no change. */
      readonly error?: string | null;
    } & HubFindings);

/**
 * Events that change the state but are not in the journal. After a restart, every holder and client
 * gets one full ttl, so nobody loses anything, and a heartbeat needs no disk write.
 */
export type VolatileEvent =
  | { readonly type: "lease-renewed"; readonly id: RequestId }
  | { readonly type: "request-seen"; readonly id: RequestId; readonly waitMs: number }
  | { readonly type: "grace-given"; readonly pausedMs?: number }
  /** A client lacked credits of a pool and did not wait. Its demand counts until this time. */
  | {
      readonly type: "demand-unmet";
      readonly pool: PoolName;
      readonly count: number;
      readonly until: Instant;
    }
  /** The earliest deadline belongs to a suspended pool, and is postponed to this time. */
  | { readonly type: "deadline-postponed"; readonly until: Instant }
  /** The pool's own deadline was handled. */
  | { readonly type: "pool-attended"; readonly pool: PoolName };

export type BrokerEvent = DurableEvent | VolatileEvent;
export type EventOf<Type extends BrokerEvent["type"]> = Extract<BrokerEvent, { type: Type }>;

/** An ask with a fixed ttl, so that replay does not depend on the pool's policy. */
export type ResolvedAsk = Ask & { readonly ttlMs: number | null };

export function isDurable(event: BrokerEvent): event is DurableEvent {
  switch (event.type) {
    case "lease-renewed":
    case "request-seen":
    case "grace-given":
    case "demand-unmet":
    case "pool-attended":
    case "deadline-postponed":
      return false;
    default:
      return true;
  }
}
