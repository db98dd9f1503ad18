import { leaseView, requestView } from "../explain/view.ts";
import { noteUnmetDemand } from "../gates/credits.ts";
import { beyondLimits, hasCohort } from "../gates/limits.ts";
import type { Ask, Command, Item } from "../model/command.ts";
import type { ResolvedAsk } from "../model/event.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { nearest } from "../model/nearest.ts";
import { type Outcome, refused } from "../model/outcome.ts";
import { same } from "../model/policy.ts";
import type { Refusal } from "../model/refusal.ts";
import { busyState, type Lease, type Need, reservedStates, type State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { poolsOf, type Wants, wantsOf } from "../queue/alternatives.ts";
import { combinedWants, gangOf } from "../queue/gang.ts";
import type { Ranked } from "../queue/ranked-queue.ts";
import { neverPlaced } from "../shared/never-fits.ts";
import { growFor } from "./dynamic.ts";
import { fits, fittingAlternative, grant, grantRequest, lacksOnlyCredit, serve } from "./grant.ts";
import { emit, type Turn } from "./turn.ts";

type Acquire = Extract<Command, { type: "acquire" }>;

export function acquire(turn: Turn, { id, ask, waitMs, nowOnly }: Acquire): Outcome {
  const { state, now } = turn;
  if (ask.key !== undefined) {
    const known = state.keys.get(ask.key);
    if (known !== undefined && !isUsedUp(state, known, ask, now)) {
      return askedAgain(turn, known, ask, waitMs);
    }
  }
  const ways = waysFor(state, ask);
  if ("code" in ways) return refused(ways);
  const { needs } = ways;
  const ttlMs = ask.ttlMs === undefined ? shortestTtl(needs) : ask.ttlMs;
  const resolved = { ...ask, ttlMs };
  const rank = { priority: ask.priority ?? 0, order: state.order + 1 };
  if (ask.group !== undefined && ask.group.size > 1) {
    return joinCompany(turn, { id, ask: resolved, waitMs });
  }
  const way = ways.alternatives.find((option) => fits(option, rank, now));
  if (way !== undefined) {
    grant(turn, id, way, resolved);
    // Who stood before others in line, but now has nothing to take, is in nobody's way any more.
    for (const { pool } of way) if (hasCohort(pool)) serve(turn, pool);
  } else if (nowOnly) {
    const withheld = ways.alternatives.find((option) => lacksOnlyCredit(option, rank, now));
    if (withheld !== undefined) noteUnmetDemand(withheld, now);
    return refused({ code: "none_free", pool: shortest(needs, rank, now) });
  } else {
    emit(turn, { type: "request-queued", id, ask: resolved });
    emit(turn, { type: "request-seen", id, waitMs });
    growAndServe(turn, needs, id);
  }
  return standing(turn.state, id, turn.now);
}

/** In which ways it could be served, or why no amount of waiting would help. */
export function waysFor(state: State, ask: Ask): Wants | Refusal {
  const unknown = misnamed(state, ask);
  if (unknown !== undefined) return poolNotFound(state, unknown);
  const ways = wantsOf(state, ask);
  const lie = ask.byName ? undefined : ways.needs.find(({ into }) => isReserved(into));
  if (lie !== undefined) return { code: "state_reserved", state: lie.into };
  return impossible(state, ask, waysWith(state, ask, ways).alternatives) ?? ways;
}

/** What must be possible: where it is the last of its company, what all of them want. */
function waysWith(state: State, ask: Ask, own: Wants): Wants {
  const company = gangOf(state, ask);
  if (company === undefined || company.members.length + 1 < company.size) return own;
  return combinedWants([...company.members, { own }]);
}

/** It is there first, and then it is seen whether all of them can go. */
function joinCompany(turn: Turn, { id, ask, waitMs }: Joining): Outcome {
  emit(turn, { type: "request-queued", id, ask });
  emit(turn, { type: "request-seen", id, waitMs });
  const request = turn.state.requests.get(id);
  const way = request?.inLine ? fittingAlternative(request, turn.now) : undefined;
  if (request !== undefined && way !== undefined) grantRequest(turn, request, way);
  return standing(turn.state, id, turn.now);
}

interface Joining {
  readonly id: RequestId;
  readonly ask: ResolvedAsk;
  readonly waitMs: number;
}

function isReserved(into: string): boolean {
  return into !== busyState && reservedStates.includes(into);
}

/** Where one can be made that is just what was asked for, it is lent in the same breath. */
function growAndServe(turn: Turn, needs: readonly Need[], id: RequestId): void {
  for (const { pool } of needs) {
    if (pool.policy.dynamic === undefined) continue;
    growFor(turn, pool);
    serve(turn, pool);
  }
  const lease = turn.state.leases.get(id);
  if (lease !== undefined) tellOf(turn, lease);
}

function shortest(needs: readonly Need[], rank: Ranked, now: Instant): PoolName {
  const [first] = needs;
  const short = needs.find((need) => !fits([need], rank, now)) ?? first;
  if (short === undefined) throw new Error("Cannot refuse: nothing was asked for");
  return short.pool.name;
}

/** One that asks again and again may have missed the answer for so long before it means another. */
const answerLostMs = 60_000;

/**
 * Whoever polls may use one key for one lease after the other. It means the same one only while that
 * is waited for, or was lent just now and its holder has not shown that it knows.
 */
function isUsedUp(state: State, id: RequestId, ask: Ask, now: Instant): boolean {
  if (ask.presenceMs === undefined || state.requests.has(id)) return false;
  const lease = state.leases.get(id);
  if (lease === undefined) return true;
  return lease.delivered && (lease.confirmed || now - lease.seenAt >= answerLostMs);
}

/** The reply to whoever asks where a request stands: its lease, or its place in line. */
export function standing(state: State, id: RequestId, now: Instant): Outcome {
  const lease = state.leases.get(id);
  if (lease !== undefined) return { type: "granted", lease: leaseView(lease) };
  const request = state.requests.get(id);
  if (request !== undefined) return { type: "waiting", request: requestView(request, now) };
  return refused(noRequest(state, id));
}

/** Why there is no request of this id. */
export function noRequest(state: State, id: RequestId): Refusal {
  const ended = state.ended.get(id);
  if (ended === undefined) return { code: "request_not_found", id };
  return { code: "request_ended", id, how: ended.how, endedAt: ended.at };
}

/** A retry: the first answer may have been lost. It never makes a second request. */
function askedAgain(turn: Turn, id: RequestId, ask: Ask, waitMs: number): Outcome {
  const known = turn.state.requests.get(id) ?? turn.state.leases.get(id);
  if (known !== undefined && !sameAsk(known.ask, ask)) {
    return refused({ code: "request_id_reused", key: ask.key ?? "", id });
  }
  if (known?.kind === "request") emit(turn, { type: "request-seen", id, waitMs });
  if (known?.kind === "lease") tellOf(turn, known);
  return standing(turn.state, id, turn.now);
}

/**
 * To one that polls, the reply is what makes it the holder: that must be known after a crash too. If
 * it asks yet again, it has missed that one as well, and its time to miss the next counts anew.
 */
function tellOf(turn: Turn, { id, ask }: Lease): void {
  if (ask.presenceMs === undefined) emit(turn, { type: "lease-renewed", id });
  else emit(turn, { type: "lease-delivered", id, delivered: true });
}

function sameAsk(known: ResolvedAsk, ask: Ask): boolean {
  return (
    known.holder === ask.holder && same(known.items, ask.items) && same(known.group, ask.group)
  );
}

/** Why no amount of waiting would help, judged against empty pools; drained ones count as there. */
export function impossible(
  state: State,
  ask: Ask,
  options: readonly (readonly Need[])[],
): Refusal | undefined {
  for (const item of ask.items) {
    if (poolsOf(item).every((name) => isGone(state, name))) return poolNotFound(state, item.pool);
  }
  const otherwise = lentOtherwise(state, ask);
  let first: Refusal | undefined;
  for (const needs of options) {
    if (needs.some(({ pool }) => pool.retired)) continue;
    const refusal = otherwise ?? tooMuch(state, needs);
    if (refusal === undefined) return undefined;
    first ??= refusal;
  }
  return first;
}

/** Shares are asked for with amounts, and whole resources without. */
function lentOtherwise(state: State, { items }: Ask): Refusal | undefined {
  for (const item of items) {
    for (const name of poolsOf(item)) {
      const policy = state.pools.get(name)?.policy;
      if (policy === undefined) continue;
      const refusal =
        policy.placement === undefined ? onlyWhole(name, item) : onlyShares(name, item);
      if (refusal !== undefined) return refusal;
    }
  }
  return undefined;
}

/** A pool that was asked for by a name that no pool has. */
function misnamed(state: State, { items }: Ask): PoolName | undefined {
  for (const item of items) {
    const gone = poolsOf(item).find((name) => isGone(state, name));
    if (gone !== undefined) return gone;
  }
  return undefined;
}

function isGone(state: State, name: PoolName): boolean {
  return state.pools.get(name)?.retired ?? true;
}

function tooMuch(state: State, needs: readonly Need[]): Refusal | undefined {
  for (const need of needs) {
    const { pool, count, demands } = need;
    if (demands !== null) {
      const refusal = neverPlaced(need);
      if (refusal !== undefined) return refusal;
      continue;
    }
    if (count <= pool.size) continue;
    const size = Math.max(pool.size + arriving(state, pool.name), pool.policy.dynamic?.max ?? 0);
    if (count > size) return { code: "never_fits", pool: pool.name, asked: count, size };
  }
  const [tight] = beyondLimits(needs);
  return tight === undefined ? undefined : { code: "never_fits", ...tight };
}

/** What only makes sense where resources are shared. */
const shareKeys = [
  "amount",
  "selector",
  "tolerations",
  "spread",
  "atMost",
  "resource",
  "exclude",
  "strategy",
] as const satisfies (keyof Item)[];

function onlyWhole(pool: PoolName, item: Item): Refusal | undefined {
  const key = shareKeys.find((name) => item[name] !== undefined);
  return key === undefined ? undefined : { code: "lent_whole", pool, key };
}

function onlyShares(pool: PoolName, { state, into }: Item): Refusal | undefined {
  const isWhole = state !== undefined || into !== undefined;
  return isWhole ? { code: "lent_by_amount", pool } : undefined;
}

/** How many are listed in this pool now and still held as another's. */
function arriving(state: State, pool: PoolName): number {
  let count = 0;
  for (const { movesTo } of state.resources.values()) if (movesTo?.pool === pool) count += 1;
  return count;
}

export function poolNotFound(state: State, pool: Ask["items"][number]["pool"]): Refusal {
  const known = [...state.pools.values()].filter(({ retired }) => !retired).map(({ name }) => name);
  const meant = nearest(pool, known) as typeof pool | undefined;
  return {
    code: "pool_not_found",
    pool,
    known: known.slice(0, knownMax),
    ...(meant === undefined ? undefined : { nearest: meant }),
  };
}

/** As many names as a person reads in an error message. */
const knownMax = 10;

function shortestTtl(needs: readonly Need[]): number {
  return needs.reduce(
    (least, { pool }) => Math.min(least, pool.policy.ttlMs),
    Number.POSITIVE_INFINITY,
  );
}
