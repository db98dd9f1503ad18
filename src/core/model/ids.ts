/**
 * Names that must not be mixed up: a pool's name where a resource's is meant does not compile.
 * They are minted with `as` at the edges, where text from outside has just been checked.
 */
declare const brand: unique symbol;
type Branded<Kind extends string> = string & { readonly [brand]: Kind };

/** Names a request and, once it is granted, the lease that it became: one thing, one id. */
export type RequestId = Branded<"RequestId">;
export type PoolName = Branded<"PoolName">;
/** Unique over all pools, as in Boskos, so that an operator can name a resource without its pool. */
export type ResourceName = Branded<"ResourceName">;
/** Unique within its lease. */
export type ClaimId = Branded<"ClaimId">;
