/** What happens to resources that their holder no longer has. */
import type { Reason } from "./command.ts";
import type { LeaseEnd, Return } from "./event.ts";
import { serve } from "./grant.ts";
import type { Claim, Lease, Pool, Resource } from "./state.ts";
import { after, type Instant } from "./time.ts";
import { emit, type Turn } from "./turn.ts";

/**
 * A clean return goes to the pool's `onRelease` after its cooldown. Where the holder vanished or
 * was cut off, it may still be at work, so the resource also rests for the lock-delay.
 */
export function returnOf(
  resource: Resource,
  manner: "clean" | "forced",
  now: Instant,
  wanted?: string,
): Return {
  const { policy } = resource.pool;
  const forced = manner === "forced";
  const restMs = forced ? Math.max(policy.cooldownMs, policy.lockDelayMs) : policy.cooldownMs;
  const state = wanted ?? (forced ? policy.onExpire : policy.onRelease);
  if (restMs === 0) return { resource: resource.name, state };
  return { resource: resource.name, state, restsUntil: after(now, restMs) };
}

export interface Ending {
  readonly why: LeaseEnd;
  /** Instead of the pool's own choice. */
  readonly state?: string;
  readonly reason?: Reason;
}

/** Ends a lease; `touched` collects the pools that must be served for it. */
export function endLease(turn: Turn, lease: Lease, ending: Ending, touched: Set<Pool>): void {
  const { claims } = lease;
  const manner = ending.why === "released" ? "clean" : "forced";
  emit(turn, {
    type: "lease-ended",
    id: lease.id,
    why: ending.why,
    back: claims.map(({ resource }) => returnOf(resource, manner, turn.now, ending.state)),
    ...(ending.reason === undefined ? undefined : { reason: ending.reason }),
  });
  for (const { resource } of claims) cameBack(turn, resource, touched);
}

export function endClaim(
  turn: Turn,
  claim: Claim,
  why: "released" | "hold",
  touched: Set<Pool>,
  state?: string,
): void {
  const { lease, resource } = claim;
  const back = returnOf(resource, "clean", turn.now, state);
  emit(turn, { type: "claim-ended", id: lease.id, claim: claim.id, why, back });
  cameBack(turn, resource, touched);
}

/** A resource that the configuration no longer has goes now, or to the pool that has it now. */
function cameBack(turn: Turn, resource: Resource, touched: Set<Pool>): void {
  const { pool, name, movesTo } = resource;
  touched.add(pool);
  if (!resource.retired) return;
  if (movesTo !== null && turn.state.pools.has(movesTo.pool)) {
    emit(turn, { type: "resource-moved", resource: name, ...movesTo });
    touched.add(resource.pool);
  } else {
    emit(turn, { type: "resource-removed", resource: name });
  }
  removeIfDeserted(turn, pool);
}

export function removeIfDeserted(turn: Turn, pool: Pool): void {
  const deserted = pool.retired && pool.members.size === 0 && pool.queue.size === 0;
  if (deserted) emit(turn, { type: "pool-removed", pool: pool.name });
}

export function serveAll(turn: Turn, touched: Iterable<Pool>): void {
  for (const pool of touched) serve(turn, pool);
}
