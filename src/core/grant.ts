/**
 * Who gets what, and when.
 *
 * Each shelf (a pool's resources in one state; mostly the free ones) has one queue, and a request
 * stands in the queue of every shelf that it needs, in one order that is the same everywhere: so two
 * requests over several pools can never wait for each other. A request that needs one shelf only is
 * never overtaken at it. One that needs several may be, until it has waited for the pool's patience;
 * from then on what comes free is kept for it.
 *
 * After every change that may let somebody through, `serve` is called for the pools concerned.
 * So between commands nobody waits whose turn it is and whose needs are there.
 */
import { hadChoice, isForOnePool } from "./any-of.ts";
import { removeIfDeserted } from "./deserted.ts";
import type { GrantedClaim, ResolvedAsk } from "./event.ts";
import type { ClaimId, RequestId } from "./ids.ts";
import { hasKin, hasRoom, kinOf } from "./limit-tree.ts";
import { isOpen, pacedBy } from "./pace.ts";
import { compareRank, type Ranked } from "./ranked-queue.ts";
import {
  busyState,
  cleaningState,
  type Need,
  type Place,
  type Pool,
  type Request,
  type Shelf,
} from "./state.ts";
import { after, type Instant, never } from "./time.ts";
import { emit, type Turn } from "./turn.ts";

/**
 * How many requests that cannot go yet are looked past for one that can. It bounds what a decision
 * costs where thousands wait for several pools at once. Behind so many, a request waits its turn.
 */
export const overtakenMax = 100;

/** Whether everything can be had now by one who stands at this rank. */
export function fits(needs: readonly Need[], rank: Ranked, now: Instant): boolean {
  return (
    mayGo(needs, rank, now) && needs.every((need) => need.count <= availableTo(need, rank, now))
  );
}

/** Whether it is time and no limit is in the way, whatever is there. */
function mayGo(needs: readonly Need[], rank: Ranked, now: Instant): boolean {
  return needs.every((need) => isOpen(need, now)) && hasRoom(needs, rank, now);
}

/** How many are there and not kept for somebody before this rank. */
export function availableTo(place: Place, rank: Ranked, now: Instant): number {
  const shelf = place.pool.shelves.get(place.state);
  if (shelf === undefined) return 0;
  let available = shelf.idle.size;
  if (available === 0 || shelf.queue.size === 0) return available;
  let looked = 0;
  for (const ahead of shelf.queue) {
    if (compareRank(ahead, rank) >= 0) break;
    if (looked === overtakenMax) return 0;
    looked += 1;
    available -= keeps(ahead, shelf, now);
    if (available <= 0) return 0;
  }
  return available;
}

/** How many a request that waits keeps from all who stand behind it. */
export function keeps(request: Request, place: Place, now: Instant): number {
  if (isForOnePool(request)) return Number.POSITIVE_INFINITY;
  if (now - request.queuedAt < place.pool.policy.patienceMs) return 0;
  return countAt(request, place);
}

export function countAt(request: Request, place: Place): number {
  return Math.max(0, ...request.options.map((needs) => countIn(needs, place)));
}

function countIn(needs: readonly Need[], place: Place): number {
  return needs.find((need) => isAt(need, place))?.count ?? 0;
}

function isAt(need: Need, { pool, state }: Place): boolean {
  return need.pool === pool && need.state === state;
}

/** Grants to everybody in the pool's queues who can go now, in order. */
export function serve(turn: Turn, pool: Pool): void {
  if (hasKin(pool)) return serveKin(turn, pool);
  if (pool.waiting > 0) for (const shelf of lines([pool])) serveShelf(turn, shelf);
}

/** What one gives back another may take, so all that share a limit are served, eldest first. */
function serveKin(turn: Turn, pool: Pool): void {
  for (let before = -1; before !== turn.events.length; ) {
    before = turn.events.length;
    for (const shelf of lines(kinOf(pool))) serveShelf(turn, shelf);
  }
}

/** The shelves that have both something to lend and somebody who waits, by who waits first. */
function lines(pools: Iterable<Pool>): Shelf[] {
  const found: Shelf[] = [];
  for (const { shelves } of pools) {
    for (const shelf of shelves.values()) {
      if (shelf.queue.size > 0 && shelf.idle.size > 0) found.push(shelf);
    }
  }
  const first = (shelf: Shelf): Ranked => shelf.queue.at(0) ?? last;
  return found.sort((a, b) => compareRank(first(a), first(b)));
}

const last: Ranked = { priority: Number.NEGATIVE_INFINITY, order: 0 };

function serveShelf(turn: Turn, shelf: Shelf): void {
  const shortened = new Set<Pool>();
  let place = 0;
  let available = shelf.idle.size;
  while (available > 0 && place < overtakenMax) {
    const request = shelf.queue.at(place);
    if (request === undefined) break;
    const needs = request.options.find((option) => {
      return countIn(option, shelf) <= available && fitsFrom(option, request, shelf, turn.now);
    });
    if (needs !== undefined) {
      grant(turn, request.id, needs, request.ask);
      available -= countIn(needs, shelf);
      for (const need of request.needs) {
        if (!isAt(need, shelf) && (hadChoice(request) || need.pool.waiting >= overtakenMax))
          shortened.add(need.pool);
      }
    } else {
      available -= keeps(request, shelf, turn.now);
      place += 1;
    }
  }
  // Where not all of a line is looked at, or a line was stood in for nothing, others can go now.
  for (const other of shortened) {
    serve(turn, other);
    removeIfDeserted(turn, other);
  }
}

/** Whether a way to be served begins here and everything else of it is to be had. */
function fitsFrom(needs: readonly Need[], request: Request, here: Shelf, now: Instant): boolean {
  if (countIn(needs, here) === 0 || !mayGo(needs, request, now)) return false;
  return needs.every((need) => {
    return isAt(need, here) || need.count <= availableTo(need, request, now);
  });
}

/** Lends those untouched the longest. The caller has made sure that they are there. */
export function grant(turn: Turn, id: RequestId, needs: readonly Need[], ask: ResolvedAsk): void {
  const claims: GrantedClaim[] = [];
  for (const need of needs) pick(turn, need, claims);
  const endsAt = lifetimeEnd(needs, ask, turn.now);
  const waited = turn.state.requests.has(id);
  emit(turn, {
    type: "lease-granted",
    id,
    ...(waited ? undefined : { ask }),
    claims,
    ...(endsAt === never ? undefined : { endsAt }),
    ...(waited && ask.presenceMs !== undefined ? { undelivered: true } : undefined),
    ...pacedBy(needs, ask.key ?? id, turn.now),
  });
}

function pick(turn: Turn, need: Need, claims: GrantedClaim[]): void {
  const { pool, state, into, count } = need;
  const holdMs = into === cleaningState ? null : pool.policy.holdMs;
  let resource = pool.shelves.get(state)?.idle.first ?? null;
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
