import type { Placing } from "../shared/placement/demand.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "./ids.ts";
import type { PoolSpec } from "./policy.ts";
import type { Instant } from "./time.ts";

export interface Item extends Placing {
  readonly pool: PoolName;
  /** Any of these will do as well, should the first have none now; the earlier the better. */
  readonly anyOf?: readonly PoolName[];
  readonly count: number;
  /** Resources in this state. Default: `free`. A cleaner asks for dirty ones. */
  readonly state?: string;
  /** Their state while they are held. Default: `busy`. */
  readonly into?: string;
}

export interface Group {
  /** Its leases may share parts, such as networks. */
  readonly name: string;
  /** How many requests are granted at one moment, or not at all. 1: each on its own. */
  readonly size: number;
}

/** What a client asks for: every item, or nothing. */
export interface Ask {
  readonly holder: string;
  readonly items: readonly Item[];
  /** Chosen by the client and repeated when it retries: one key never gets two leases. */
  readonly key?: string;
  /** Null: the timeout of the pool for holders without a token, which may be never. */
  readonly ttlMs?: number | null;
  readonly lifetimeMs?: number;
  /** Higher goes first. Default: 0. */
  readonly priority?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * It asks again and again instead of listening. It counts as present for so long after each time;
   * what it is lent in between waits for it that long. Its key may serve again once it is used up.
   */
  readonly presenceMs?: number;
  /** Those who belong together. */
  readonly group?: Group;
  /** The lease has no token: commands name the holder and the resource instead. */
  readonly byName?: true;
}

export interface ResourceChange {
  /** Only for a resource that nobody holds: brings a quarantined one back, or takes it out. */
  readonly state?: string;
  /** Kept with the state and shown to people: why it was quarantined, what its cleaner said. */
  readonly note?: string;
  /** True: not lent again until undrained. Its holder keeps it. */
  readonly drained?: boolean;
  /** Merged; a `null` value removes the key. */
  readonly labels?: Readonly<Record<string, string | null>>;
  /** Merged like labels. May hold credentials, so only a holder is shown it. */
  readonly userData?: Readonly<Record<string, string | null>>;
}

/** What a holder reports of its provider. */
export interface Report {
  readonly throttled: boolean;
  /** What the provider said, for people to judge. */
  readonly evidence?: string;
}

/** Who did it and why, for actions that are taken on behalf of others. */
export interface Reason {
  readonly by: string;
  readonly why: string;
}

/** Everything that can be asked of the core. Imperative; the shell adds the time. */
export type Command =
  | { readonly type: "configure"; readonly pools: readonly PoolSpec[] }
  | {
      readonly type: "acquire";
      readonly id: RequestId;
      readonly ask: Ask;
      /** How long the asker listens on an open connection: it counts as present that long. */
      readonly waitMs: number;
      /** True: now, behind everybody who waits, or not at all. */
      readonly nowOnly?: true;
    }
  /** The reply with a lease did not reach its client. */
  | {
      readonly type: "not-delivered";
      readonly id: RequestId;
      /** The number of that reply; a later reply may have arrived. */
      readonly repliesSent: number;
    }
  | { readonly type: "keep-waiting"; readonly id: RequestId; readonly waitMs: number }
  | {
      readonly type: "leave";
      readonly id: RequestId;
      readonly why: LeaveReason;
      /** An operator takes it out. */
      readonly reason?: Reason;
    }
  | { readonly type: "renew"; readonly id: RequestId }
  | {
      readonly type: "release";
      readonly id: RequestId;
      readonly claim?: ClaimId;
      /** Instead of the pool's `onRelease`. */
      readonly state?: string;
      /** It was to be cleaned and this went wrong: it is tried again later, or quarantined. */
      readonly failure?: string;
      /** Whether its provider throttled it, for pools with an adaptive rate. */
      readonly outcome?: Report;
    }
  /** Gives all of it back, or what it has of one pool, and asks for the same again. */
  | {
      readonly type: "refresh";
      readonly id: RequestId;
      readonly next: RequestId;
      readonly key?: string;
      readonly pool?: PoolName;
      readonly waitMs: number;
    }
  | ({ readonly type: "signal"; readonly id: RequestId; readonly pool?: PoolName } & Report)
  /** An operator sets a pool's starts per minute; null: it finds its own again. */
  | {
      readonly type: "pin";
      readonly pool: PoolName;
      readonly rate: number | null;
      readonly reason: Reason;
    }
  /** A check outside found room for `grants` more claims, for the next `forMs`. */
  | {
      readonly type: "admit";
      readonly pool: PoolName;
      readonly grants: number;
      readonly forMs: number;
    }
  /** The check found no room, or failed: why, in words. */
  | { readonly type: "withhold"; readonly pool: PoolName; readonly why: string }
  | HeldCommand
  /** An operator ends a lease. */
  /** A decision failed: the request leaves, or, without one, the pools are suspended. */
  | {
      readonly type: "set-aside";
      readonly request?: RequestId;
      readonly pools: readonly PoolName[];
      readonly why: string;
    }
  | {
      readonly type: "revoke";
      readonly id: RequestId;
      readonly reason: Reason;
      /** The operator has made sure that the holder does not work any more. */
      readonly holderGone?: true;
    }
  | {
      readonly type: "change-resource";
      readonly resource: ResourceName;
      readonly change: ResourceChange;
      readonly reason: Reason;
    }
  /** Does all that is due. */
  | { readonly type: "tick" }
  /** The shell could not listen for a while: nobody shall lose anything for that. */
  | { readonly type: "give-grace" };

/**
 * On behalf of a holder that is known by name, on what it holds. States are whatever people make
 * of them here.
 */
export type HeldCommand =
  /** Takes these very resources, all of them or none. One lease each, with the ids given. */
  | {
      readonly type: "take";
      readonly holder: string;
      readonly resources: readonly ResourceName[];
      readonly ids: readonly RequestId[];
      readonly state: string;
      readonly into: string;
    }
  | {
      readonly type: "renew-held";
      readonly holder: string;
      readonly resource: ResourceName;
      /** What the holder believes that it is in. */
      readonly state: string;
      readonly userData?: Readonly<Record<string, string | null>>;
      /** Which lease it means, if it says so: another of the same holder's is not touched. */
      readonly lease?: RequestId;
    }
  | {
      readonly type: "release-held";
      readonly holder: string;
      readonly resource: ResourceName;
      readonly lease?: RequestId;
      readonly state: string;
    }
  /** Takes back what is held in this state by holders not heard of for `silentMs`. */
  | {
      readonly type: "reset";
      readonly pool: PoolName;
      readonly state: string;
      readonly silentMs: number;
      readonly to: string;
    }
  /** Carries over what another broker had lent, longest untouched first. */
  | { readonly type: "import"; readonly resources: readonly ImportedResource[] };

export interface ImportedResource {
  readonly name: ResourceName;
  readonly pool: PoolName;
  readonly state: string;
  /** Empty: nobody's. */
  readonly holder: string;
  /** For the lease, if it is held. */
  readonly id: RequestId;
  readonly userData: Readonly<Record<string, string>>;
  /** When the other broker last touched it, if that is known. */
  readonly updatedAt?: Instant;
  readonly expiresAt?: Instant;
}

/** `cancelled` by the asker, `disconnected` without a key to come back with. */
export type LeaveReason = "cancelled" | "disconnected";
