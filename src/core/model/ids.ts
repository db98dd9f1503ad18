/**
 * Branded names: code that passes a pool's name as a resource's does not compile. Only the edges
 * mint them with `as`, after they have validated the text.
 */
declare const brand: unique symbol;
type Branded<Kind extends string> = string & { readonly [brand]: Kind };

/** The id of a request, and of the lease that it becomes. */
export type RequestId = Branded<"RequestId">;
export type PoolName = Branded<"PoolName">;
/** Unique over all pools, as in Boskos. An operator can name a resource without its pool. */
export type ResourceName = Branded<"ResourceName">;
/** Unique within its lease. */
export type ClaimId = Branded<"ClaimId">;
/** A tenant: the requests and leases of one team. */
export type SpaceName = Branded<"SpaceName">;
/** Shown instead of a holder of another space. */
export const hiddenHolder = "another space";
