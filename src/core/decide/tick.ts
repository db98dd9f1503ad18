import { isCluster } from "../clusters/snapshot.ts";
import { speedUp } from "../gates/adaptive.ts";
import type { Cluster } from "../model/cluster.ts";
import type { LeaseEnd } from "../model/event.ts";
import { isFrozen } from "../model/hub.ts";
import type { RequestId } from "../model/ids.ts";
import { brokenState, destroyingState } from "../model/lifecycle.ts";
import { done, type Outcome } from "../model/outcome.ts";
import { agedPriority } from "../model/priority.ts";
import {
  type Claim,
  type Due,
  type ExclusiveResource,
  type Lease,
  must,
  type Pool,
  type Resource,
} from "../model/state.ts";
import { never } from "../model/time.ts";
import { reservationsFor } from "../shared/reserve.ts";
import { type Ending, endClaim, endLease } from "./release.ts";
import { culpritOf, postpone, Undecidable } from "./set-aside.ts";
import { emit, type Turn } from "./turn.ts";
import { deleteResource, markForDeletion } from "./upkeep.ts";
import { overdueText } from "./work.ts";

/**
 * Handles all due deadlines, in order of time. Freed resources are lent only afterwards, in
 * `settle`, so that no client gets a lease whose own deadline has passed.
 */
export function tick(turn: Turn): Outcome {
  for (let due = turn.state.due.first(); due !== undefined; due = turn.state.due.first()) {
    if (due.dueAt > turn.now) break;
    if (postpone(turn, due)) continue;
    const culprit = culpritOf(turn.state, due);
    try {
      attend(turn, due);
    } catch (cause) {
      throw new Undecidable(culprit, cause);
    }
  }
  return done;
}

function attend(turn: Turn, due: Due): void {
  switch (due.kind) {
    case "lease":
      return attendLease(turn, due);
    case "claim":
      return endHold(turn, due);
    case "request":
      return emit(turn, { type: "request-left", id: due.id, why: "abandoned" });
    case "pool":
      return attendPool(turn, due);
    case "patience":
      return reserve(turn, due.request);
    case "rise":
      return age(turn, due.request);
    case "resource":
      return attendResource(turn, due);
  }
}

/** At the end of a notice the lease is revoked; its holder may still be at work. */
function attendLease(turn: Turn, lease: Lease): void {
  const { notice, revoked, expiresAt, endsAt } = lease;
  const isOver = expiresAt <= turn.now || endsAt <= turn.now || revoked !== null;
  if (isOver || notice === null) return endLease(turn, lease, endingDue(turn, lease));
  const { reason } = notice;
  emit(turn, { type: "lease-revoked", id: lease.id, heldUntil: expiresAt, reason });
}

/** A lease by name ends with its last claim: no holder would release it. */
function endHold(turn: Turn, claim: Claim): void {
  const { lease } = claim;
  endClaim(turn, claim, { why: "hold" });
  if (lease.ask.byName && lease.claims.length === 0) endLease(turn, lease, { why: "released" });
}

function attendPool(turn: Turn, pool: Pool): void {
  const change = speedUp(pool, turn.now);
  if (change !== undefined) emit(turn, change);
  emit(turn, { type: "pool-attended", pool: pool.name });
}

/**
 * Reserves room for a request whose patience is over. An event without rooms records that nothing
 * could be reserved.
 */
function reserve(turn: Turn, id: RequestId): void {
  const request = must(turn.state.requests.get(id), id);
  emit(turn, { type: "room-kept", id, rooms: reservationsFor(request, turn.state.fence) });
}

/** Raises the priority of a request that has waited long. */
function age(turn: Turn, id: RequestId): void {
  const request = must(turn.state.requests.get(id), id);
  const priority = agedPriority(turn.state, request, turn.now);
  emit(turn, { type: "priority-changed", id, priority, aged: true });
}

function attendResource(turn: Turn, resource: Resource): void {
  const { name, restsTo, restsUntil } = resource;
  if (isCluster(resource)) return attendCluster(turn, resource);
  if (restsUntil <= turn.now) {
    emit(turn, { type: "resource-rested", resource: name, state: restsTo });
  } else if (resource.leaving) {
    deleteResource(turn, name);
  } else {
    markForDeletion(turn, name);
  }
}

/** The end of a hold, of the time for a phase, or of the wait for the next attempt. */
function attendCluster(
  turn: Turn,
  resource: ExclusiveResource & { readonly cluster: Cluster },
): void {
  const { name, state, cluster, restsTo } = resource;
  const { hold } = cluster;
  const deadlineAt = isFrozen(resource) ? never : cluster.deadlineAt;
  if (hold !== null && hold.until <= turn.now) {
    emit(turn, { type: "cluster-held", resource: name, hold: null });
  } else if (deadlineAt <= turn.now && state === destroyingState) {
    emit(turn, { type: "cluster-stuck", resource: name });
  } else if (deadlineAt <= turn.now) {
    const why = overdueText(state);
    const wanted = "destroyed" as const;
    emit(turn, { type: "cluster-moved", resource: name, state: brokenState, wanted, why });
  } else {
    emit(turn, { type: "resource-rested", resource: name, state: restsTo });
  }
}

function endingDue({ now }: Turn, lease: Lease): Ending & { readonly why: LeaseEnd } {
  if (lease.revoked !== null && lease.expiresAt <= now) {
    return { why: "revoked", reason: lease.revoked.reason };
  }
  if (lease.endsAt <= now) return { why: "lifetime" };
  return { why: lease.delivered ? "expired" : "uncollected" };
}
