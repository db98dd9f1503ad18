/**
 * Handles a new request: refuses it, grants it at once or queues it. Also reports the status of a
 * request.
 */
import { versionOf, versionsFor } from "../clusters/placement.ts";
import type { Reader } from "../explain/out-of-use.ts";
import { leaseView, requestView } from "../explain/view.ts";
import { unmetDemandOf } from "../gates/credits.ts";
import { gateObstacle, gatesOf, lacksOnlyCredits, neverPasses } from "../gates/gates.ts";
import { tightest } from "../gates/tightest.ts";
import { isPhase, parametersIn } from "../model/cluster.ts";
import type { Ask, Command, Item } from "../model/command.ts";
import type { ResolvedAsk } from "../model/event.ts";
import { limitOfHub } from "../model/hub.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { busyState, freeState, reservedStates } from "../model/lifecycle.ts";
import { nearest } from "../model/nearest.ts";
import { type Outcome, type Refusal, refused } from "../model/outcome.ts";
import { same } from "../model/policy.ts";
import { hasQuota } from "../model/quota.ts";
import { newcomerRank, type Rank } from "../model/rank.ts";
import { type Space, spaceOf } from "../model/space.ts";
import {
  type ExclusiveNeed,
  isShared,
  type Lease,
  type Need,
  type Pool,
  type Resource,
  type State,
} from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { nearestVersion, supports, versionText } from "../model/version.ts";
import { isAvailable } from "../queue/available.ts";
import { combinedWants, gangOf, poolsOf, type Wants, wantsOf } from "../queue/needs.ts";
import { neverMatches } from "../queue/never-matches.ts";
import { neverPlaced } from "../shared/never-fits.ts";
import { isWithinReach } from "../shared/place.ts";
import { refuseClass, withPriority } from "./bump.ts";
import type { Answer } from "./decide.ts";
import { poolNotFound, requestNotFound } from "./not-found.ts";
import { refuseState } from "./refuse-state.ts";
import { fits, grant } from "./settle.ts";
import { boundedBy, refuseSpace, refuseToWait } from "./space-rules.ts";
import { helpStarved } from "./starved.ts";
import { emit, type Turn } from "./turn.ts";

type Acquire = Extract<Command, { type: "acquire" }>;

export function acquire(turn: Turn, { id, ask: asked, waitMs, nowOnly }: Acquire): Answer {
  const { state, now } = turn;
  const space = spaceOf(state, asked.space);
  if (asked.key !== undefined) {
    const known = state.keys.get(asked.key);
    if (known !== undefined && !isUsedUp(state, known, asked, now)) {
      return askedAgain(turn, known, asked, waitMs);
    }
  }
  const ask = boundedBy(space, withPriority(state, asked));
  const refusal =
    refuseSpace(state, space, ask) ?? refuseClass(state, ask) ?? cannotJoin(state, ask);
  const wants = refusal ?? possibleWants(state, ask);
  if ("code" in wants) return refused(wants);
  const { needs, alternatives } = wants;
  const resolved = { ...ask, ttlMs: ask.ttlMs === undefined ? shortestTtl(needs) : ask.ttlMs };
  if (ask.group !== undefined && ask.group.size > 1) {
    const full = refuseToWait(space, ask, needs);
    if (full !== undefined) return refused(full);
    queue(turn, id, resolved, waitMs);
    return () => standing(state, id, now);
  }
  for (const { pool } of needs) helpStarved(turn, pool, space);
  const rank = newcomerRank(state, space, ask.priority);
  const fitting = alternatives.find((alternative) => fits(alternative, rank, now));
  if (fitting !== undefined) {
    grant(turn, id, fitting, resolved);
    return standing(state, id, now);
  }
  if (nowOnly) return notNow(turn, wants, rank);
  const full = refuseToWait(space, ask, needs);
  if (full !== undefined) return refused(full);
  queue(turn, id, resolved, waitMs);
  rememberEvaluation(state, id);
  return () => {
    // `settle` may have made a dynamic resource for this request, and granted it.
    const lease = state.leases.get(id);
    if (lease !== undefined) confirmDelivery(turn, lease);
    return standing(state, id, now);
  };
}

