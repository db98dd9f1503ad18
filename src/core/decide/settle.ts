/**
 * The end of every decision. Makes and deletes dynamic resources of the touched pools and grants
 * free resources. So between commands, no request waits that could be granted.
 */
import { waitCause } from "../explain/wait-cause.ts";
import { chargesFor, passesGates } from "../gates/gates.ts";
import { cohortOf, hasCohort } from "../gates/limits.ts";
import type { BrokerEvent, GrantedClaim, ResolvedAsk, WaitCode } from "../model/event.ts";
import type { ClaimId, RequestId } from "../model/ids.ts";
import { busyState, freeState } from "../model/lifecycle.ts";
import { isHeldBackByQuota } from "../model/quota.ts";
import { compareRank, firstRank, newcomerRank, type Rank } from "../model/rank.ts";
import { isAny } from "../model/selection.ts";
import { spaceOf } from "../model/space.ts";
import {
  type Bucket,
  type ExclusiveNeed,
  type ExclusiveResource,
  isShared,
  type Need,
  type Pool,
  queueAt,
  type Request,
  type State,
} from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { isAvailable } from "../queue/available.ts";
import { type Choice, Leftover } from "../queue/leftover.ts";
import { isSamePlace, needIn } from "../queue/needs.ts";
import {
  couldUse,
  type DecisionBudget,
  needsSearch,
  type Placement,
  placeAll,
  reachMax,
  sharedClaims,
} from "../shared/place.ts";
import type { Shareable } from "../shared/placement/shareable.ts";
import { retriedReservations } from "../shared/reserve.ts";
import { lastFence } from "./fence.ts";
import { type Culprit, Undecidable } from "./set-aside.ts";
import { helpStarved } from "./starved.ts";
import { emit, type Turn } from "./turn.ts";
import { upkeep } from "./upkeep.ts";
import { workEnd, workOn } from "./work.ts";

/** Grants what waiting requests can have in these pools before the rest of a command is decided. */
export function settleEarly(turn: Turn, pools: Iterable<Pool> = []): void {
  for (const pool of pools) if (pool.waiting > 0) turn.touched.add(pool);
  const before = turn.events.length;
  settle(turn);
  turn.following ??= new Set();
  for (let index = before; index < turn.events.length; index++) {
    turn.following.add(turn.events[index] as BrokerEvent);
  }
}

export function settle(turn: Turn): void {
  const { touched } = turn;
  while (touched.size > 0) {
    // `maintain` may touch more pools. The loop visits them too, because a set grows while it is
    // iterated.
    for (const pool of touched) maintain(turn, pool);
    // Pools that grants touch wait for the next round, because they may need `maintain` first.
    for (const pool of [...touched]) if (touched.has(pool)) serve(turn, pool);
  }
}

function maintain(turn: Turn, pool: Pool): void {
  if (pool.suspended !== null) return;
  try {
    upkeep(turn, pool);
    removeIfDeserted(turn, pool);
  } catch (cause) {
    throw cause instanceof Undecidable ? cause : new Undecidable({ pools: [pool.name] }, cause);
  }
}

/** Removes a retired pool once it has no resource and no waiting request. */
function removeIfDeserted(turn: Turn, pool: Pool): void {
  if (!pool.retired || pool.members.size > 0 || pool.waiting > 0) return;
  if (turn.state.pools.get(pool.name) !== pool) return;
  emit(turn, { type: "pool-removed", pool: pool.name });
}

/**
 * The order of grants. Each bucket has one queue. A request waits in the queue of every bucket that
 * it needs, with the same rank everywhere, so two requests over several pools never wait for each
 * other. A request for one pool is never overtaken. A request for several pools may be overtaken
 * until the pool's patience is over; then freed resources are kept for it.
 *
 * In a shared pool any request that fits may be granted. When a request ahead is impatient, room is
 * reserved for it (`shared/reserve.ts`).
 */

/** Whether all needs can be met now at this rank. */
export function fits(
  needs: readonly Need[],
  rank: Rank,
  now: Instant,
  ofDecision?: DecisionBudget,
): boolean {
  if (!passesGates(needs, rank, now)) return false;
  return needs.every((need) => isAvailable(need, rank, now, ofDecision));
}

