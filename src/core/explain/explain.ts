/** Explains why a request waits, with the same functions that decide on grants. */

import type { Obstacle } from "../gates/gate.ts";
import { closedUntil, gateObstacle } from "../gates/gates.ts";
import { descendants, limitOf, limitsFor } from "../gates/limits.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { coolingState, freeState } from "../model/lifecycle.ts";
import { isAhead } from "../model/rank.ts";
import {
  claimsOn,
  type ExclusiveNeed,
  idleCount,
  type Need,
  type Place,
  type Pool,
  queueAt,
  type Request,
  type SharedNeed,
} from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import {
  availableTo,
  countAt,
  isAvailable,
  keptFor,
  leaderOf,
  overtakenMax,
} from "../queue/needs.ts";
import { capacityObstacle, explainShared, type SharedExplanation } from "./explain-capacity.ts";
import { type HolderView, holderView, type WaitReason } from "./wait-reason.ts";

/** Describes the first obstacle of a request. */
export function waitReason(waiting: Request, now: Instant): WaitReason {
  const request = leaderOf(waiting);
  const needs = request.alternatives[0] ?? request.needs;
  const attempt = { needs, rank: request, now };
  const need =
    needs.find((one) => !isAvailable(one, request, now)) ??
    needs.find((one) => gateObstacle(attempt, one) !== null) ??
    needs[0];
  if (need === undefined) throw new Error(`Cannot explain ${request.id}: it has no needs`);
  const { gang } = request;
  if (gang !== null && !request.inLine) {
    const come = gang.members.length;
    const message = `${come} of the ${gang.size} of its group ${come === 1 ? "has" : "have"} come`;
    return { code: "group_incomplete", pool: need.pool.name, message };
  }
  const obstacle = gateObstacle(attempt, need) ?? shortage(need, request, now);
  const { code, what, shared } = obstacle;
  return { code, pool: need.pool.name, message: `${what}; ${lineText(need, request, shared)}` };
}

function lineText(need: Need, request: Request, shared: Pool | undefined): string {
  const ahead = queueAt(need).countBefore(request);
  if (ahead > 0) return `${ahead} ahead of you`;
  const isFirst = shared === undefined || !isBehindIn(shared, request);
  return isFirst ? "you are next" : `others that share ${shared.name} are ahead of you`;
}

function isBehindIn(shared: Pool, request: Request): boolean {
  for (const { buckets } of descendants(shared)) {
    for (const { queue } of buckets.values()) {
      const first = queue.at(0);
      if (first !== undefined && isAhead(first, request)) return true;
    }
  }
  return false;
}

/** Describes an obstacle other than a gate: requests ahead, or too few free resources. */
function shortage(need: Need, request: Request, now: Instant): Obstacle {
  return need.sharing === "shared"
    ? capacityObstacle(need, request)
    : exclusiveObstacle(need, request, now);
}

function exclusiveObstacle(need: ExclusiveNeed, request: Request, now: Instant): Obstacle {
  const { pool, count, state } = need;
  const { name, size } = pool;
  const free = idleCount(pool, state);
  if (free >= count) {
    const what = `${free} of ${size} ${name} ${state}`;
    return keptForOlder(need, request, now)
      ? { code: "kept_for_others", what: `${what}, kept for a request that has waited longer` }
      : { code: "behind_others", what: `${what}, but others are ahead of you` };
  }
  if (free > 0)
    return {
      code: "not_enough_free",
      what: `${free} of ${size} ${name} ${state}, ${count} needed`,
    };
  const { held } = pool;
  const resting = pool.shown.get(coolingState) ?? 0;
  if (held + resting === 0)
    return { code: "none_usable", what: `None of ${size} ${name} can be lent${mix(pool)}` };
  if (held >= size && state === freeState) return { code: "no_free", what: allHeld(name, size) };
  return { code: "no_free", what: `No ${name} is ${state}${mix(pool)}` };
}

function allHeld(pool: PoolName, size: number): string {
  return size === 1 ? `The only one of ${pool} is held` : `All ${size} of ${pool} are held`;
}

/** Whether resources are kept for an older request over several pools whose patience is over. */
function keptForOlder(place: Place, request: Request, now: Instant): boolean {
  let looked = 0;
  for (const ahead of queueAt(place)) {
    if (ahead === request || looked === overtakenMax) return false;
    looked += 1;
    const kept = keptFor(ahead, place, now);
    if (kept > 0) return Number.isFinite(kept);
  }
  return false;
}

