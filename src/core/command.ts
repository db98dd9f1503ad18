import type { ClaimId, PoolName, RequestId, ResourceName } from "./ids.ts";
import type { PoolSpec } from "./policy.ts";

export interface Item {
  readonly pool: PoolName;
  readonly count: number;
}

/** What somebody asks for: every item, or nothing. */
export interface Ask {
  readonly holder: string;
  readonly items: readonly Item[];
  /** Chosen by the client and repeated when it retries: one key never gets two leases. */
  readonly key?: string;
  readonly ttlMs?: number;
  readonly lifetimeMs?: number;
  /** Higher goes first; 0 unless told otherwise. */
  readonly priority?: number;
  readonly labels?: Readonly<Record<string, string>>;
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
    }
  | { readonly type: "keep-waiting"; readonly id: RequestId; readonly waitMs: number }
  | { readonly type: "leave"; readonly id: RequestId; readonly why: LeaveReason }
  | { readonly type: "renew"; readonly id: RequestId }
  | {
      readonly type: "release";
      readonly id: RequestId;
      readonly claim?: ClaimId;
      /** Instead of the pool's `onRelease`. */
      readonly state?: string;
    }
  /** An operator ends somebody's lease. */
  | { readonly type: "revoke"; readonly id: RequestId; readonly reason: Reason }
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

/** `cancelled` by the asker, `disconnected` without a key to come back with. */
export type LeaveReason = "cancelled" | "disconnected";
