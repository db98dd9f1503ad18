/**
 * Who gets what, and when.
 *
 * Each shelf (a pool's resources in one state; mostly the free ones) has one queue, and a request
 * stands in the queue of every shelf that it needs, in one order that is the same everywhere: so two
 * requests over several pools can never wait for each other. A request that needs one shelf only is
 * never overtaken at it. One that needs several may be, until it has waited for the pool's patience;
 * from then on what comes free is kept for it.
 *
 * In a pool whose resources are lent by amount anybody who fits may go, until somebody before has run
 * out of patience: room is kept for that one then (`keep.ts`).
 *
 * After every change that may let somebody through, `serve` is called for the pools concerned.
 * So between commands nobody waits whose turn it is and whose needs are there.
 */

import { type WaitCode, waitCause } from "../explain/wait-cause.ts";
import { admittedBy, isAdmitted, isTimeFor } from "../gates/credits.ts";
import { cohortOf, hasCohort, hasRoom, isItsTurn } from "../gates/limits.ts";
import { isOpen, pacedBy } from "../gates/pace.ts";
import type { GrantedClaim, ResolvedAsk } from "../model/event.ts";
import type { ClaimId, RequestId } from "../model/ids.ts";
import {
  type Bucket,
  busyState,
  cleaningState,
  freeState,
  type Need,
  type Place,
  type Pool,
  queueAt,
  type Request,
} from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";
import { hasChoice, isForOnePool } from "../queue/alternatives.ts";
import { compareRank, type Ranked } from "../queue/ranked-queue.ts";
import { canPlace, couldUse, placeAll, reachMax, type Sharing, share } from "../shared/place.ts";
import type { Part, Room } from "../shared/placement/room.ts";
import { retryReservations } from "../shared/reserve.ts";
import { removeIfDeserted } from "./deserted.ts";
import { emit, type Turn } from "./turn.ts";

/**
 * How many requests that cannot go yet are looked past for one that can. It bounds what a decision
 * costs where thousands wait for several pools at once. Behind so many, a request waits its turn.
 */
export const overtakenMax = 100;

/** Whether everything can be had now by one who stands at this rank. */
export function fits(needs: readonly Need[], rank: Ranked, now: Instant): boolean {
  return mayGo(needs, rank, now) && needs.every((need) => isAvailable(need, rank, now));
}

/** The first way in which a request that waits can be served now. */
export function fittingAlternative(request: Request, now: Instant): readonly Need[] | undefined {
  return request.alternatives.find((option) => fits(option, request, now));
}

/** Whether it is time and no limit is in the way, whatever is there. */
function mayGo(needs: readonly Need[], rank: Ranked, now: Instant): boolean {
  return isTimeFor(needs, now) && hasRoom(needs, rank, now);
}

/** Whether nothing but a word from outside is missing. */
export function lacksOnlyCredit(needs: readonly Need[], rank: Ranked, now: Instant): boolean {
  if (isAdmitted(needs, now) || !hasRoom(needs, rank, now)) return false;
  return needs.every((need) => isOpen(need, now) && isAvailable(need, rank, now));
}

/**
 * Whether nothing else will be missing when its turn comes, within so long as far as paces are concerned.
 * Others who share a pace or a limit take it in the very decision in which it comes free: whoever has no
 * word by then would be passed by every time.
 */
export function willLackOnlyCredit(
  needs: readonly Need[],
  rank: Ranked,
  now: Instant,
  aheadMs: number,
): boolean {
  if (isAdmitted(needs, now) || !isItsTurn(needs, rank, now)) return false;
  return needs.every((need) => isOpen(need, after(now, aheadMs)) && isAvailable(need, rank, now));
}

/** Whether it is there, whatever the time. */
export function isAvailable(need: Need, rank: Ranked, now: Instant): boolean {
  if (need.demands !== null) return canPlace(need, rank);
  return need.count <= availableTo(need, rank, now);
}

/** How many are there and not kept for somebody before this rank. */
export function availableTo(place: Place, rank: Ranked, now: Instant): number {
  const shelf = place.pool.buckets.get(place.state);
  if (shelf === undefined) return 0;
  let available = shelf.idle.size;
  if (available === 0 || shelf.queue.size === 0) return available;
  let looked = 0;
  for (const ahead of shelf.queue) {
    if (compareRank(ahead, rank) >= 0) break;
    if (looked === overtakenMax) return 0;
    looked += 1;
    available -= reservedBy(ahead, shelf, now);
    if (available <= 0) return 0;
  }
  return available;
}

