/** Placement in a shared pool, as a need at some rank sees it. */
import type { GrantedClaim } from "../model/event.ts";
import type { ClaimId } from "../model/ids.ts";
import type { Rank } from "../model/rank.ts";
import {
  type Need,
  type Pool,
  queueAt,
  type Request,
  type SharedNeed,
  type SharedResource,
} from "../model/state.ts";
import { after, type Instant } from "../model/time.ts";
import type { Demand } from "./placement/demand.ts";
import { pickParts, type View } from "./placement/fit.ts";
import { type Candidates, isFitting, place } from "./placement/plan.ts";
import { levelOf, type Part, type Shareable } from "./placement/shareable.ts";

/**
 * How many requests that cannot go are looked past in a shared pool. Looking past one costs little:
 * it is compared with what has come free, not with the whole pool.
 */
export const reachMax = 2_000;

/** The resources that were found for each demand. */
type Placed = ReadonlyMap<Demand, readonly SharedResource[]>;

/** Where the shared needs of a grant go, and the parts that its claims have been given so far. */
export interface Placement {
  readonly placed: Placed;
  /** Parts that have been given to others of the same gang, or to the same request. */
  readonly mine: Set<Part>;
  readonly rank: Rank;
}

export function candidatesOf(pool: Pool): Candidates<SharedResource> {
  return { strategy: pool.policy.placement?.strategy ?? "least-used", resources: pool.shared };
}

export function viewOf({ owner }: SharedNeed, rank: Rank): View {
  return { rank, owner };
}

/** Whether all that is wanted of this pool can be had now at this rank. */
export function canPlace(need: SharedNeed, rank: Rank): boolean {
  return isWithinReach(need, rank) && placedFor(need, rank) !== undefined;
}

/** A request with `reachMax` others ahead waits its turn. */
export function isWithinReach(need: Need, rank: Rank): boolean {
  const queue = queueAt(need);
  return queue.size < reachMax || queue.countBefore(rank) < reachMax;
}

function placedFor(need: SharedNeed, rank: Rank): SharedResource[][] | undefined {
  return place(candidatesOf(need.pool), need.demands, viewOf(need, rank));
}

const nothing: Placed = new Map();

/** Where everything goes. The caller has made sure that it fits. */
export function placeAll(needs: readonly Need[], rank: Rank): Placement {
  const mine = new Set<Part>();
  if (needs.every(({ sharing }) => sharing === "exclusive")) return { placed: nothing, mine, rank };
  const placed = new Map<Demand, readonly SharedResource[]>();
  for (const need of needs) {
    if (need.sharing === "exclusive") continue;
    const sets = placedFor(need, rank);
    if (sets === undefined) throw new Error(`Cannot place in ${need.pool.name}: it does not fit`);
    for (const [index, set] of sets.entries()) {
      const demand = need.demands[index];
      if (demand !== undefined) placed.set(demand, set);
    }
  }
  return { placed, mine, rank };
}

/** Where a grant's numbers go on: claims of the lease so far, fences of the broker so far. */
export interface Numbering {
  readonly claims: number;
  readonly fence: number;
}

/** The claims of one need. */
export function sharedClaims(
  need: SharedNeed,
  { placed, mine, rank }: Placement,
  from: Numbering,
  now: Instant,
): GrantedClaim[] {
  const claims: GrantedClaim[] = [];
  const { holdMs } = need.pool.policy;
  for (const demand of need.demands) {
    for (const resource of placed.get(demand) ?? []) {
      const number = from.claims + claims.length + 1;
      const parts = pickParts(resource, demand, { ...viewOf(need, rank), mine });
      for (const part of parts) mine.add(part);
      claims.push({
        id: String(number) as ClaimId,
        resource: resource.name,
        fence: from.fence + number,
        ...(holdMs === null ? undefined : { heldUntil: after(now, holdMs) }),
        amount: amountOn(resource, demand),
        ...(parts.length === 0 ? undefined : { parts: byKind(parts) }),
      });
    }
  }
  return claims;
}

/** What a demand charges a resource, without parts: those are listed by name. */
export function amountOn(resource: Shareable, { amounts }: Demand): Record<string, number> {
  const entries = amounts.filter(([name], index) => levelOf(resource, name, index) !== undefined);
  return Object.fromEntries(entries);
}

export function byKind(parts: readonly Part[]): Record<string, string[]> {
  const kinds: Record<string, string[]> = {};
  for (const { kind, name } of parts) {
    const names = kinds[kind] ?? [];
    names.push(name);
    kinds[kind] = names;
  }
  return kinds;
}

/** Whether some of what was freed would now do for one of the request's demands. */
export function couldUse(request: Request, pool: Pool, freed: ReadonlySet<Shareable>): boolean {
  const need = request.needs.find((other) => other.pool === pool);
  if (need?.sharing !== "shared" || freed.size === 0) return false;
  const view = viewOf(need, request);
  for (const demand of need.demands) {
    for (const resource of freed) if (isFitting(resource, demand, view)) return true;
  }
  return false;
}
