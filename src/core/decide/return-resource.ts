/** What happens to resources that their holder no longer has. */

import type { Reason } from "../model/command.ts";
import type { LeaseEnd, Return } from "../model/event.ts";
import type { CleaningPolicy } from "../model/policy.ts";
import {
  type Claim,
  cleaningState,
  freeState,
  isHeld,
  type Lease,
  type Pool,
  quarantinedState,
  type Resource,
  toBeDeletedState,
  tombstoneState,
} from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { poolsOf } from "../queue/alternatives.ts";
import { removeIfDeserted } from "./deserted.ts";
import { upkeep } from "./dynamic.ts";
import { serve } from "./grant.ts";
import { emit, type Turn } from "./turn.ts";

export interface Ending {
  readonly why: LeaseEnd | "hold";
  /** Instead of the pool's own choice. */
  readonly state?: string;
  /** It was to be cleaned, and this went wrong. */
  readonly failure?: string;
  readonly reason?: Reason;
}

/**
 * A clean return goes to the pool's `onRelease` after its cooldown. Where the holder vanished or
 * was cut off, it may still be at work, so the resource also rests for the lock-delay. What nobody
 * came for goes back to where it was taken from.
 */
function returnOf({ resource, lease }: Claim, ending: Ending, now: Instant): Return {
  const { name, failures } = resource;
  const { why } = ending;
  if (resource.room !== null) return { resource: name, state: resource.state };
  if (why === "uncollected")
    return { resource: name, state: stayed(resource, takenFrom(lease, resource)) };
  if (ending.failure !== undefined) return failedReturn(resource, ending.failure, lease, now);
  const clean = why === "released" || why === "hold";
  const restMs = restAfter(resource, clean, lease);
  const wanted = ending.state ?? stateAfter(resource, clean, lease);
  return {
    resource: name,
    state: stayed(resource, wanted),
    ...(restMs === 0 ? undefined : { restsUntil: after(now, restMs) }),
    ...expiryOf(resource, now),
    ...(clean && failures > 0 && resource.state === cleaningState ? { failures: 0 } : undefined),
  };
}

/** However it came back: its lifespan counts from now. One that is listed has none. */
function expiryOf(resource: Resource, now: Instant): Pick<Return, "expiresAt"> | undefined {
  const { dynamic, pool, expiresAt } = resource;
  if (!dynamic) return expiresAt === never ? undefined : { expiresAt: null };
  const lifespanMs = pool.policy.dynamic?.lifespanMs ?? null;
  return lifespanMs === null ? undefined : { expiresAt: after(now, lifespanMs) };
}

/** One that is known by name only sent no heartbeats that could have failed: no lock-delay for it. */
function restAfter({ pool, state }: Resource, clean: boolean, { ask }: Lease): number {
  const { cooldownMs, lockDelayMs } = pool.policy;
  if (state === cleaningState) return 0;
  return clean || ask.byName ? cooldownMs : Math.max(cooldownMs, lockDelayMs);
}

/** Cleaning that was broken off leaves it as dirty as it was. */
function stateAfter(resource: Resource, clean: boolean, lease: Lease): string {
  const { state } = resource;
  const { policy } = resource.pool;
  if (state === cleaningState && !lease.ask.byName) {
    return clean ? freeState : takenFrom(lease, resource);
  }
  if (clean) return policy.onRelease;
  return lease.ask.byName ? (policy.silence?.[state]?.to ?? policy.onExpire) : policy.onExpire;
}

function takenFrom({ ask }: Lease, { pool }: Resource): string {
  return ask.items.find((item) => poolsOf(item).includes(pool.name))?.state ?? freeState;
}

/** One that is to be deleted is not lent again, whatever its last holder makes of it. */
function stayed({ leaving }: Resource, wanted: string): string {
  return leaving && wanted !== tombstoneState ? toBeDeletedState : wanted;
}

function failedReturn(resource: Resource, failure: string, lease: Lease, now: Instant): Return {
  const { retries, backoffMs } = resource.pool.policy.cleaning ?? defaultCleaning;
  const failures = resource.failures + 1;
  const told = { resource: resource.name, failures, note: failure };
  if (failures >= retries) return { ...told, state: stayed(resource, quarantinedState) };
  const restMs = Math.min(backoffMs * 2 ** (failures - 1), backoffMsMax);
  return {
    ...told,
    state: stayed(resource, takenFrom(lease, resource)),
    restsUntil: after(now, restMs),
  };
}

export const defaultCleaning: CleaningPolicy = { retries: 3, backoffMs: 60_000 };
const backoffMsMax = 3_600_000;

/** Ends a lease; `touched` collects the pools that must be served for it. */
export function endLease(
  turn: Turn,
  lease: Lease,
  ending: Ending & { readonly why: LeaseEnd },
  touched: Set<Pool>,
): void {
  const { claims } = lease;
  emit(turn, {
    type: "lease-ended",
    id: lease.id,
    why: ending.why,
    back: claims.map((claim) => returnOf(claim, ending, turn.now)),
    ...(ending.reason === undefined ? undefined : { reason: ending.reason }),
  });
  for (const resource of new Set(claims.map((claim) => claim.resource))) {
    cameBack(turn, resource, touched);
  }
}

export function endClaim(
  turn: Turn,
  claim: Claim,
  ending: Ending & { readonly why: "released" | "hold" },
  touched: Set<Pool>,
): void {
  const { lease, resource } = claim;
  const back = returnOf(claim, ending, turn.now);
  emit(turn, { type: "claim-ended", id: lease.id, claim: claim.id, why: ending.why, back });
  cameBack(turn, resource, touched);
}

/** A resource that the configuration no longer has goes now, or to the pool that has it now. */
function cameBack(turn: Turn, resource: Resource, touched: Set<Pool>): void {
  const { pool, name, movesTo } = resource;
  touched.add(pool);
  if (!resource.retired || isHeld(resource)) return;
  if (movesTo !== null && turn.state.pools.has(movesTo.pool)) {
    emit(turn, { type: "resource-moved", resource: name, ...movesTo });
    touched.add(resource.pool);
  } else {
    emit(turn, { type: "resource-removed", resource: name });
  }
}

/** Makes the touched pools whole again and lends what has come free in them. */
export function serveAll(turn: Turn, touched: Set<Pool>): void {
  // Whatever upkeep touches is added to the set while it is walked over, and has its turn too.
  for (const pool of touched) {
    upkeep(turn, pool, touched);
    // What it drew on has room for others now, and would not be found from a pool that is gone.
    if (pool.retired && pool.parent !== null) touched.add(pool.parent);
    if (pool.retired) removeIfDeserted(turn, pool);
  }
  for (const pool of touched) serve(turn, pool);
}