/** Grants all waiting requests of the pool that can be granted now, in order. */
export function serve(turn: Turn, pool: Pool): void {
  const { touched } = turn;
  if (hasCohort(pool)) {
    // A limit that one pool releases may serve another, so all pools of the cohort are served
    // together.
    const cohort = [...cohortOf(pool)];
    for (let before = -1; before !== turn.events.length; ) {
      before = turn.events.length;
      servePools(turn, cohort);
    }
    for (const member of cohort) if (isSettled(member)) touched.delete(member);
  } else {
    if (pool.waiting > 0) servePools(turn, [pool]);
    else pool.cache.freed.clear();
    if (isSettled(pool)) touched.delete(pool);
  }

  /** A pool of clusters plans again after every event: it may change what the pool needs. */
  function isSettled(member: Pool): boolean {
    if (member.clusters === null || member.suspended !== null) return true;
    return turn.plannedAt?.get(member) === turn.events.length;
  }
}

function servePools(turn: Turn, pools: readonly Pool[]): void {
  for (const pool of pools) if (pool.policy.preempt === true) turn.preempting.add(pool);
  let serving = pools[0];
  turn.evaluating = null;
  try {
    for (const pool of pools) {
      serving = pool;
      if (pool.suspended === null) helpStarved(turn, pool);
    }
    for (const bucket of bucketsToServe(pools)) {
      serving = bucket.pool;
      serveBucket(turn, bucket);
    }
    for (const pool of pools) {
      serving = pool;
      if (isShared(pool) && pool.suspended === null) serveShared(turn, pool);
    }
  } catch (cause) {
    throw new Undecidable(culpritAmong(serving, turn.evaluating), cause);
  }
}

function culpritAmong(pool: Pool | undefined, request: RequestId | null): Culprit {
  const pools = pool === undefined ? [] : [pool.name];
  return request === null ? { pools } : { pools, request };
}

/** Buckets with idle resources and waiting requests, in the order of the first waiting request. */
function bucketsToServe(pools: readonly Pool[]): Bucket[] {
  const found: Bucket[] = [];
  for (const { buckets, suspended } of pools) {
    if (suspended !== null) continue;
    for (const bucket of buckets.values()) {
      if (bucket.queue.size > 0 && bucket.idle.size > 0) found.push(bucket);
    }
  }
  return found.sort((a, b) => compareRank(firstRank(a.queue), firstRank(b.queue)));
}

function serveBucket(turn: Turn, bucket: Bucket): void {
  let left = new Leftover(bucket);
  let walk = bucket.queue.walk();
  /** The requests that did not fit: a grant to another frees nothing for them. */
  let unfit: Set<Request> | undefined;
  while (left.count > 0 && !left.isExhausted) {
    const request = walk.next();
    if (request === undefined) break;
    if (left.passHeldBack(request, walk)) continue;
    if (unfit?.has(request)) {
      left.keep(request, turn.now);
      continue;
    }
    if (left.pass(request)) continue;
    turn.evaluating = request.id;
    const needs = request.alternatives.find((alternative) => {
      return fitsFrom(alternative, request, left, bucket, turn.now);
    });
    if (needs !== undefined) {
      if (helpStarvedBeside(turn, needs)) {
        unfit = undefined;
      } else {
        grantRequest(turn, request, needs);
        if (walk.goOn()) continue;
      }
      if (bucket.idle.size === 0) break;
      walk = bucket.queue.walk();
      left = new Leftover(bucket);
    } else {
      // Evaluate the request again when its gate opens: this bucket's free resources may be all
      // that it lacks.
      if (request.cache.evaluated) request.cache.evaluated = isUngated(request, turn.now);
      left.keep(request, turn.now);
      if (bucket.queue.isShared) {
        unfit ??= new Set();
        unfit.add(request);
      }
    }
  }
}

/**
 * A grant over several pools takes from pools that this decision may not serve. Returns whether a
 * request of a starved space goes first there now, so that the grant must be evaluated again.
 */
function helpStarvedBeside(turn: Turn, needs: readonly Need[]): boolean {
  if (needs.length === 1) return false;
  const before = turn.events.length;
  for (const { pool } of needs) if (pool.suspended === null) helpStarved(turn, pool);
  return turn.events.length > before;
}

/** Whether an alternative uses what is left of this bucket and all its other needs are available. */
function fitsFrom(
  needs: readonly Need[],
  request: Request,
  left: Leftover,
  here: Bucket,
  now: Instant,
): boolean {
  const need = needIn(needs, here);
  if (need?.sharing !== "exclusive" || !left.has(need)) return false;
  if (!passesGates(needs, request, now)) return false;
  return needs.every((one) => isSamePlace(one, here) || isAvailable(one, request, now));
}

/** The number of requests held back by their quotas that one decision passes over. */
const heldBackMax = 20_000;

/**
 * Evaluates only requests that could use the freed resources. All others did not fit before, and
 * nothing that they could use has changed.
 */
