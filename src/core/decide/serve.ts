/**
 * Who goes next. Each bucket has one queue, and a request stands in the queue of every bucket that it
 * needs, at a rank that is the same everywhere: so two requests over several pools can never wait for
 * each other. A request that needs one pool only is never overtaken in it. One that needs several may
 * be, until it has waited for the pool's patience; from then on what comes free is kept for it.
 *
 * In a shared pool any request that fits may go, until a request ahead is starved: room is reserved for it
 * then (`shared/reserve.ts`).
 */
import { passesGates } from "../gates/gates.ts";
import { cohortOf, hasCohort } from "../gates/limits.ts";
import { freeState } from "../model/lifecycle.ts";
import { compareRank, firstRank, type Rank } from "../model/rank.ts";
import {
  type Bucket,
  isShared,
  type Need,
  type Pool,
  queueAt,
  type Request,
} from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { isSamePlace } from "../queue/alternatives.ts";
import { countIn, isAvailable, keptFor, overtakenMax } from "../queue/available.ts";
import { couldUse, reachMax } from "../shared/place.ts";
import type { Shareable } from "../shared/placement/shareable.ts";
import { retriedReservations } from "../shared/reserve.ts";
import { grantRequest } from "./grant.ts";
import { emit, type Turn } from "./turn.ts";

/** Whether everything can be had now at this rank. */
export function fits(needs: readonly Need[], rank: Rank, now: Instant): boolean {
  return passesGates(needs, rank, now) && needs.every((need) => isAvailable(need, rank, now));
}

/** Grants to every waiting request of the pool that can go now, in order; then it is settled. */
export function serve(turn: Turn, pool: Pool): void {
  const { touched } = turn;
  if (hasCohort(pool)) {
    // What one gives up another may take, so all that share a limit are served together.
    const cohort = [...cohortOf(pool)];
    for (let before = -1; before !== turn.events.length; ) {
      before = turn.events.length;
      servePools(turn, cohort);
    }
    for (const member of cohort) touched.delete(member);
  } else {
    if (pool.waiting > 0) servePools(turn, [pool]);
    else pool.cache.freed.clear();
    touched.delete(pool);
  }
}

function servePools(turn: Turn, pools: readonly Pool[]): void {
  for (const bucket of bucketsToServe(pools)) serveBucket(turn, bucket);
  for (const pool of pools) if (isShared(pool)) serveShared(turn, pool);
}

/** Buckets with idle resources and waiting requests, in the order of the first waiting request. */
function bucketsToServe(pools: readonly Pool[]): Bucket[] {
  const found: Bucket[] = [];
  for (const { buckets } of pools) {
    for (const bucket of buckets.values()) {
      if (bucket.queue.size > 0 && bucket.idle.size > 0) found.push(bucket);
    }
  }
  return found.sort((a, b) => compareRank(firstRank(a.queue), firstRank(b.queue)));
}

function serveBucket(turn: Turn, bucket: Bucket): void {
  let place = 0;
  let available = bucket.idle.size;
  while (available > 0 && place < overtakenMax) {
    const request = bucket.queue.at(place);
    if (request === undefined) break;
    const needs = request.alternatives.find((alternative) => {
      return (
        countIn(alternative, bucket) <= available &&
        fitsFrom(alternative, request, bucket, turn.now)
      );
    });
    if (needs !== undefined) {
      grantRequest(turn, request, needs);
      available -= countIn(needs, bucket);
    } else {
      // What has come free here may be all that it lacks once a gate opens.
      if (request.cache.evaluated) request.cache.evaluated = isUngated(request, turn.now);
      available -= keptFor(request, bucket, turn.now);
      place += 1;
    }
  }
}

/** Whether an alternative begins here and everything else of it is to be had. */
function fitsFrom(needs: readonly Need[], request: Request, here: Bucket, now: Instant): boolean {
  if (countIn(needs, here) === 0 || !passesGates(needs, request, now)) return false;
  return needs.every((need) => isSamePlace(need, here) || isAvailable(need, request, now));
}

/**
 * Evaluates only requests that could use what was freed. Every other one in the queue was found not
 * to fit, and nothing that it could use has changed.
 */
function serveShared(turn: Turn, pool: Pool): void {
  for (const [{ id }, rooms] of retriedReservations(pool, turn.state)) {
    emit(turn, { type: "room-kept", id, rooms });
  }
  const queue = queueAt({ pool, state: freeState });
  const freed = new Set<Shareable>();
  let place = 0;
  while (place < reachMax) {
    for (const resource of pool.cache.freed) freed.add(resource);
    pool.cache.freed.clear();
    const request = queue.at(place);
    if (request === undefined) break;
    const isWorthIt = !request.cache.evaluated || couldUse(request, pool, freed);
    const needs = isWorthIt ? evaluate(turn, request) : undefined;
    if (needs === undefined) place += 1;
    else grantRequest(turn, request, needs);
  }
}

/** The first alternative that fits now. Remembers where nothing but a lack of room is in the way. */
function evaluate({ state, now }: Turn, request: Request): readonly Need[] | undefined {
  state.cache.evaluations += 1;
  request.cache.evaluated = isUngated(request, now);
  return request.alternatives.find((needs) => fits(needs, request, now));
}

/** A request behind a gate must be evaluated again although nothing has come free. */
function isUngated(request: Request, now: Instant): boolean {
  return request.alternatives.every((needs) => passesGates(needs, request, now));
}
