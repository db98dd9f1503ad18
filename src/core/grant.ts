/**
 * Who gets what, and when.
 *
 * Each pool has one queue, and a request stands in the queue of every pool that it needs, in one
 * order that is the same everywhere: so two requests over several pools can never wait for each
 * other. A request that needs one pool only is never overtaken in it. One that needs several may
 * be, until it has waited for the pool's patience; from then on what comes free is kept for it.
 *
 * After every change that may let somebody through, `serve` is called for the pools concerned.
 * So between commands nobody waits whose turn it is and whose needs are free.
 */
import type { GrantedClaim, ResolvedAsk } from "./event.ts";
import type { ClaimId, RequestId } from "./ids.ts";
import { compareRank, type Ranked } from "./ranked-queue.ts";
import { freeCount, freeState, type Need, type Pool, type Request } from "./state.ts";
import { after, type Instant, never } from "./time.ts";
import { emit, type Turn } from "./turn.ts";

/**
 * How many requests that cannot go yet are looked past for one that can. It bounds what a decision
 * costs where thousands wait for several pools at once. Behind so many, a request waits its turn.
 */
export const overtakenMax = 100;

/** Whether everything can be had now by one who stands at this rank. */
export function fits(needs: readonly Need[], rank: Ranked, now: Instant): boolean {
  return needs.every(({ pool, count }) => count <= availableTo(pool, rank, now));
}

/** How many of a pool are free and not kept for somebody before this rank. */
export function availableTo(pool: Pool, rank: Ranked, now: Instant): number {
  let available = freeCount(pool);
  if (available === 0 || pool.queue.size === 0) return available;
  let looked = 0;
  for (const ahead of pool.queue) {
    if (compareRank(ahead, rank) >= 0) break;
    if (looked === overtakenMax) return 0;
    looked += 1;
    available -= keeps(ahead, pool, now);
    if (available <= 0) return 0;
  }
  return available;
}

/** How many free ones a request that waits keeps from all who stand behind it. */
export function keeps(request: Request, pool: Pool, now: Instant): number {
  if (request.needs.length === 1) return Number.POSITIVE_INFINITY;
  if (now - request.queuedAt < pool.policy.patienceMs) return 0;
  return countIn(request, pool);
}

export function countIn(request: Request, pool: Pool): number {
  return request.needs.find((need) => need.pool === pool)?.count ?? 0;
}

/** Grants to everybody in the pool's queue who can go now, in order. */
export function serve(turn: Turn, pool: Pool): void {
  const shortened = new Set<Pool>();
  let place = 0;
  let available = freeCount(pool);
  while (available > 0 && place < overtakenMax) {
    const request = pool.queue.at(place);
    if (request === undefined) break;
    const count = countIn(request, pool);
    if (count <= available && fitsElsewhere(request, pool, turn.now)) {
      grant(turn, request.id, request.needs, request.ask);
      available -= count;
      for (const need of request.needs) if (need.pool !== pool) shortened.add(need.pool);
    } else {
      available -= keeps(request, pool, turn.now);
      place += 1;
    }
  }
  // In a line so long that not all of it is looked at, a grant elsewhere brings others within reach.
  for (const other of shortened) if (other.queue.size >= overtakenMax) serve(turn, other);
}

function fitsElsewhere(request: Request, here: Pool, now: Instant): boolean {
  for (const { pool, count } of request.needs) {
    if (pool !== here && count > availableTo(pool, request, now)) return false;
  }
  return true;
}

/** Lends the longest idle resources. The caller has made sure that they are there. */
export function grant(turn: Turn, id: RequestId, needs: readonly Need[], ask: ResolvedAsk): void {
  const claims: GrantedClaim[] = [];
  for (const need of needs) pick(turn, need, claims);
  const endsAt = lifetimeEnd(needs, ask, turn.now);
  emit(turn, {
    type: "lease-granted",
    id,
    ...(turn.state.requests.has(id) ? undefined : { ask }),
    claims,
    ...(endsAt === never ? undefined : { endsAt }),
  });
}

function pick(turn: Turn, { pool, count }: Need, claims: GrantedClaim[]): void {
  const { holdMs } = pool.policy;
  let resource = pool.idle.get(freeState)?.first ?? null;
  for (let taken = 0; taken < count && resource !== null; taken++) {
    claims.push({
      id: String(claims.length + 1) as ClaimId,
      resource: resource.name,
      fence: turn.state.fence + claims.length + 1,
      ...(holdMs === null ? undefined : { heldUntil: after(turn.now, holdMs) }),
    });
    resource = resource.next;
  }
}

/** The strictest of what the pools allow and what was asked for. */
function lifetimeEnd(needs: readonly Need[], ask: ResolvedAsk, now: Instant): Instant {
  let lifetimeMs = ask.lifetimeMs ?? Number.POSITIVE_INFINITY;
  for (const { pool } of needs) {
    lifetimeMs = Math.min(lifetimeMs, pool.policy.lifetimeMs ?? Number.POSITIVE_INFINITY);
  }
  return after(now, lifetimeMs);
}