function serveShared(turn: Turn, pool: Pool): void {
  for (const [{ id }, rooms] of retriedReservations(pool, turn.state)) {
    emit(turn, { type: "room-kept", id, rooms });
  }
  const tried = servePassedOver(turn, pool);
  const queue = queueAt({ pool, state: freeState });
  const freed = new Set<Shareable>();
  let walk = queue.walk();
  let heldBack = 0;
  for (let place = 0; place < reachMax && heldBack < heldBackMax; place++) {
    for (const resource of pool.cache.freed) freed.add(resource);
    pool.cache.freed.clear();
    const request = walk.next();
    if (request === undefined) break;
    if (isHeldBackByQuota(request, pool)) {
      // Requests that only their own quota delays hide no others.
      heldBack += 1;
      place -= 1;
      request.cache.evaluated = false; // Not against what is free now.
      continue;
    }
    if (tried.has(request)) continue;
    if (request.cache.evaluated && !couldUse(request, pool, freed)) continue;
    const needs = evaluateIn(turn, pool, request);
    if (needs === undefined) continue;
    if (helpStarvedBeside(turn, needs)) {
      request.cache.evaluated = false;
      [walk, place] = [queue.walk(), -1];
      continue;
    }
    grantRequest(turn, request, needs);
    // The grant has made the share of its space larger, so that another space may be first now.
    if (walk.goOn()) place -= 1;
    else [walk, place] = [queue.walk(), -1];
  }
}

/**
 * Evaluates the requests for which earlier decisions had no time left, those first that have waited for it longest. Otherwise
 * requests ahead that are hard to place could keep them from ever being evaluated. Returns those that do not fit.
 */
function servePassedOver(turn: Turn, pool: Pool): ReadonlySet<Request> {
  const tried = new Set<Request>();
  const { passedOver } = pool.cache;
  for (const request of [...passedOver]) {
    if (turn.search.left <= 0) break;
    passedOver.delete(request);
    // It may have left, or its group may have lost a member.
    const isWaiting = request.inLine && turn.state.requests.get(request.id) === request;
    if (!isWaiting || isHeldBackByQuota(request, pool)) continue;
    const needs = evaluateIn(turn, pool, request);
    if (needs === undefined) tried.add(request);
    else if (helpStarvedBeside(turn, needs)) request.cache.evaluated = false;
    else grantRequest(turn, request, needs);
  }
  return tried;
}

/** As `evaluate`, if the decision has time for that. If not, a later one does it. */
function evaluateIn(turn: Turn, pool: Pool, request: Request): readonly Need[] | undefined {
  turn.evaluating = request.id;
  const { search } = turn;
  search.wasCut = search.left <= 0 && needsSearch(request, pool);
  const needs = search.wasCut ? undefined : evaluate(turn, request);
  if (needs === undefined && search.wasCut) {
    request.cache.evaluated = false;
    pool.cache.passedOver.add(request);
  }
  return needs;
}

/**
 * Returns the first alternative that fits now. Remembers whether only a lack of room is in the way.
 */
function evaluate({ state, now, search }: Turn, request: Request): readonly Need[] | undefined {
  state.cache.evaluations += 1;
  request.cache.evaluated = isUngated(request, now);
  return request.alternatives.find((needs) => fits(needs, request, now, search));
}

/**
 * Whether no gate delays the request. A delayed request must be evaluated again although nothing
 * was freed.
 */
function isUngated(request: Request, now: Instant): boolean {
  return request.alternatives.every((needs) => passesGates(needs, request, now));
}

/** Grants: make the claims and charge the gates. */

/** Grants a waiting request, and all members of its gang. */
export function grantRequest(turn: Turn, request: Request, needs: readonly Need[]): void {
  const placement = placeAll(needs, request);
  const choices = choicesFor(needs, request, turn.now);
  const past = { placement, choices, waitedFor: waitCause(turn, request, needs) };
  const { gang } = request;
  if (gang === null) return grant(turn, request.id, needs, request.ask, past);
  for (const { id, ask, own } of gang.members) grant(turn, id, own.needs, ask, past);
}

/** Data of a request that has waited. */
interface Past {
  /** The shared resources that were chosen for its needs. */
  readonly placement: Placement;
  readonly choices: Choices;
  readonly waitedFor: WaitCode | null;
}

/** The choice among the idle resources, by bucket. None if the grant takes the longest idle. */
type Choices = ReadonlyMap<Bucket, Choice>;

const noChoices: Choices = new Map();

/** Chooses the resources that match the needs and are not kept for requests ahead. */
function choicesFor(needs: readonly Need[], rank: Rank, now: Instant): Choices {
  let choices: Map<Bucket, Choice> | undefined;
  for (const need of needs) {
    const bucket = bucketToChooseFrom(need);
    if (bucket === undefined) continue;
    const choice = Leftover.at(bucket, rank, now).choiceFor(need);
    if (choice === undefined) continue;
    choices ??= new Map();
    choices.set(bucket, choice);
  }
  return choices ?? noChoices;
}

