import { leaseView, requestView } from "../explain/view.ts";
import { unmetDemandOf } from "../gates/credits.ts";
import { gatesOf, lacksOnlyCredits } from "../gates/gates.ts";
import type { Ask, Command } from "../model/command.ts";
import type { ResolvedAsk } from "../model/event.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { busyState, reservedStates } from "../model/lifecycle.ts";
import { type Outcome, refused } from "../model/outcome.ts";
import { same } from "../model/policy.ts";
import { newcomerRank, type Rank } from "../model/rank.ts";
import type { Refusal } from "../model/refusal.ts";
import type { Lease, Need, State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { type Wants, wantsOf } from "../queue/alternatives.ts";
import { isAvailable } from "../queue/available.ts";
import { combinedWants, gangOf } from "../queue/gang.ts";
import { isWithinReach } from "../shared/place.ts";
import type { Answer } from "./decide.ts";
import { grant } from "./grant.ts";
import { impossible, unknownPool } from "./impossible.ts";
import { poolNotFound, requestNotFound } from "./not-found.ts";
import { fits } from "./serve.ts";
import { emit, type Turn } from "./turn.ts";

type Acquire = Extract<Command, { type: "acquire" }>;

export function acquire(turn: Turn, { id, ask, waitMs, nowOnly }: Acquire): Answer {
  const { state, now } = turn;
  if (ask.key !== undefined) {
    const known = state.keys.get(ask.key);
    if (known !== undefined && !isUsedUp(state, known, ask, now)) {
      return askedAgain(turn, known, ask, waitMs);
    }
  }
  const wants = possibleWants(state, ask);
  if ("code" in wants) return refused(wants);
  const { needs, alternatives } = wants;
  const resolved = { ...ask, ttlMs: ask.ttlMs === undefined ? shortestTtl(needs) : ask.ttlMs };
  if (ask.group !== undefined && ask.group.size > 1) {
    queue(turn, id, resolved, waitMs);
    return () => standing(state, id, now);
  }
  const rank = newcomerRank(state, ask.priority);
  const fitting = alternatives.find((alternative) => fits(alternative, rank, now));
  if (fitting !== undefined) {
    grant(turn, id, fitting, resolved);
    return standing(state, id, now);
  }
  if (nowOnly) return notNow(turn, wants, rank);
  queue(turn, id, resolved, waitMs);
  rememberEvaluation(state, id);
  return () => {
    // A resource may have been made that is just what was asked for.
    const lease = state.leases.get(id);
    if (lease !== undefined) confirmDelivery(turn, lease);
    return standing(state, id, now);
  };
}

/** What it wants, or why no amount of waiting would help. */
export function possibleWants(state: State, ask: Ask): Wants | Refusal {
  const unknown = unknownPool(state, ask);
  if (unknown !== undefined) return poolNotFound(state, unknown);
  const own = wantsOf(state, ask);
  const reserved = ask.byName
    ? undefined
    : own.needs.find(({ heldState }) => isReserved(heldState));
  if (reserved !== undefined) return { code: "state_reserved", state: reserved.heldState };
  return impossible(state, ask, gangWants(state, ask, own).alternatives) ?? own;
}

function isReserved(heldState: string): boolean {
  return heldState !== busyState && reservedStates.includes(heldState);
}

/** What must be possible: for the last of a gang, what all of them want. */
function gangWants(state: State, ask: Ask, own: Wants): Wants {
  const gang = gangOf(state, ask);
  if (gang === undefined || gang.members.length + 1 < gang.size) return own;
  return combinedWants([...gang.members, { own }]);
}

function queue(turn: Turn, id: RequestId, ask: ResolvedAsk, waitMs: number): void {
  emit(turn, { type: "request-queued", id, ask });
  emit(turn, { type: "request-seen", id, waitMs });
}

/**
 * It was just found not to fit, so only what comes free can change that: unless it stands too far
 * back to have been looked at, or a gate is in its way, which may open without anything coming free.
 */
function rememberEvaluation(state: State, id: RequestId): void {
  const request = state.requests.get(id);
  if (request === undefined || request.needs.every(({ sharing }) => sharing === "exclusive"))
    return;
  request.cache.evaluated = request.needs.every((need) => {
    return isWithinReach(need, request) && gatesOf(need.pool).length === 0;
  });
}

/** It does not wait. Where only a check outside is missing, the check must hear of it all the same. */
function notNow(turn: Turn, { needs, alternatives }: Wants, rank: Rank): Outcome {
  const { now } = turn;
  const unchecked = alternatives.find((alternative) => {
    const isHeldUp = lacksOnlyCredits({ needs: alternative, rank, now });
    return isHeldUp && alternative.every((need) => isAvailable(need, rank, now));
  });
  for (const event of unmetDemandOf(unchecked ?? [], now)) emit(turn, event);
  return refused({ code: "none_free", pool: shortPool(needs, rank, now) });
}

function shortPool(needs: readonly Need[], rank: Rank, now: Instant): PoolName {
  const short = needs.find((need) => !fits([need], rank, now)) ?? needs[0];
  if (short === undefined) throw new Error("Cannot refuse: nothing was asked for");
  return short.pool.name;
}

/** How long a client that polls may take to find out that it missed an answer. */
const answerLostMs = 60_000;

/**
 * A client that polls may use one key for one lease after the other. The key means the same request
 * only while that waits, or was lent just now and its holder has not shown that it knows.
 */
function isUsedUp(state: State, id: RequestId, ask: Ask, now: Instant): boolean {
  if (ask.presenceMs === undefined || state.requests.has(id)) return false;
  const lease = state.leases.get(id);
  if (lease === undefined) return true;
  return lease.delivered && (lease.confirmed || now - lease.seenAt >= answerLostMs);
}

/** Where a request stands: its lease, its place in line, or how it ended. */
export function standing(state: State, id: RequestId, now: Instant): Outcome {
  const lease = state.leases.get(id);
  if (lease !== undefined) return { type: "granted", lease: leaseView(lease) };
  const request = state.requests.get(id);
  if (request !== undefined) return { type: "waiting", request: requestView(request, now) };
  return refused(requestNotFound(state, id));
}

/** A retry: the first answer may have been lost. It never makes a second request. */
function askedAgain(turn: Turn, id: RequestId, ask: Ask, waitMs: number): Outcome {
  const known = turn.state.requests.get(id) ?? turn.state.leases.get(id);
  if (known !== undefined && !sameAsk(known.ask, ask)) {
    return refused({ code: "request_id_reused", key: ask.key ?? "", id });
  }
  if (known?.kind === "request") emit(turn, { type: "request-seen", id, waitMs });
  if (known?.kind === "lease") confirmDelivery(turn, known);
  return standing(turn.state, id, turn.now);
}

/**
 * To a client that polls, the reply is what makes it the holder: that must be known after a crash
 * too. If it asks yet again, it has missed that reply as well, and its time to miss the next one
 * starts anew.
 */
function confirmDelivery(turn: Turn, { id, ask }: Lease): void {
  if (ask.presenceMs === undefined) emit(turn, { type: "lease-renewed", id });
  else emit(turn, { type: "lease-delivered", id, delivered: true });
}

function sameAsk(known: ResolvedAsk, ask: Ask): boolean {
  return (
    known.holder === ask.holder && same(known.items, ask.items) && same(known.group, ask.group)
  );
}

function shortestTtl(needs: readonly Need[]): number {
  return needs.reduce(
    (least, { pool }) => Math.min(least, pool.policy.ttlMs),
    Number.POSITIVE_INFINITY,
  );
}
