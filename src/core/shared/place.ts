/** Where shares of a pool's resources are to be had: placement, seen from a need and its rank. */

import type { Turn } from "../decide/turn.ts";
import type { GrantedClaim } from "../model/event.ts";
import type { ClaimId } from "../model/ids.ts";
import { type Need, type Pool, queueAt, type Request, type Resource } from "../model/state.ts";
import { after } from "../model/time.ts";
import type { Ranked } from "../queue/ranked-queue.ts";
import type { Demand } from "./placement/demand.ts";
import { pickParts, type View } from "./placement/fit.ts";
import { isFitting, place, type Rooms } from "./placement/plan.ts";
import { levelOf, type Part, type Room } from "./placement/room.ts";

/**
 * How many who cannot go are looked past in a pool that is lent by amount. Looking past one costs
 * little: it is compared with what has come free, not with the whole pool.
 */
export const reachMax = 2_000;

/** The rooms that were found for each demand. */
export type Placed = ReadonlyMap<Demand, readonly Room[]>;

/** What a grant is made of, where shares are lent. */
export interface Sharing {
  readonly placed: Placed;
  /** Parts that have been given to others of the same company, or to the same request. */
  readonly mine: Set<Part>;
  readonly rank: Ranked;
}

export function roomsOf(pool: Pool): Rooms {
  return { strategy: pool.policy.placement?.strategy ?? "least-used", rooms: pool.rooms };
}

export function viewOf({ owner }: Need, rank: Ranked): View {
  return { rank, owner };
}

/** Whether all that is wanted of this pool can be had now by one who stands at this rank. */
export function canPlace(need: Need, rank: Ranked): boolean {
  return isWithinReach(need, rank) && placedOf(need, rank) !== undefined;
}

/** Behind so many, a request waits its turn. */
export function isWithinReach(need: Need, rank: Ranked): boolean {
  const queue = queueAt(need);
  return queue.size < reachMax || queue.countBefore(rank) < reachMax;
}

function placedOf(need: Need, rank: Ranked): Room[][] | undefined {
  return place(roomsOf(need.pool), need.demands ?? [], viewOf(need, rank));
}

const nothing: Placed = new Map();

/** Where everything goes. The caller has made sure that it fits. */
export function placeAll(needs: readonly Need[], rank: Ranked): Placed {
  if (needs.every(({ demands }) => demands === null)) return nothing;
  const placed = new Map<Demand, readonly Room[]>();
  for (const need of needs) {
    const sets = need.demands === null ? [] : placedOf(need, rank);
    if (sets === undefined) throw new Error(`Cannot place in ${need.pool.name}: it does not fit`);
    for (const [index, set] of sets.entries()) {
      const demand = need.demands?.[index];
      if (demand !== undefined) placed.set(demand, set);
    }
  }
  return placed;
}

/** The claims of one need, numbered on from those that the lease has already. */
export function share(
  turn: Turn,
  need: Need,
  { placed, mine, rank }: Sharing,
  numbered: number,
): GrantedClaim[] {
  const claims: GrantedClaim[] = [];
  const { holdMs } = need.pool.policy;
  for (const demand of need.demands ?? []) {
    for (const room of placed.get(demand) ?? []) {
      const number = numbered + claims.length + 1;
      const parts = pickParts(room, demand, { ...viewOf(need, rank), mine });
      for (const part of parts) mine.add(part);
      claims.push({
        id: String(number) as ClaimId,
        resource: room.at.name as Resource["name"],
        fence: turn.state.fence + number,
        ...(holdMs === null ? undefined : { heldUntil: after(turn.now, holdMs) }),
        amount: amountIn(room, demand),
        ...(parts.length === 0 ? undefined : { parts: byKind(parts) }),
      });
    }
  }
  return claims;
}

/** What is charged to a room; parts are told by their names. */
export function amountIn(room: Room, { amounts }: Demand): Record<string, number> {
  const entries = amounts.filter(([name], index) => levelOf(room, name, index) !== undefined);
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

/** Whether some of what has become roomier would now do for one of its resources. */
export function couldUse(request: Request, pool: Pool, improved: ReadonlySet<Room>): boolean {
  const need = request.needs.find((other) => other.pool === pool);
  if (need?.demands == null || improved.size === 0) return false;
  const view = viewOf(need, request);
  for (const demand of need.demands) {
    for (const room of improved) if (isFitting(room, demand, view)) return true;
  }
  return false;
}
