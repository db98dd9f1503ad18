import type { Amounts, CapacitySpec } from "../shared/placement/shareable.ts";
import type { Ask, Reason } from "./command.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "./ids.ts";
import type { PoolPolicy } from "./policy.ts";
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
  /** It is there; the pace does not allow the next grant yet. */
  | "paced"
  /** The same, and reports of throttling have made the pace slower. */
  | "limit_reduced"
  /** It is there; the check outside has not given credits. */
  | "admission"
  /** It is there; a limit that its pool shares is used up. */
  | "limit_reached"
  /** A decision on the pool failed. */
  | "suspended";

/** Where a resource goes that is given back. */
export interface Return {
  readonly resource: ResourceName;
  readonly state: string;
  /** Absent: at once. Otherwise it rests until then, in the state `cooling`. */
  readonly restsUntil?: Instant;
  /** When it is deleted unless it is lent by then; null: never. Absent: as before. */
  readonly expiresAt?: Instant | null;
  /** How often in a row its cleaning has failed. Absent: as before. */
  readonly failures?: number;
  readonly note?: string;
}

export interface GrantedClaim {
  readonly id: ClaimId;
  readonly resource: ResourceName;
  /** Larger than that of every earlier grant, of this resource and of any other. */
  readonly fence: number;
  readonly heldUntil?: Instant;
  /** What it is in while it is held. Absent: `busy`. */
  readonly into?: string;
  /** Of a resource that others share. */
  readonly amount?: Amounts;
  /** By kind, the parts that came with it. */
  readonly parts?: Readonly<Record<string, readonly string[]>>;
}

/** What is kept on one resource for a request that has run out of patience. */
export interface KeptRoom {
  readonly resource: ResourceName;
  readonly amount: Amounts;
  /** The last fence given out by then. */
  readonly since: number;
  readonly parts?: Readonly<Record<string, readonly string[]>>;
}

/** Where a resource is listed now. */
export interface Move {
  readonly pool: PoolName;
  readonly labels?: Readonly<Record<string, string>>;
  readonly room?: CapacitySpec;
}

/** How a grant moved a pool's pace on. */
export interface Paced {
  readonly pool: PoolName;
  readonly baseAt: Instant;
  readonly ticks: number;
  readonly everyMs: number;
  /** Absent: 0. */
  readonly share?: number;
}

/** How many credits of a pool a grant used up. */
export interface Admitted {
  readonly pool: PoolName;
  readonly count: number;
}

/** Why a pool's start rate changed. */
export interface RateCause {
  readonly how: "throttled" | "clean" | "pinned" | "unpinned" | "configured";
  /** Whose report it was, or the operator. */
  readonly lease?: RequestId;
  readonly by?: string;
  /** The evidence that came with the report, or the operator's reason. */
  readonly why?: string;
}

export type RequestEnd =
  | "cancelled"
  | "disconnected"
  /** Not heard from for its ttl while it waited. */
  | "abandoned"
  /** The new configuration can never satisfy it. */
  | "unsatisfiable"
  /** The decision on it failed: an error of the broker. */
  | "undecidable";

export type LeaseEnd =
  | "released"
  | "expired"
  | "lifetime"
  | "revoked"
  /** The client that asked never collected it. */
  | "uncollected"
  /** Taken back by a reaper outside (Boskos's reset). */
  | "reset";

/**
 * Everything that can have happened: the journal's vocabulary. State is a fold over these.
 *
 * An event says what became true, never which rule made it so: a grant names its resources and a
 * release the state that each goes to. So an old journal replays to the same state under new rules.
 */
