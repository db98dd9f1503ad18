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
import type { GrantedClaim, ResolvedAsk } from "./event.ts";
import type { ClaimId, RequestId } from "./ids.ts";
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
  return mayGo(needs, now) && needs.every((need) => need.count <= availableTo(need, rank, now));
}

/** Whether it is time, whatever is there. */
function mayGo(needs: readonly Need[], now: Instant): boolean {
  return needs.every((need) => isOpen(need, now));
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
  if (request.needs.length === 1) return Number.POSITIVE_INFINITY;
  if (now - request.queuedAt < place.pool.policy.patienceMs) return 0;
  return countAt(request, place);
}

export function countAt(request: Request, place: Place): number {
  return request.needs.find((need) => isAt(need, place))?.count ?? 0;
}

function isAt(need: Need, { pool, state }: Place): boolean {
  return need.pool === pool && need.state === state;
}

/** Grants to everybody in the pool's queues who can go now, in order. */
export function serve(turn: Turn, pool: Pool): void {
  if (pool.waiting === 0) return;
  for (const shelf of [...pool.shelves.values()]) {
    if (shelf.queue.size > 0 && shelf.idle.size > 0) serveShelf(turn, shelf);
  }
}

function serveShelf(turn: Turn, shelf: Shelf): void {
  const shortened = new Set<Pool>();
  let place = 0;
  let available = shelf.idle.size;
  while (available > 0 && place < overtakenMax) {
    const request = shelf.queue.at(place);
    if (request === undefined) break;
    const count = countAt(request, shelf);
    const fit = count <= available && mayGo(request.needs, turn.now);
    if (fit && fitsElsewhere(request, shelf, turn.now)) {
      grant(turn, request.id, request.needs, request.ask);
      available -= count;
      for (const need of request.needs) if (!isAt(need, shelf)) shortened.add(need.pool);
    } else {
      available -= keeps(request, shelf, turn.now);
      place += 1;
    }
  }
  // In a line so long that not all of it is looked at, a grant elsewhere brings others within reach.
  for (const other of shortened) if (other.waiting >= overtakenMax) serve(turn, other);
}

function fitsElsewhere(request: Request, here: Shelf, now: Instant): boolean {
  for (const need of request.needs) {
    if (!isAt(need, here) && need.count > availableTo(need, request, now)) return false;
  }
  return true;
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