/** Refuses a request whose gang is full or has another size. The first request sets the size. */
export function cannotJoin(state: State, ask: Ask): Refusal | undefined {
  const gang = gangOf(state, ask);
  if (gang === undefined || ask.group === undefined) return undefined;
  const { name: group, size } = gang;
  const asked = ask.group.size;
  if (asked !== size) return { code: "group_size_differs", group, size, asked };
  return gang.members.length < size ? undefined : { code: "group_full", group, size };
}

/** Returns the needs of an ask, or a refusal if they can never be met. */
export function possibleWants(state: State, ask: Ask): Wants | Refusal {
  const unknown = unknownPool(state, ask);
  if (unknown !== undefined) return poolNotFound(state, unknown);
  const own = wantsOf(state, ask);
  const reserved = ask.byName
    ? undefined
    : own.needs.find(({ heldState }) => isReserved(heldState));
  if (reserved !== undefined) return { code: "state_reserved", state: reserved.heldState };
  const [notAllowed] = own.needs.flatMap((need) => refuseState(need.pool, need.heldState) ?? []);
  if (notAllowed !== undefined) return notAllowed;
  return impossible(state, ask, gangWants(state, ask, own).alternatives) ?? own;
}

function isReserved(heldState: string): boolean {
  return heldState !== busyState && reservedStates.includes(heldState);
}

/** The needs that must be possible: for the last member of a gang, those of all members. */
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
 * Remembers that the request does not fit, so that only freed resources lead to a new evaluation.
 * Not if it was too far back to be evaluated, nor if a gate may open without a release.
 */
function rememberEvaluation(state: State, id: RequestId): void {
  const request = state.requests.get(id);
  if (request === undefined || request.needs.every(({ sharing }) => sharing === "exclusive"))
    return;
  if (hasQuota(request.space)) return;
  request.cache.evaluated = request.needs.every((need) => {
    return isWithinReach(need, request) && gatesOf(need.pool).length === 0;
  });
}

/**
 * Refuses a request that does not wait. If only credits are missing, records the demand, so that
 * the external check runs.
 */
function notNow(turn: Turn, { needs, alternatives }: Wants, rank: Rank): Outcome {
  const { now } = turn;
  const unchecked = alternatives.find((alternative) => {
    const isHeldUp = lacksOnlyCredits({ needs: alternative, rank, now });
    return isHeldUp && alternative.every((need) => isAvailable(need, rank, now));
  });
  for (const event of unmetDemandOf(unchecked ?? [], now)) emit(turn, event);
  const short = shortNeed(needs, rank, now);
  const closed = gateObstacle({ needs, rank, now }, short);
  const because = closed && { because: { code: closed.code, what: closed.what } };
  return refused({ code: "none_free", pool: short.pool.name, ...because });
}

function shortNeed(needs: readonly Need[], rank: Rank, now: Instant): Need {
  const short = needs.find((need) => !fits([need], rank, now)) ?? needs[0];
  if (short === undefined) throw new Error("Cannot refuse: the ask has no items");
  return short;
}

/** How long a polling client may take to notice that it missed a reply. */
const answerLostMs = 60_000;

/**
 * A polling client may use one key for several leases in turn. The key means the same request only
 * while that request waits, or while its lease is new and the holder has not confirmed it.
 */
function isUsedUp(state: State, id: RequestId, ask: Ask, now: Instant): boolean {
  if (ask.presenceMs === undefined || state.requests.has(id)) return false;
  const lease = state.leases.get(id);
  if (lease === undefined) return true;
  return lease.delivered && (lease.confirmed || now - lease.seenAt >= answerLostMs);
}

/** The status of a request: its lease, its place in the queue, or how it ended. */
export function standing(state: State, id: RequestId, now: Instant, reader?: Reader): Outcome {
  const lease = state.leases.get(id);
  if (lease !== undefined) {
    const { revoked } = lease;
    if (revoked !== null) {
      return refused({ code: "request_ended", id, how: "revoked", endedAt: revoked.at });
    }
    return { type: "granted", lease: leaseView(lease) };
  }
  const request = state.requests.get(id);
  if (request !== undefined) {
    return { type: "waiting", request: requestView(request, now, reader) };
  }
  return refused(requestNotFound(state, id));
}

