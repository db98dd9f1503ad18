import { leaseView } from "../explain/view.ts";
import type { Command, Reason } from "../model/command.ts";
import type { RequestId } from "../model/ids.ts";
import { reservedStates } from "../model/lifecycle.ts";
import { done, type Outcome, refused } from "../model/outcome.ts";
import type { Lease } from "../model/state.ts";
import { standing } from "./acquire.ts";
import { leaseNotFound } from "./not-found.ts";
import { poolsIn, report } from "./report.ts";
import { endClaim, endLease } from "./return-resource.ts";
import { emit, type Turn } from "./turn.ts";

export function renew(turn: Turn, id: RequestId): Outcome {
  const lease = turn.state.leases.get(id);
  if (lease === undefined) return refused(leaseNotFound(turn.state, id));
  emit(turn, { type: "lease-renewed", id });
  return { type: "granted", lease: leaseView(lease) };
}

/** Giving back what was already given back is fine: the first reply may have been lost. */
export function release(turn: Turn, command: Extract<Command, { type: "release" }>): Outcome {
  const { id, claim: claimId, state, failure } = command;
  if (state !== undefined && reservedStates.includes(state))
    return refused({ code: "state_reserved", state });
  const lease = turn.state.leases.get(id);
  if (lease === undefined) {
    const wasReleased = turn.state.ended.get(id)?.how === "released";
    return wasReleased ? done : refused(leaseNotFound(turn.state, id));
  }
  if (command.outcome !== undefined)
    report(turn, lease, poolsIn(turn.state, lease), command.outcome);
  const ending = {
    why: "released" as const,
    ...(state === undefined ? undefined : { state }),
    ...(failure === undefined ? undefined : { failure }),
  };
  if (claimId === undefined || lease.claims.every((claim) => claim.id === claimId)) {
    if (claimId !== undefined && lease.claims.length === 0) return goneClaim(lease, claimId);
    endLease(turn, lease, ending);
  } else {
    const claim = lease.claims.find(({ id: other }) => other === claimId);
    if (claim === undefined) return goneClaim(lease, claimId);
    endClaim(turn, claim, ending);
  }
  return done;
}

/** A claim that the lease had before is fine to release again; one it never had is a mistake. */
function goneClaim(
  lease: Lease,
  claim: NonNullable<Extract<Command, { type: "release" }>["claim"]>,
): Outcome {
  const granted = lease.ask.items.reduce((sum, { count }) => sum + count, 0);
  const number = Number(claim);
  const was = String(number) === claim && number >= 1 && number <= granted && number % 1 === 0;
  return was ? done : refused({ code: "claim_not_found", id: lease.id, claim });
}

export function revoke(turn: Turn, id: RequestId, reason: Reason): Outcome {
  const lease = turn.state.leases.get(id);
  if (lease === undefined) {
    const wasRevoked = turn.state.ended.get(id)?.how === "revoked";
    return wasRevoked ? done : refused(leaseNotFound(turn.state, id));
  }
  endLease(turn, lease, { why: "revoked", reason });
  return done;
}

/**
 * A poll is a sign of life, also when the request has been granted meanwhile; unless the lease has not
 * been delivered yet: then its client does not know that it holds something.
 */
export function keepWaiting(turn: Turn, id: RequestId, waitMs: number): Outcome {
  if (turn.state.requests.has(id)) emit(turn, { type: "request-seen", id, waitMs });
  else if (turn.state.leases.get(id)?.delivered) emit(turn, { type: "lease-renewed", id });
  return standing(turn.state, id, turn.now);
}

/** A request that was granted meanwhile stays granted: the caller learns of it and gives it back. */
export function leave(turn: Turn, command: Extract<Command, { type: "leave" }>): Outcome {
  const { id, why, reason } = command;
  const request = turn.state.requests.get(id);
  if (request === undefined) {
    const hadLeft = turn.state.ended.get(id)?.how === "cancelled";
    return hadLeft ? done : standing(turn.state, id, turn.now);
  }
  emit(turn, { type: "request-left", id, why, ...(reason === undefined ? undefined : { reason }) });
  return done;
}

/**
 * The reply with a lease was lost. A client that can ask again gets time to do so; any other would
 * never be heard of again, so its lease ends.
 */
export function notDelivered(
  turn: Turn,
  { id, told: sent }: Extract<Command, { type: "not-delivered" }>,
): Outcome {
  const lease = turn.state.leases.get(id);
  if (lease === undefined || lease.confirmed || lease.sent > sent) return done;
  if (lease.ask.key !== undefined && lease.ask.presenceMs !== undefined) {
    emit(turn, { type: "lease-delivered", id, delivered: false });
    return done;
  }
  endLease(turn, lease, { why: "uncollected" });
  return done;
}
