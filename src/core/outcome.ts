import type { RequestId } from "./ids.ts";
import type { Refusal } from "./refusal.ts";
import type { LeaseView, RequestView } from "./view.ts";

/** What a command came to. Plain data: it stays true however the state goes on. */
export type Outcome =
  | { readonly type: "granted"; readonly lease: LeaseView }
  | { readonly type: "waiting"; readonly request: RequestView }
  | { readonly type: "done" }
  | { readonly type: "refused"; readonly refusal: Refusal };

export const done: Outcome = { type: "done" };

export function refused(refusal: Refusal): Outcome {
  return { type: "refused", refusal };
}

/** Of the request or lease that it is about, if it is about one. */
export function idOf(outcome: Outcome): RequestId | undefined {
  if (outcome.type === "granted") return outcome.lease.id;
  return outcome.type === "waiting" ? outcome.request.id : undefined;
}
