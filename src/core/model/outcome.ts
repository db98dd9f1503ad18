import type { LeaseView, RequestView } from "../explain/view.ts";
import type { PoolName, RequestId, ResourceName } from "./ids.ts";
import type { Refusal } from "./refusal.ts";

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