/** Handles a retry, after a lost reply. It never creates a second request. */
function askedAgain(turn: Turn, id: RequestId, ask: Ask, waitMs: number): Outcome {
  const known = turn.state.requests.get(id) ?? turn.state.leases.get(id);
  if (known !== undefined && !sameAsk(known.ask, ask)) {
    return refused({ code: "request_id_reused", key: ask.key ?? "", id });
  }
  if (known?.kind === "request") emit(turn, { type: "request-seen", id, waitMs });
  if (known?.kind === "lease" && known.revoked === null) confirmDelivery(turn, known);
  return standing(turn.state, id, turn.now);
}

/**
 * Records that the reply was sent. A polling client becomes the holder with this reply, so the
 * event must survive a crash. If the client asks again, it has missed the reply, and its time to
 * confirm starts again.
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

/**
 * Refusals of requests that can never be met, even by empty pools. Drained resources count as
 * usable.
 */

/** Returns undefined if at least one alternative can be met some day. */
export function impossible(
  state: State,
  ask: Ask,
  alternatives: readonly (readonly Need[])[],
): Refusal | undefined {
  const otherwise = refuseWrongKind(state, ask);
  const space = spaceOf(state, ask.space);
  let first: Refusal | undefined;
  for (const needs of alternatives) {
    if (needs.some(({ pool }) => pool.retired)) continue;
    const refusal = otherwise ?? tooMuch(state, needs, space);
    if (refusal === undefined) return undefined;
    first ??= refusal;
  }
  return first;
}

/** Returns a pool that an item names and that does not exist. */
export function unknownPool(state: State, { items }: Ask): PoolName | undefined {
  for (const { pool, anyOf = none, state: from = freeState } of items) {
    if (isGone(state, pool) && !hasWork(state, pool, from)) return pool;
    for (const name of anyOf) if (isGone(state, name)) return name;
  }
  return undefined;
}

const none: readonly PoolName[] = [];

/** Returns an item whose pools have all been removed. */
export function goneItem(state: State, { items }: Ask): Item | undefined {
  return items.find((item) => poolsOf(item).every((name) => isGone(state, name)));
}

/** Workers destroy the clusters of a pool that was removed. */
function hasWork(state: State, name: PoolName, from: string): boolean {
  return isPhase(from) && (state.pools.get(name)?.clusters ?? null) !== null;
}

function isGone(state: State, name: PoolName): boolean {
  return state.pools.get(name)?.retired ?? true;
}

/** Refuses keys of shared pools for an exclusive pool, and a wrong ask for a shared pool. */
function refuseWrongKind(state: State, { items, byName }: Ask): Refusal | undefined {
  for (const item of items) {
    for (const name of poolsOf(item)) {
      const pool = state.pools.get(name);
      if (pool === undefined) continue;
      const refusal = isShared(pool)
        ? refuseWrongAmounts(pool, item, byName === true)
        : (refuseSharedKeys(name, item) ?? refuseClusterKeys(pool, item));
      if (refusal !== undefined) return refusal;
    }
  }
  return undefined;
}

/** The keys of an item that are only for shared pools. */
const shareKeys = [
  "amount",
  "tolerations",
  "spread",
  "atMost",
  "exclude",
  "strategy",
] as const satisfies (keyof Item)[];

function refuseSharedKeys(pool: PoolName, item: Item): Refusal | undefined {
  const key = shareKeys.find((name) => item[name] !== undefined);
  return key === undefined ? undefined : { code: "lent_whole", pool, key };
}

