/**
 * Room for those who have run out of patience.
 *
 * A set of resources is chosen for such a request as if all who hold something now had given it back.
 * From then on, on each of them, whatever is lent to those behind it fits beside its share. So once
 * those have ended who held something on them at that moment, it fits: it waits for its patience and
 * one more hold. Younger requests go on being served beside it. One behind it that has run out of
 * patience as well is kept room beside it if there is any, and otherwise once its turn has come: with
 * k before it that are out of patience, it waits for its patience and k + 1 holds at the most.
 */

import { emit, type Turn } from "../decide/turn.ts";
import type { KeptRoom } from "../model/event.ts";
import type { Need, Pool, Request, Resource } from "../model/state.ts";
import { compareRank } from "../queue/ranked-queue.ts";
import { amountIn, byKind, viewOf } from "./place.ts";
import type { Demand } from "./placement/demand.ts";
import { pickParts, shortfalls, type View } from "./placement/fit.ts";
import { place } from "./placement/plan.ts";
import type { Room } from "./placement/room.ts";

/** Its patience is over: something is kept for it, or it is noted that nothing could be. */
export function reserveFor(turn: Turn, request: Request): void {
  const rooms = keepable(request, turn.state.fence);
  emit(turn, { type: "room-kept", id: request.id, rooms });
}

/** So many are looked at again at one time. */
const overdueMax = 50;

/** Tries again for those for whom nothing could be kept when their patience ended. */
export function retryReservations(turn: Turn, pool: Pool): void {
  if (!pool.retryReservations) return;
  pool.retryReservations = false;
  for (const request of [...pool.starved].sort(compareRank).slice(0, overdueMax)) {
    const rooms = keepable(request, turn.state.fence);
    if (rooms.length > 0) emit(turn, { type: "room-kept", id: request.id, rooms });
  }
}

/** All that it wants, or nothing: half of it kept would help nobody. */
function keepable(request: Request, since: number): KeptRoom[] {
  const kept: KeptRoom[] = [];
  // Of several ways the best: what is kept on all of them would be kept from too many.
  for (const need of request.alternatives[0] ?? []) {
    if (need.demands === null) continue;
    const rooms = keepableOf(need, request);
    if (rooms === undefined) return [];
    kept.push(...rooms.map((room) => ({ ...room, since })));
  }
  return kept;
}

type Target = Omit<KeptRoom, "since">;

function keepableOf(need: Need, request: Request): Target[] | undefined {
  const view = { ...viewOf(need, request), later: true as const };
  const demands = (need.demands ?? []).map(asGiven);
  const rooms = nearest(need, request);
  // The order is ours: none of the strategies asks how soon there will be room.
  const sets = place({ strategy: "round-robin", rooms }, demands, view);
  return sets?.flatMap((set, index) =>
    set.map((room) => keptRoom(room, demands[index] as Demand, view)),
  );
}

function asGiven(demand: Demand): Demand {
  const { strategy: _, ...placing } = demand.placing;
  return { ...demand, placing };
}

/** The rooms where the least must come free first. */
function nearest({ pool, demands, owner }: Need, request: Request): Room[] {
  const missing = (room: Room) => {
    let sum = 0;
    for (const demand of demands ?? []) {
      for (const { asked, free } of shortfalls(room, demand, { rank: request, owner })) {
        sum += (asked - free) / asked;
      }
    }
    return sum;
  };
  const rooms = Array.from(pool.rooms, (room) => ({ room, missing: missing(room) }));
  rooms.sort((a, b) => a.missing - b.missing || a.room.order - b.room.order);
  return rooms.map(({ room }) => room);
}

function keptRoom(room: Room, demand: Demand, view: View): Target {
  // Those that nobody has come first: they need not come free.
  const idle = pickParts(room, demand, { rank: view.rank, owner: view.owner });
  const parts = pickParts(room, demand, { ...view, mine: new Set(idle) });
  return {
    resource: room.at.name as Resource["name"],
    amount: amountIn(room, demand),
    ...(parts.length === 0 ? undefined : { parts: byKind(parts) }),
  };
}
