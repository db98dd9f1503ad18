/** What comes of a command: an outcome, which may be a refusal. */
import type { LeaseView, RequestView } from "../explain/view.ts";
import type { LeaseEnd, RequestEnd } from "./event.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "./ids.ts";
import type { LastHolder } from "./state.ts";
import type { Instant } from "./time.ts";
import type { UserDataFault } from "./user-data.ts";

/** What a command came to. Plain data: it stays true however the state goes on. */
export type Outcome =
  | { readonly type: "granted"; readonly lease: LeaseView }
  | { readonly type: "waiting"; readonly request: RequestView }
  | { readonly type: "done" }
  /** Several at once, a lease each. */
  | { readonly type: "taken"; readonly leases: readonly LeaseView[] }
  /** What was taken back, and from whom. */
  | { readonly type: "reset"; readonly holders: ReadonlyMap<ResourceName, string> }
  /** What could not be carried over, and why. */
  | { readonly type: "imported"; readonly leases: number; readonly left: readonly LeftOut[] }
  | { readonly type: "refused"; readonly refusal: Refusal };

export interface LeftOut {
  readonly resource: ResourceName;
  readonly pool: PoolName;
  /** `used_since`: it was lent here after the other broker had it, so what is known here is newer. */
  readonly why: "not_configured" | "held_already" | "used_since";
}

export const done: Outcome = { type: "done" };

export function refused(refusal: Refusal): Outcome {
  return { type: "refused", refusal };
}

/** Of the request or lease that it is about, if it is about one. */
export function idOf(outcome: Outcome): RequestId | undefined {
  if (outcome.type === "granted") return outcome.lease.id;
  return outcome.type === "waiting" ? outcome.request.id : undefined;
}

/** Every "no" of the core, as a value. The edges make messages of it. */
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
      /** Eligible and large enough. */
      readonly large: number;
      readonly eligible: number;
      readonly total: number;
      /** How many are not eligible, by reason. */
      readonly unfit: Readonly<Record<string, number>>;
    }
  | { readonly code: "never_fits_together"; readonly pool: PoolName; readonly items: number }
  | {
      readonly code: "strategy_not_allowed";
      readonly pool: PoolName;
      readonly strategy: string;
      readonly known: readonly string[];
    }
  /** Amounts were asked of an exclusive pool, or none of a shared pool. */
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
  /** All requests of the group wait already. */
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
  | { readonly code: "lease_not_found"; readonly id: string }
  | { readonly code: "lease_not_granted"; readonly id: RequestId }
  | {
      readonly code: "lease_ended";
      readonly id: RequestId;
      readonly how: RequestEnd | LeaseEnd;
      readonly endedAt: Instant;
    }
  | { readonly code: "pool_not_in_lease"; readonly id: RequestId; readonly pool: PoolName }
  | { readonly code: "claim_not_found"; readonly id: RequestId; readonly claim: ClaimId }
  | {
      readonly code: "resource_not_found";
      readonly resource: ResourceName;
      readonly nearest?: ResourceName;
    }
  /** It was to be now or never. */
  | { readonly code: "none_free"; readonly pool: PoolName }
  /** Of those named, these are not to be had. */
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
      /** Empty: nobody. */
      readonly holder: string;
      /** How that holder lost it, if it had it last. */
      readonly lost?: LastHolder;
      /** What is missing is the token, not the name. */
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
