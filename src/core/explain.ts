/** Why a request waits, found by the very functions that made it wait. */
import { availableTo, countIn, keeps, overtakenMax } from "./grant.ts";
import type { PoolName, RequestId, ResourceName } from "./ids.ts";
import { busyState, coolingState, freeCount, type Need, type Pool, type Request } from "./state.ts";
import { type Instant, never } from "./time.ts";

export interface WaitReason {
  readonly code:
    | "no_free"
    | "behind_others"
    | "kept_for_others"
    | "not_enough_free"
    | "none_usable";
  readonly pool: PoolName;
  readonly message: string;
}

/** The first thing in a request's way, in words. */
export function waitReason(request: Request, now: Instant): WaitReason {
  const [first] = request.needs;
  const short = request.needs.find(({ pool, count }) => availableTo(pool, request, now) < count);
  const need = short ?? first;
  if (need === undefined) throw new Error(`Cannot explain ${request.id}: it needs nothing`);
  const ahead = need.pool.queue.countBefore(request);
  const line = ahead === 0 ? "you are next" : `${ahead} ahead of you`;
  const { code, what } = obstacle(need, request, now);
  return { code, pool: need.pool.name, message: `${what}; ${line}` };
}

function obstacle(
  { pool, count }: Need,
  request: Request,
  now: Instant,
): { code: WaitReason["code"]; what: string } {
  const { name, size } = pool;
  const free = freeCount(pool);
  if (free >= count) {
    const what = `${free} of ${size} ${name} free`;
    return keptForOlder(pool, request, now)
      ? { code: "kept_for_others", what: `${what}, kept for a request that has waited longer` }
      : { code: "behind_others", what: `${what}, but others are before you` };
  }
  if (free > 0)
    return { code: "not_enough_free", what: `${free} of ${size} ${name} free, ${count} needed` };
  const held = pool.shown.get(busyState) ?? 0;
  const resting = pool.shown.get(coolingState) ?? 0;
  if (held + resting === 0)
    return { code: "none_usable", what: `None of ${size} ${name} can be lent (${mix(pool)})` };
  if (held >= size) return { code: "no_free", what: `All ${size} of ${name} are held` };
  return { code: "no_free", what: `No ${name} is free (${mix(pool)})` };
}

/** True where an older request over several pools has run out of patience. */
function keptForOlder(pool: Pool, request: Request, now: Instant): boolean {
  let looked = 0;
  for (const ahead of pool.queue) {
    if (ahead === request || looked === overtakenMax) return false;
    looked += 1;
    const kept = keeps(ahead, pool, now);
    if (kept > 0) return Number.isFinite(kept);
  }
  return false;
}

function mix(pool: Pool): string {
  const counts = [...pool.shown].filter(([, count]) => count > 0);
  return counts.map(([state, count]) => `${count} ${state}`).join(", ");
}

export interface HolderView {
  readonly id: RequestId;
  readonly holder: string;
  readonly resource: ResourceName;
  readonly since: Instant;
  /** When it comes back at the latest if nothing more is heard of its holder. */
  readonly backBy: Instant;
}

export interface NeedExplanation {
  readonly pool: PoolName;
  readonly needed: number;
  /** Free and not kept for somebody before this request. */
  readonly available: number;
  readonly free: number;
  readonly size: number;
  readonly states: Readonly<Record<string, number>>;
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

/** As many neighbours and holders as a person reads; the counts beside them are complete. */
export const listedMax = 20;

/** Everything that a request waits for, pool by pool. */
export function explainNeeds(request: Request, now: Instant): NeedExplanation[] {
  return request.needs.map(({ pool, count }) => ({
    pool: pool.name,
    needed: count,
    available: availableTo(pool, request, now),
    free: freeCount(pool),
    size: pool.size,
    states: statesOf(pool),
    ahead: pool.queue.countBefore(request),
    aheadOfIt: aheadOf(request, pool, now),
    heldBy: holdersOf(pool),
  }));
}

function aheadOf(request: Request, pool: Pool, now: Instant): NeedExplanation["aheadOfIt"] {
  const ahead = [];
  for (const other of pool.queue) {
    if (other === request || ahead.length === listedMax) break;
    const kept = keeps(other, pool, now);
    ahead.push({
      id: other.id,
      holder: other.ask.holder,
      count: countIn(other, pool),
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
    backBy: heldUntil === never ? lease.dueAt : (Math.min(heldUntil, lease.dueAt) as Instant),
  }));
}

/** How many of a pool are in which state, without the states that none is in. */
export function statesOf(pool: Pool): Record<string, number> {
  return Object.fromEntries([...pool.shown].filter(([, count]) => count > 0));
}