export type DurableEvent =
  | { readonly type: "pool-defined"; readonly pool: PoolName; readonly policy: PoolPolicy }
  /** Gone from the configuration; resources that are still held keep it alive. */
  | { readonly type: "pool-retired"; readonly pool: PoolName }
  | { readonly type: "pool-removed"; readonly pool: PoolName }
  /** A decision on it failed, so nothing of it is lent until it is tried again. */
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
      /** Starts per minute from now on; null: it is not paced any more. */
      readonly rate: number | null;
      readonly cause: RateCause;
      /** It is what the pool would do; it does not. */
      readonly advised?: true;
    }
  /** A check outside found room for so many more. */
  | {
      readonly type: "pool-admitted";
      readonly pool: PoolName;
      readonly grants: number;
      readonly until: Instant;
    }
  /** It found none, or failed. */
  | { readonly type: "pool-withheld"; readonly pool: PoolName; readonly why: string }
  | {
      readonly type: "resource-added";
      readonly pool: PoolName;
      readonly resource: ResourceName;
      readonly labels?: Readonly<Record<string, string>>;
      /** Absent: `free`. */
      readonly state?: string;
      /** Made because it was needed, not because it is listed. */
      readonly dynamic?: true;
      /** It is lent by amount. */
      readonly room?: CapacitySpec;
    }
  /** The configuration gives it other capacity, taints or parts. Its holders keep what they have. */
  | {
      readonly type: "resource-resized";
      readonly resource: ResourceName;
      readonly room: CapacitySpec;
    }
  /** Listed from now on, or (dynamic) one of those that come and go. */
  | {
      readonly type: "resource-adopted";
      readonly resource: ResourceName;
      readonly dynamic: boolean;
    }
  /** Gone from its pool's configuration while held; it goes once it is given back. */
  | {
      readonly type: "resource-retired";
      readonly resource: ResourceName;
      /** The pool that lists it now, if it was moved. */
      readonly movesTo?: Move;
    }
  | { readonly type: "resource-kept"; readonly resource: ResourceName }
  /** Listed in another pool now. It stays as it is: dirty, resting, drained, with its user data. */
  | ({
      readonly type: "resource-moved";
      readonly resource: ResourceName;
    } & Move)
  | { readonly type: "resource-removed"; readonly resource: ResourceName }
  /** The configuration gives it other labels; those that an operator had set are gone. */
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
      readonly userData?: Readonly<Record<string, string>>;
      readonly expiresAt?: Instant;
      readonly reason?: Reason;
    }
  | { readonly type: "resource-rested"; readonly resource: ResourceName; readonly state: string }
  | { readonly type: "request-queued"; readonly id: RequestId; readonly ask: ResolvedAsk }
  | {
      readonly type: "request-left";
      readonly id: RequestId;
      readonly why: RequestEnd;
      readonly reason?: Reason;
    }
  /** A starved request gets these reservations. None: nothing could be reserved. */
  | { readonly type: "room-kept"; readonly id: RequestId; readonly rooms: readonly KeptRoom[] }
  | {
      readonly type: "lease-granted";
      readonly id: RequestId;
      /** Present when it was granted at once; for a request that waited see `request-queued`. */
      readonly ask?: ResolvedAsk;
      readonly claims: readonly GrantedClaim[];
      /** What it waited for last. For history: no rule depends on it. */
      readonly waitedFor?: WaitCode;
      readonly endsAt?: Instant;
      /** No client was connected to receive it. */
      readonly undelivered?: true;
      /** Of the pools that have a pace, where it stands now. */
      readonly paced?: readonly Paced[];
      /** The credits that it used up, by pool. */
      readonly admitted?: readonly Admitted[];
    }
  /** The reply with the lease is being sent; or it did not arrive. */
  | { readonly type: "lease-delivered"; readonly id: RequestId; readonly delivered: boolean }
  | {
      readonly type: "claim-ended";
      readonly id: RequestId;
      readonly claim: ClaimId;
      readonly why: "released" | "hold";
      readonly back: Return;
    }
  /**
   * An operator takes the lease back while its holder may still be at work. The resources stay with
   * it until the holder confirms, or until it cannot believe any more that it holds them.
   */
  | {
      readonly type: "lease-revoked";
      readonly id: RequestId;
      /** The last heartbeat and the ttl. */
      readonly heldUntil: Instant;
      readonly reason: Reason;
    }
  | {
      readonly type: "lease-ended";
      readonly id: RequestId;
      readonly why: LeaseEnd;
      readonly back: readonly Return[];
      readonly reason?: Reason;
    };

/**
 * Signs of life. They change the state but not the journal: after a restart everybody is given one
 * full ttl, so losing them costs nobody anything, and a heartbeat costs no disk.
 */
export type VolatileEvent =
  | { readonly type: "lease-renewed"; readonly id: RequestId }
  | { readonly type: "request-seen"; readonly id: RequestId; readonly waitMs: number }
  | { readonly type: "grace-given" }
  /** A client lacked credits of a pool and did not wait. It counts as demand until then. */
  | {
      readonly type: "demand-unmet";
      readonly pool: PoolName;
      readonly count: number;
      readonly until: Instant;
    }
  /** The earliest deadline belongs to a suspended pool: it counts at this time instead. */
  | { readonly type: "deadline-postponed"; readonly until: Instant }
  /** What was due for the pool itself has been seen to. */
  | { readonly type: "pool-attended"; readonly pool: PoolName };

export type BrokerEvent = DurableEvent | VolatileEvent;
export type EventOf<Type extends BrokerEvent["type"]> = Extract<BrokerEvent, { type: Type }>;

/** An ask whose ttl has been settled, so that replay does not depend on the pool's policy. */
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