function mix(pool: Pool): string {
  const counts = [...pool.shown].filter(([, count]) => count > 0);
  const text = counts.map(([state, count]) => `${count} ${state}`).join(", ");
  return text === "" ? "" : ` (${text})`;
}

export interface NeedExplanation {
  readonly pool: PoolName;
  /** The state of the resources that it needs. */
  readonly state: string;
  readonly needed: number;
  /** Free, and not kept for a request ahead. */
  readonly available: number;
  readonly free: number;
  readonly size: number;
  readonly states: Readonly<Record<string, number>>;
  /** The time of the next possible grant; null if no gate is closed until a known time. */
  readonly nextAt: Instant | null;
  /** The pool that has this gate: the pool itself, or an ancestor. */
  readonly nextBy: PoolName | null;
  /** The shared limits and their use, nearest first. */
  readonly limits: readonly LimitView[];
  readonly ahead: number;
  /** The requests ahead of it, first in the queue first. At most `listedMax`. */
  readonly aheadOfIt: readonly {
    readonly id: RequestId;
    readonly holder: string;
    readonly count: number;
    readonly keeps: number | "all";
  }[];
  /** The holders of the pool's resources, longest hold first. At most `listedMax`. */
  readonly heldBy: readonly HolderView[];
  /** For a shared pool: each resource and what it lacks. At most `listedMax`. */
  readonly rooms: readonly SharedExplanation[] | null;
}

export interface LimitView {
  readonly pool: PoolName;
  readonly used: number;
  readonly limit: number;
}

export function limitViews(pool: Pool): LimitView[] {
  return Array.from(limitsFor(pool), (limit) => {
    return { pool: limit.name, used: limit.used, limit: limitOf(limit) };
  });
}

/**
 * The time of the next possible grant and the pool whose gate is closed; null if no gate has a
 * known time.
 */
export function nextGrant(pool: Pool, now: Instant): NextGrant {
  const closed = closedUntil(pool, now);
  if (closed === null) return { nextAt: null, nextBy: null };
  return { nextAt: closed.until, nextBy: closed.by.name };
}

type NextGrant = Pick<NeedExplanation, "nextAt" | "nextBy">;

/** The maximum length of lists for people. The counts next to them are complete. */
export const listedMax = 20;

/** Explains each need of a request. */
export function explainNeeds(waiting: Request, now: Instant): NeedExplanation[] {
  const request = leaderOf(waiting);
  return request.needs.map((need) => ({
    pool: need.pool.name,
    state: need.state,
    needed: need.count,
    ...(need.sharing === "shared" ? sharedCounts(need, request) : counts(need, request, now)),
    size: need.pool.size,
    states: statesOf(need.pool),
    ...nextGrant(need.pool, now),
    limits: limitViews(need.pool),
    ahead: queueAt(need).countBefore(request),
    aheadOfIt: aheadOf(request, need, now),
    heldBy: holdersOf(need.pool),
  }));
}

type Counts = Pick<NeedExplanation, "available" | "free" | "rooms">;

function counts(need: ExclusiveNeed, request: Request, now: Instant): Counts {
  const available = availableTo(need, request, now);
  return { available, free: idleCount(need.pool, need.state), rooms: null };
}

function sharedCounts(need: SharedNeed, request: Request): Counts {
  const resources = explainShared(need, request);
  const fitting = resources.filter(({ fits }) => fits).length;
  return { available: fitting, free: fitting, rooms: resources.slice(0, listedMax) };
}

function aheadOf(request: Request, place: Place, now: Instant): NeedExplanation["aheadOfIt"] {
  const ahead = [];
  for (const other of queueAt(place)) {
    if (other === request || ahead.length === listedMax) break;
    const kept = keptFor(other, place, now);
    ahead.push({
      id: other.id,
      holder: other.ask.holder,
      count: countAt(other, place),
      keeps: Number.isFinite(kept) ? kept : ("all" as const),
    });
  }
  return ahead;
}

function holdersOf(pool: Pool): HolderView[] {
  const claims = [...pool.members].flatMap((resource) => [...claimsOn(resource)]);
  claims.sort((a, b) => a.lease.grantedAt - b.lease.grantedAt);
  return claims.slice(0, listedMax).map(holderView);
}

/** The number of resources in each state, without zeros. */
export function statesOf(pool: Pool): Record<string, number> {
  return Object.fromEntries([...pool.shown].filter(([, count]) => count > 0));
}