/** Returns undefined if the need takes any idle resources and no request ahead selects some. */
function bucketToChooseFrom(need: Need): Bucket | undefined {
  if (need.sharing === "shared") return undefined;
  const bucket = need.pool.buckets.get(need.state);
  if (bucket === undefined) return undefined;
  return need.selections !== null || bucket.selecting > 0 ? bucket : undefined;
}

/**
 * Grants the resources that are idle longest, of those that match. The caller has checked that they
 * are available.
 */
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
  const choices = past?.choices ?? choicesFor(needs, newcomerOf(state, ask), now);
  for (const need of needs) {
    if (need.sharing === "exclusive") {
      addExclusiveClaims(turn, need, choices, claims);
    } else {
      placement ??= placeAll(needs, newcomerOf(state, ask));
      const from = { claims: claims.length, fence: lastFence(state, now) };
      claims.push(...sharedClaims(need, placement, from, now));
    }
  }
  const endsAt = workEnd(state, claims) ?? lifetimeEnd(needs, ask, now);
  const request = state.requests.get(id);
  if (ask.replaces !== undefined && request !== undefined) {
    return replaceClaim(turn, request, ask.replaces, claims, waitOf(request, past, now));
  }
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

/** The claim keeps its id and gets a larger fence, so what belongs to the old cluster is refused. */
function replaceClaim(
  turn: Turn,
  { id: request }: Request,
  { lease: id, claim }: NonNullable<ResolvedAsk["replaces"]>,
  [granted]: readonly GrantedClaim[],
  waited: { readonly waitedFor: WaitCode } | undefined,
): void {
  if (granted === undefined) throw new Error(`Cannot replace a cluster of ${id}: none was chosen`);
  const event = { id, request, granted: { ...granted, id: claim }, ...waited };
  emit(turn, { type: "claim-replaced", ...event });
}

function newcomerOf(state: State, { space, priority }: ResolvedAsk): Rank {
  return newcomerRank(state, spaceOf(state, space), priority);
}

/** Omits the cause if the request was queued and granted at the same time. */
function waitOf(
  { queuedAt }: Request,
  past: Past | undefined,
  now: Instant,
): { readonly waitedFor: WaitCode } | undefined {
  const waitedFor = past === undefined || queuedAt === now ? null : past.waitedFor;
  return waitedFor === null ? undefined : { waitedFor };
}

function addExclusiveClaims(
  turn: Turn,
  need: ExclusiveNeed,
  choices: Choices,
  claims: GrantedClaim[],
): void {
  const { pool, state, heldState, purpose } = need;
  const holdMs = purpose === "use" ? pool.policy.holdMs : null;
  const fence = lastFence(turn.state, turn.now);
  const bucket = pool.buckets.get(state);
  if (bucket === undefined) return;
  for (const resource of resourcesFor(need, bucket, choices.get(bucket))) {
    claims.push({
      id: String(claims.length + 1) as ClaimId,
      resource: resource.name,
      fence: fence + claims.length + 1,
      ...(holdMs === null ? undefined : { heldUntil: after(turn.now, holdMs) }),
      ...(heldState === busyState ? undefined : { into: heldState }),
      ...(purpose === "provision" ? workOn(resource, turn.now) : undefined),
    });
  }
}

function resourcesFor(
  { selections, count }: ExclusiveNeed,
  { idle }: Bucket,
  choice: Choice | undefined,
): ExclusiveResource[] {
  const taken: ExclusiveResource[] = [];
  let anyCount = count;
  if (selections !== null) {
    for (const selection of selections) {
      if (isAny(selection)) continue;
      taken.push(...(choice?.assignment.get(selection) ?? []));
      anyCount -= selection.count;
    }
  }
  let resource = idle.first;
  for (; anyCount > 0 && resource !== null; resource = resource.next) {
    if (choice?.avoided.has(resource)) continue;
    taken.push(resource);
    anyCount -= 1;
  }
  return taken;
}

/** The earliest end that the pools and the ask allow. Only use has a lifetime. */
function lifetimeEnd(needs: readonly Need[], ask: ResolvedAsk, now: Instant): Instant {
  let lifetimeMs = ask.lifetimeMs ?? Number.POSITIVE_INFINITY;
  for (const { pool, purpose } of needs) {
    if (purpose !== "use") continue;
    lifetimeMs = Math.min(lifetimeMs, pool.policy.lifetimeMs ?? Number.POSITIVE_INFINITY);
  }
  return after(now, lifetimeMs);
}
