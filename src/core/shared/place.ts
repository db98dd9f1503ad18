/** Placement in a shared pool, for a need at a rank. */
import type { GrantedClaim } from "../model/event.ts";
import type { ClaimId } from "../model/ids.ts";
import { isHeldBackByQuota } from "../model/quota.ts";
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
import type { Budget } from "./placement/choose.ts";
import type { Demand } from "./placement/demand.ts";
import { pickParts, type View } from "./placement/fit.ts";
import {
  budgetFor,
  type Candidates,
  isFitting,
  isSearched,
  place,
  searchMax,
} from "./placement/plan.ts";
import { levelOf, type Part, type Shareable } from "./placement/shareable.ts";

/**
 * The maximum number of waiting requests that a decision passes over in a shared pool. Each costs
 * little, because it is compared only with the freed resources.
 */
export const reachMax = 2_000;

/** The resources for each demand. */
type Placed = ReadonlyMap<Demand, readonly SharedResource[]>;

/** The resources for the shared needs of a grant, and the parts that its claims have so far. */
export interface Placement {
  readonly placed: Placed;
  /** Parts that other members of the gang, or other claims of the request, have. */
  readonly mine: Set<Part>;
  readonly rank: Rank;
}

export function candidatesOf(pool: Pool): Candidates<SharedResource> {
  return { strategy: pool.policy.placement?.strategy ?? "least-used", resources: pool.shared };
}

export function viewOf({ owner }: SharedNeed, rank: Rank): View {
  return { rank, owner };
}

/** Whether the need can be placed now at this rank. */
export function canPlace(need: SharedNeed, rank: Rank, ofDecision?: DecisionBudget): boolean {
  return isWithinReach(need, rank) && placedFor(need, rank, ofDecision) !== undefined;
}

/** Whether fewer than `reachMax` requests are ahead. Others are not evaluated yet. */
export function isWithinReach(need: Need, rank: Rank): boolean {
  const queue = queueAt(need);
  if (queue.size < reachMax) return true;
  const before = queue.countBefore(rank);
  const isHeldBack = (head: Request) => isHeldBackByQuota(head, need.pool);
  return before < reachMax || before - queue.countBeforeIn(rank, isHeldBack) < reachMax;
}

/** What all searches of a decision may use together. */
export interface DecisionBudget extends Budget {
  /** A search had to end early because of this. */
  wasCut: boolean;
}

function placedFor(
  need: SharedNeed,
  rank: Rank,
  ofDecision: DecisionBudget = { left: searchMax, wasCut: false },
): SharedResource[][] | undefined {
  const { pool, demands } = need;
  const own = budgetFor(demands, pool.members.size);
  const budget = { left: Math.min(own.left, ofDecision.left) };
  const isShort = budget.left < own.left;
  ofDecision.left -= budget.left;
  const found = place(candidatesOf(pool), demands, viewOf(need, rank), budget);
  ofDecision.wasCut ||= isShort && budget.left <= 0 && found === undefined;
  ofDecision.left += budget.left;
  return found;
}

const nothing: Placed = new Map();

/** Places all shared needs. The caller has checked that they fit. */
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

/** The numbers used so far: claims of the lease, and fences of the broker. */
export interface Numbering {
  readonly claims: number;
  readonly fence: number;
}

/** Makes the claims of one need. */
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

/** The amounts that a demand takes from a resource, without parts, which are listed by name. */
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

/** Whether it takes a search to find out whether the request can be placed in the pool. */
export function needsSearch(request: Request, pool: Pool): boolean {
  return request.alternatives.some((needs) =>
    needs.some(
      (need) => need.sharing === "shared" && need.pool === pool && isSearched(need.demands),
    ),
  );
}

/** Whether a freed resource now has room for one of the request's demands. */
export function couldUse(request: Request, pool: Pool, freed: ReadonlySet<Shareable>): boolean {
  const need = request.needs.find((other) => other.pool === pool);
  if (need?.sharing !== "shared" || freed.size === 0) return false;
  const view = viewOf(need, request);
  for (const demand of need.demands) {
    for (const resource of freed) if (isFitting(resource, demand, view)) return true;
  }
  return false;
}