/** A cluster is chosen by its parameters. Only a worker names its state. */
function refuseClusterKeys(
  { name: pool, policy, clusters }: Pool,
  item: Item,
): Refusal | undefined {
  const { parameters, selector, resource, state = freeState, into = busyState } = item;
  if (clusters === null || policy.cluster === undefined) {
    return parameters === undefined ? undefined : { code: "parameters_not_allowed", pool };
  }
  if (resource !== undefined) return { code: "lent_by_parameters", pool, key: "resource" };
  if (selector !== undefined) return { code: "lent_by_parameters", pool, key: "selector" };
  const isWork = isPhase(state) && into === state;
  if (isWork || (state === freeState && !isPhase(into))) return undefined;
  return { code: "lent_by_parameters", pool, key: state === freeState ? "into" : "state" };
}

/** Requests by name may name any dimension: capacity clients send the same ones to every pool. */
function refuseWrongAmounts(
  { name: pool, members }: Pool,
  { state, into, amount = {} }: Item,
  byName: boolean,
): Refusal | undefined {
  if (state !== undefined || into !== undefined) return { code: "lent_by_amount", pool };
  const known = dimensionsOf(members);
  if (known.length === 0 || byName) return undefined;
  const dimensions = Object.keys(amount);
  if (dimensions.length === 0) return { code: "amount_missing", pool, known };
  const dimension = dimensions.find((name) => !known.includes(name));
  if (dimension === undefined) return undefined;
  const meant = nearest(dimension, known);
  const hint = meant === undefined ? undefined : { nearest: meant };
  return { code: "dimension_unknown", pool, dimension, known, ...hint };
}

function dimensionsOf(members: Iterable<Resource>): readonly string[] {
  const names = new Set<string>();
  for (const resource of members) {
    if (resource.sharing === "exclusive") continue;
    for (const { name } of resource.levels) names.add(name);
    for (const kind of resource.parts.keys()) names.add(kind);
  }
  return [...names];
}

function tooMuch(state: State, needs: readonly Need[], space: Space | null): Refusal | undefined {
  for (const need of needs) {
    const refusal =
      need.sharing === "shared"
        ? neverPlaced(need)
        : (tooMany(state, need) ?? neverMatches(state, need) ?? unsupported(need));
    if (refusal !== undefined) return tightest([refusal, neverPasses(needs, space)]);
  }
  return neverPasses(needs, space);
}

function tooMany(state: State, { pool, count }: Need): Refusal | undefined {
  if (count <= pool.size) return undefined;
  const size = Math.max(pool.size + arriving(state, pool.name), makeable(pool));
  return count > size ? { code: "never_fits", pool: pool.name, asked: count, size } : undefined;
}

/** Whether a request wants a version that no hub of the pool can make, as far as they tell. */
function unsupported({ pool, selections }: ExclusiveNeed): Refusal | undefined {
  const policy = pool.policy.cluster;
  const versions = policy?.release === undefined ? undefined : versionsFor(pool);
  if (policy === undefined || versions === undefined) return undefined;
  for (const { parametersKey } of selections ?? []) {
    if (parametersKey === undefined) continue;
    const version = versionOf(policy, parametersIn(parametersKey));
    if (version === undefined || supports(versions, version)) continue;
    const { known, nearest: near } = nearestVersion(versions, version);
    const hint = near === undefined ? undefined : { nearest: near };
    const asked = versionText(version);
    return { code: "version_unsupported", pool: pool.name, version: asked, known, ...hint };
  }
  return undefined;
}

/** How many resources the pool can make. A pool of clusters with `max: 0` only makes none now. */
function makeable({ policy: { dynamic, cluster }, hubs }: Pool): number {
  if (cluster !== undefined) {
    let onHubs = hubs === null || hubs.size === 0 ? Number.POSITIVE_INFINITY : 0;
    for (const hub of hubs ?? []) onHubs += limitOfHub(hub);
    return Math.min(cluster.max || Number.POSITIVE_INFINITY, onHubs);
  }
  return dynamic?.max ?? 0;
}

/**
 * The number of resources that move to this pool when their holders in another pool release them.
 */
function arriving(state: State, pool: PoolName): number {
  let count = 0;
  for (const { movesTo } of state.resources.values()) if (movesTo?.pool === pool) count += 1;
  return count;
}
