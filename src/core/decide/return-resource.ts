/** What happens to resources that their holder no longer has. */
import type { Reason } from "../model/command.ts";
import type { LeaseEnd, Return } from "../model/event.ts";
import {
  freeState,
  quarantinedState,
  toBeDeletedState,
  tombstoneState,
} from "../model/lifecycle.ts";
import { defaultCleaning } from "../model/policy.ts";
import { type Claim, isHeld, type Lease, type Resource } from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { poolsOf } from "../queue/alternatives.ts";
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
function returnOf(claim: Claim, ending: Ending, now: Instant): Return {
  const { resource, lease, purpose } = claim;
  const { name, failures } = resource;
  const { why } = ending;
  if (resource.sharing === "shared") return { resource: name, state: resource.state };
  if (why === "uncollected") {
    return { resource: name, state: unlessLeaving(resource, takenFrom(lease, resource)) };
  }
  if (ending.failure !== undefined) return failedReturn(resource, ending.failure, lease, now);
  const inOrder = why === "released" || why === "hold";
  const restMs = restAfter(claim, inOrder);
  const wanted = ending.state ?? stateAfter(claim, inOrder);
  return {
    resource: name,
    state: unlessLeaving(resource, wanted),
    ...(restMs === 0 ? undefined : { restsUntil: after(now, restMs) }),
    ...expiryOf(resource, now),
    ...(inOrder && failures > 0 && purpose === "clean" ? { failures: 0 } : undefined),
  };
}

/** The lifespan of a dynamic resource starts anew; a listed one has none. */
function expiryOf(resource: Resource, now: Instant): Pick<Return, "expiresAt"> | undefined {
  const { dynamic, pool, expiresAt } = resource;
  if (!dynamic) return expiresAt === never ? undefined : { expiresAt: null };
  const lifespanMs = pool.policy.dynamic?.lifespanMs ?? null;
  return lifespanMs === null ? undefined : { expiresAt: after(now, lifespanMs) };
}

/** A holder without a token sends no heartbeats that could have failed: no lock-delay for it. */
function restAfter({ purpose, lease, resource }: Claim, inOrder: boolean): number {
  const { cooldownMs, lockDelayMs } = resource.pool.policy;
  if (purpose === "clean") return 0;
  return inOrder || lease.ask.byName ? cooldownMs : Math.max(cooldownMs, lockDelayMs);
}

/** Cleaning that was broken off leaves a resource as dirty as it was. */
function stateAfter({ purpose, lease, resource }: Claim, inOrder: boolean): string {
  const { state } = resource;
  const { policy } = resource.pool;
  const { byName } = lease.ask;
  if (purpose === "clean" && !byName) return inOrder ? freeState : takenFrom(lease, resource);
  if (inOrder) return policy.onRelease;
  return byName ? (policy.silence?.[state]?.to ?? policy.onExpire) : policy.onExpire;
}

function takenFrom({ ask }: Lease, { pool }: Resource): string {
  return ask.items.find((item) => poolsOf(item).includes(pool.name))?.state ?? freeState;
}

/** A resource that is to be deleted is not lent again, whatever state its last holder gives it. */
function unlessLeaving({ leaving }: Resource, wanted: string): string {
  return leaving && wanted !== tombstoneState ? toBeDeletedState : wanted;
}

function failedReturn(resource: Resource, failure: string, lease: Lease, now: Instant): Return {
  const { retries, backoffMs } = resource.pool.policy.cleaning ?? defaultCleaning;
  const failures = resource.failures + 1;
  const told = { resource: resource.name, failures, note: failure };
  if (failures >= retries) return { ...told, state: unlessLeaving(resource, quarantinedState) };
  const restMs = Math.min(backoffMs * 2 ** (failures - 1), backoffMsMax);
  return {
    ...told,
    state: unlessLeaving(resource, takenFrom(lease, resource)),
    restsUntil: after(now, restMs),
  };
}

const backoffMsMax = 3_600_000;

export function endLease(
  turn: Turn,
  lease: Lease,
  ending: Ending & { readonly why: LeaseEnd },
): void {
  const { claims } = lease;
  emit(turn, {
    type: "lease-ended",
    id: lease.id,
    why: ending.why,
    back: claims.map((claim) => returnOf(claim, ending, turn.now)),
    ...(ending.reason === undefined ? undefined : { reason: ending.reason }),
  });
  for (const resource of new Set(claims.map((claim) => claim.resource))) moveOn(turn, resource);
}

export function endClaim(
  turn: Turn,
  claim: Claim,
  ending: Ending & { readonly why: "released" | "hold" },
): void {
  const { lease, resource } = claim;
  const back = returnOf(claim, ending, turn.now);
  emit(turn, { type: "claim-ended", id: lease.id, claim: claim.id, why: ending.why, back });
  moveOn(turn, resource);
}

/** A resource that the configuration no longer has goes now, or to the pool that has it now. */
function moveOn(turn: Turn, resource: Resource): void {
  const { name, movesTo } = resource;
  if (!resource.retired || isHeld(resource)) return;
  if (movesTo !== null && turn.state.pools.has(movesTo.pool)) {
    emit(turn, { type: "resource-moved", resource: name, ...movesTo });
  } else {
    emit(turn, { type: "resource-removed", resource: name });
  }
}