/** How many a request that waits keeps from all who stand behind it. */
export function reservedBy(request: Request, place: Place, now: Instant): number {
  if (place.pool.policy.placement !== undefined) return 0;
  if (isForOnePool(request)) return Number.POSITIVE_INFINITY;
  if (now - request.queuedAt < place.pool.policy.patienceMs) return 0;
  return countAt(request, place);
}

export function countAt(request: Request, place: Place): number {
  return Math.max(0, ...request.alternatives.map((needs) => countIn(needs, place)));
}

function countIn(needs: readonly Need[], place: Place): number {
  return needs.find((need) => isAt(need, place))?.count ?? 0;
}

function isAt(need: Need, { pool, state }: Place): boolean {
  return need.pool === pool && need.state === state;
}

/** Grants to everybody in the pool's queues who can go now, in order. */
export function serve(turn: Turn, pool: Pool): void {
  if (hasCohort(pool)) serveKin(turn, pool);
  else if (pool.waiting > 0) servePools(turn, [pool]);
  else pool.freed.clear();
}

/** What one gives back another may take, so all that share a limit are served, eldest first. */
function serveKin(turn: Turn, pool: Pool): void {
  for (let before = -1; before !== turn.events.length; ) {
    before = turn.events.length;
    servePools(turn, cohortOf(pool));
  }
}

function servePools(turn: Turn, pools: Iterable<Pool>): void {
  const all = [...pools];
  for (const shelf of lines(all)) serveShelf(turn, shelf);
  for (const pool of all) if (pool.policy.placement !== undefined) serveRooms(turn, pool);
}

/** The shelves that have both something to lend and somebody who waits, by who waits first. */
function lines(pools: Iterable<Pool>): Bucket[] {
  const found: Bucket[] = [];
  for (const { buckets } of pools) {
    for (const shelf of buckets.values()) {
      if (shelf.queue.size > 0 && shelf.idle.size > 0) found.push(shelf);
    }
  }
  const first = (shelf: Bucket): Ranked => shelf.queue.at(0) ?? last;
  return found.sort((a, b) => compareRank(first(a), first(b)));
}

const last: Ranked = { priority: Number.NEGATIVE_INFINITY, order: 0 };

/**
 * Looks only at those who wait for what has become roomier. Everybody else in the line has been found
 * not to fit, and nothing that it could use has changed.
 */
function serveRooms(turn: Turn, pool: Pool): void {
  retryReservations(turn, pool);
  const queue = queueAt({ pool, state: freeState });
  const others = new Set<Pool>();
  const improved = new Set<Room>();
  let place = 0;
  while (place < reachMax) {
    for (const room of pool.freed) improved.add(room);
    pool.freed.clear();
    const request = queue.at(place);
    if (request === undefined) break;
    const worthIt = !request.evaluated || couldUse(request, pool, improved);
    const way = worthIt ? weigh(turn, request) : undefined;
    if (way !== undefined) {
      noteOthers(request, ({ pool: other }) => other !== pool, others);
      grantRequest(turn, request, way);
    } else {
      place += 1;
    }
  }
  serveOthers(turn, others);
}

function weigh(turn: Turn, request: Request): readonly Need[] | undefined {
  // Not facts but notes: without the second the same would be found out once more.
  turn.state.evaluations += 1;
  request.evaluated = isWeighable(request, turn.now);
  return fittingAlternative(request, turn.now);
}

/** Who waits for its time or for a limit must be looked at again without any room having changed. */
function isWeighable(request: Request, now: Instant): boolean {
  return request.alternatives.every((option) => mayGo(option, request, now));
}

function serveShelf(turn: Turn, shelf: Bucket): void {
  const others = new Set<Pool>();
  let place = 0;
  let available = shelf.idle.size;
  while (available > 0 && place < overtakenMax) {
    const request = shelf.queue.at(place);
    if (request === undefined) break;
    const needs = request.alternatives.find((option) => {
      return countIn(option, shelf) <= available && fitsFrom(option, request, shelf, turn.now);
    });
    if (needs !== undefined) {
      noteOthers(request, (need) => !isAt(need, shelf), others);
      grantRequest(turn, request, needs);
      available -= countIn(needs, shelf);
    } else {
      // What has come free here may be all that it lacked once its time has come.
      if (request.evaluated) request.evaluated = isWeighable(request, turn.now);
      available -= reservedBy(request, shelf, turn.now);
      place += 1;
    }
  }
  serveOthers(turn, others);
}

