import type { LeaseEnd, RequestEnd } from "./event.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "./ids.ts";
import type { Instant } from "./time.ts";

/** Every "no" of the core, as a value. What to tell people is made of it at the edge. */
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
  | { readonly code: "request_id_reused"; readonly key: string; readonly id: RequestId }
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
  | { readonly code: "claim_not_found"; readonly id: RequestId; readonly claim: ClaimId }
  | {
      readonly code: "resource_not_found";
      readonly resource: ResourceName;
      readonly nearest?: ResourceName;
    }
  | { readonly code: "resource_held"; readonly resource: ResourceName; readonly holder: string }
  | { readonly code: "state_reserved"; readonly state: string }
  | {
      readonly code: "too_many_entries";
      readonly resource: ResourceName;
      readonly what: "labels" | "user data";
      readonly max: number;
    };

export type RefusalCode = Refusal["code"];
