/** Why a request waits, found by the very functions that made it wait. */
import { formatDuration, roughDuration } from "./duration.ts";
import { availableTo, countAt, keeps, overtakenMax } from "./grant.ts";
import type { PoolName, RequestId, ResourceName } from "./ids.ts";
import { lacking, limitOf, limitsFor } from "./limit-tree.ts";
import { isOpen, isPaced, opensAt } from "./pace.ts";
import {
  coolingState,
  freeState,
  idleCount,
  type Need,
  type Place,
  type Pool,
  queueAt,
  type Request,
} from "./state.ts";
import { earliest, type Instant, never } from "./time.ts";

export interface WaitReason {
  readonly code:
    | "no_free"
    | "behind_others"
    | "kept_for_others"
    | "not_enough_free"
    | "none_usable"
    /** It is there; its time has not come. */
    | "paced"
    /** It is there; a pool that it draws on has lent all that it may. */
    | "limit_reached";
  readonly pool: PoolName;
  readonly message: string;
}

/** The first thing in a request's way, in words. */
export function waitReason(request: Request, now: Instant): WaitReason {
  const needs = request.options[0] ?? request.needs;
  const [first] = needs;
  const short = needs.find((place) => availableTo(place, request, now) < place.count);
  const need = short ?? needs.find((other) => !isOpen(other, now)) ?? first;
  if (need === undefined) throw new Error(`Cannot explain ${request.id}: it needs nothing`);
  const ahead = queueAt(need).countBefore(request);
  const line = ahead === 0 ? "you are next" : `${ahead} ahead of you`;
  const { code, what } =
    heldBack(need, now) ?? overLimit(needs, need) ?? obstacle(need, request, now);
  return { code, pool: need.pool.name, message: `${what}; ${line}` };
}

type Obstacle = { readonly code: WaitReason["code"]; readonly what: string };

/** Enough is there, but it is not lent before its time. */
function heldBack(need: Need, now: Instant): Obstacle | undefined {
  const { pool, state, count } = need;
  if (isOpen(need, now) || idleCount(pool, state) < count) return undefined;
  const every = formatDuration(pool.pace.everyMs);
  const next = roughDuration(Math.ceil((opensAt(pool) - now) / 1_000) * 1_000);
  const free = `${idleCount(pool, state)} of ${pool.size} ${pool.name} ${state}`;
  return { code: "paced", what: `${free}, lent one every ${every}, the next in ${next}` };
}

/** Enough is there, but all that share a limit have as much as they may have together. */
function overLimit(needs: readonly Need[], { pool, state, count }: Need): Obstacle | undefined {
  const [limit] = lacking(needs);
  if (limit === undefined || idleCount(pool, state) < count) return undefined;
  const what = `${limit.used} of ${limitOf(limit)} ${limit.name} are lent to all that share it`;
  return { code: "limit_reached", what };
}

function obstacle(need: Need, request: Request, now: Instant): Obstacle {
  const { pool, count, state } = need;
  const { name, size } = pool;
  const free = idleCount(pool, state);
  if (free >= count) {
    const what = `${free} of ${size} ${name} ${state}`;
    return keptForOlder(need, request, now)
      ? { code: "kept_for_others", what: `${what}, kept for a request that has waited longer` }
      : { code: "behind_others", what: `${what}, but others are before you` };
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
  if (held >= size && state === freeState)
    return { code: "no_free", what: `All ${size} of ${name} are held` };
  return { code: "no_free", what: `No ${name} is ${state}${mix(pool)}` };
}

/** True where an older request over several pools has run out of patience. */
function keptForOlder(place: Place, request: Request, now: Instant): boolean {
  let looked = 0;
  for (const ahead of queueAt(place)) {
    if (ahead === request || looked === overtakenMax) return false;
    looked += 1;
    const kept = keeps(ahead, place, now);
    if (kept > 0) return Number.isFinite(kept);
  }
  return false;
}

function mix(pool: Pool): string {
  const counts = [...pool.shown].filter(([, count]) => count > 0);
  const text = counts.map(([state, count]) => `${count} ${state}`).join(", ");
  return text === "" ? "" : ` (${text})`;
}

export interface HolderView {
  readonly id: RequestId;
  readonly holder: string;
  readonly resource: ResourceName;
  readonly since: Instant;
  /** When it comes back at the latest if nothing more is heard of its holder; null: never. */
  readonly backBy: Instant | null;
}

export interface NeedExplanation {
  readonly pool: PoolName;
  /** Those in this state are wanted. */
  readonly state: string;
  readonly needed: number;
  /** Free and not kept for somebody before this request. */
  readonly available: number;
  readonly free: number;
  readonly size: number;
  readonly states: Readonly<Record<string, number>>;
  /** When the pool's pace allows the next grant; null: it has none, or at once. */
  readonly nextAt: Instant | null;
  /** What it draws on, with what that has lent: the nearest first. */
  readonly limits: readonly LimitView[];
  readonly ahead: number;
  /** Who stands before it, first come first. At most `listedMax`. */
  readonly aheadOfIt: readonly {
    readonly id: RequestId;
    readonly holder: string;
    readonly count: number;
    readonly keeps: number | "all";
  }[];
  /** Who holds the pool's resources, longest first. At most `listedMax`. */
  readonly heldBy: readonly HolderView[];
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

/** When the next grant may come; null: now, or there is no pace. */
export function nextGrantAt(pool: Pool, now: Instant): Instant | null {
  return isPaced(pool) && opensAt(pool) > now ? opensAt(pool) : null;
}

/** As many neighbours and holders as a person reads; the counts beside them are complete. */
export const listedMax = 20;

/** Everything that a request waits for, pool by pool. */
export function explainNeeds(request: Request, now: Instant): NeedExplanation[] {
  return request.needs.map((need) => ({
    pool: need.pool.name,
    state: need.state,
    needed: need.count,
    available: availableTo(need, request, now),
    free: idleCount(need.pool, need.state),
    size: need.pool.size,
    states: statesOf(need.pool),
    nextAt: nextGrantAt(need.pool, now),
    limits: limitViews(need.pool),
    ahead: queueAt(need).countBefore(request),
    aheadOfIt: aheadOf(request, need, now),
    heldBy: holdersOf(need.pool),
  }));
}

function aheadOf(request: Request, place: Place, now: Instant): NeedExplanation["aheadOfIt"] {
  const ahead = [];
  for (const other of queueAt(place)) {
    if (other === request || ahead.length === listedMax) break;
    const kept = keeps(other, place, now);
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
  const claims = [...pool.members].flatMap(({ claim }) => claim ?? []);
  claims.sort((a, b) => a.lease.grantedAt - b.lease.grantedAt);
  return claims.slice(0, listedMax).map(({ lease, resource, heldUntil }) => ({
    id: lease.id,
    holder: lease.ask.holder,
    resource: resource.name,
    since: lease.grantedAt,
    backBy: backBy(earliest(heldUntil, earliest(lease.expiresAt, lease.endsAt))),
  }));
}

function backBy(at: Instant): Instant | null {
  return at === never ? null : at;
}

/** How many of a pool are in which state, without the states that none is in. */
export function statesOf(pool: Pool): Record<string, number> {
  return Object.fromEntries([...pool.shown].filter(([, count]) => count > 0));
}