/** Where not all of a line is looked at, or a line was stood in for nothing, others can go now. */
function noteOthers(request: Request, isElsewhere: (need: Need) => boolean, others: Set<Pool>) {
  for (const need of request.needs) {
    const { pool } = need;
    const helps = hasChoice(request) || need.demands !== null || pool.waiting >= overtakenMax;
    if (helps && isElsewhere(need)) others.add(pool);
  }
}

function serveOthers(turn: Turn, others: Iterable<Pool>): void {
  for (const other of others) {
    serve(turn, other);
    removeIfDeserted(turn, other);
  }
}

/** Whether a way to be served begins here and everything else of it is to be had. */
function fitsFrom(needs: readonly Need[], request: Request, here: Bucket, now: Instant): boolean {
  if (countIn(needs, here) === 0 || !mayGo(needs, request, now)) return false;
  return needs.every((need) => isAt(need, here) || isAvailable(need, request, now));
}

/** Lends to one that waits, and with it to all of its company. */
export function grantRequest(turn: Turn, request: Request, way: readonly Need[]): void {
  const sharing = { placed: placeAll(way, request), mine: new Set<Part>(), rank: request };
  const past = { sharing, waitedFor: waitCause(turn, request, way) };
  const { gang } = request;
  if (gang === null) return grant(turn, request.id, way, request.ask, past);
  for (const { id, ask, own } of [...gang.members]) grant(turn, id, own.needs, ask, past);
}

/** Of one that has stood in line. */
interface Past {
  /** What is known of the rooms already. */
  readonly sharing: Sharing;
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
  const claims: GrantedClaim[] = [];
  let sharing = past?.sharing;
  for (const need of needs) {
    if (need.demands === null) {
      pick(turn, need, claims);
    } else {
      sharing ??= newcomer(turn, needs, ask);
      claims.push(...share(turn, need, sharing, claims.length));
    }
  }
  const endsAt = lifetimeEnd(needs, ask, turn.now);
  const request = turn.state.requests.get(id);
  emit(turn, {
    type: "lease-granted",
    id,
    ...(request === undefined ? { ask } : wantOf(request, past, turn.now)),
    claims,
    ...(endsAt === never ? undefined : { endsAt }),
    ...(request !== undefined && ask.presenceMs !== undefined ? { undelivered: true } : undefined),
    ...pacedBy(needs, ask.key ?? id, turn.now),
    ...admittedBy(needs),
  });
}

/** For its event. Who comes and goes in one moment has waited for nothing. */
function wantOf({ queuedAt }: Request, past: Past | undefined, now: Instant) {
  const waited = past === undefined || queuedAt === now ? null : past.waitedFor;
  return waited === null ? undefined : { waitedFor: waited };
}

/** One that has just come stands behind everybody of its priority. */
function newcomer({ state }: Turn, needs: readonly Need[], ask: ResolvedAsk): Sharing {
  const rank = { priority: ask.priority ?? 0, order: state.order + 1 };
  return { placed: placeAll(needs, rank), mine: new Set(), rank };
}

function pick(turn: Turn, need: Need, claims: GrantedClaim[]): void {
  const { pool, state, into, count } = need;
  const holdMs = into === cleaningState ? null : pool.policy.holdMs;
  let resource = pool.buckets.get(state)?.idle.first ?? null;
  for (let taken = 0; taken < count && resource !== null; taken++) {
    claims.push({
      id: String(claims.length + 1) as ClaimId,
      resource: resource.name,
      fence: turn.state.fence + claims.length + 1,
      ...(holdMs === null ? undefined : { heldUntil: after(turn.now, holdMs) }),
      ...(into === busyState ? undefined : { into }),
    });
    resource = resource.next;
  }
}

/** The strictest of what the pools allow and what was asked for. Cleaning takes what it takes. */
function lifetimeEnd(needs: readonly Need[], ask: ResolvedAsk, now: Instant): Instant {
  let lifetimeMs = ask.lifetimeMs ?? Number.POSITIVE_INFINITY;
  for (const { pool, into } of needs) {
    if (into === cleaningState) continue;
    lifetimeMs = Math.min(lifetimeMs, pool.policy.lifetimeMs ?? Number.POSITIVE_INFINITY);
  }
  return after(now, lifetimeMs);
}
