/** Lends: makes the claims of a grant and charges the gates. */

import { waitCause } from "../explain/wait-cause.ts";
import { chargesFor } from "../gates/gates.ts";
import type { GrantedClaim, ResolvedAsk, WaitCode } from "../model/event.ts";
import type { ClaimId, RequestId } from "../model/ids.ts";
import { busyState } from "../model/lifecycle.ts";
import { newcomerRank } from "../model/rank.ts";
import type { ExclusiveNeed, Need, Request } from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { type Placement, placeAll, sharedClaims } from "../shared/place.ts";
import { emit, type Turn } from "./turn.ts";

/** Lends to a request that waits, and with it to all of its gang. */
export function grantRequest(turn: Turn, request: Request, needs: readonly Need[]): void {
  const placement = placeAll(needs, request);
  const past = { placement, waitedFor: waitCause(turn, request, needs) };
  const { gang } = request;
  if (gang === null) return grant(turn, request.id, needs, request.ask, past);
  for (const { id, ask, own } of gang.members) grant(turn, id, own.needs, ask, past);
}

/** Of a request that has waited. */
interface Past {
  /** Where its shared needs go. */
  readonly placement: Placement;
  readonly waitedFor: WaitCode | null;
}

/** Lends those untouched the longest. The caller has made sure that they are there. */
export function grant(
  turn: Turn,
  id: RequestId,
  needs: readonly Need[],
  ask: ResolvedAsk,
  past?: Past,
): void {
  const { state, now } = turn;
  const claims: GrantedClaim[] = [];
  let placement = past?.placement;
  for (const need of needs) {
    if (need.sharing === "exclusive") {
      addExclusiveClaims(turn, need, claims);
    } else {
      placement ??= placeAll(needs, newcomerRank(state, ask.priority));
      const from = { claims: claims.length, fence: state.fence };
      claims.push(...sharedClaims(need, placement, from, now));
    }
  }
  const endsAt = lifetimeEnd(needs, ask, now);
  const request = state.requests.get(id);
  const isPolled = request !== undefined && ask.presenceMs !== undefined;
  emit(turn, {
    type: "lease-granted",
    id,
    ...(request === undefined ? { ask } : waitOf(request, past, now)),
    claims,
    ...(endsAt === never ? undefined : { endsAt }),
    ...(isPolled ? { undelivered: true } : undefined),
    ...chargesFor(needs, ask.key ?? id, now),
  });
}

/** A request that comes and goes in one moment has waited for nothing. */
function waitOf(
  { queuedAt }: Request,
  past: Past | undefined,
  now: Instant,
): { readonly waitedFor: WaitCode } | undefined {
  const waitedFor = past === undefined || queuedAt === now ? null : past.waitedFor;
  return waitedFor === null ? undefined : { waitedFor };
}

function addExclusiveClaims(turn: Turn, need: ExclusiveNeed, claims: GrantedClaim[]): void {
  const { pool, state, heldState, purpose, count } = need;
  const holdMs = purpose === "clean" ? null : pool.policy.holdMs;
  let resource = pool.buckets.get(state)?.idle.first ?? null;
  for (let taken = 0; taken < count && resource !== null; taken++) {
    claims.push({
      id: String(claims.length + 1) as ClaimId,
      resource: resource.name,
      fence: turn.state.fence + claims.length + 1,
      ...(holdMs === null ? undefined : { heldUntil: after(turn.now, holdMs) }),
      ...(heldState === busyState ? undefined : { into: heldState }),
    });
    resource = resource.next;
  }
}

/** The strictest of what the pools allow and what was asked for. Cleaning takes what it takes. */
function lifetimeEnd(needs: readonly Need[], ask: ResolvedAsk, now: Instant): Instant {
  let lifetimeMs = ask.lifetimeMs ?? Number.POSITIVE_INFINITY;
  for (const { pool, purpose } of needs) {
    if (purpose === "clean") continue;
    lifetimeMs = Math.min(lifetimeMs, pool.policy.lifetimeMs ?? Number.POSITIVE_INFINITY);
  }
  return after(now, lifetimeMs);
}
