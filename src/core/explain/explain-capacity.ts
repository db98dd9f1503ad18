/** Why there is no room for a request, resource by resource, with the numbers. */

import type { RequestId, ResourceName } from "../model/ids.ts";
import type { Need, Pool, Request, SharedRoom } from "../model/state.ts";
import { never } from "../model/time.ts";
import { compareRank } from "../queue/ranked-queue.ts";
import { viewOf } from "../shared/place.ts";
import type { Demand } from "../shared/placement/demand.ts";
import { type Shortfall, shortfalls, type Unfit, unfit } from "../shared/placement/fit.ts";
import { isFitting, place } from "../shared/placement/plan.ts";
import { type Amounts, usageOf } from "../shared/placement/room.ts";
import { type HolderView, holderView, type WaitReason } from "./wait-reason.ts";

export interface RoomExplanation {
  readonly resource: ResourceName;
  readonly fits: boolean;
  /** Why it is not for this request at all, however empty. */
  readonly unfit: Unfit | null;
  /** What there is too little of, the first asked for first. */
  readonly short: readonly Shortfall[];
  /** What is kept here for others who stand before it. */
  readonly keptFor: readonly { id: RequestId; holder: string; amount: Amounts }[];
  /** Who will have its share the longest; null: nobody has one. */
  readonly longest: HolderView | null;
}

/** Every resource that is lent by amount, in the order of the definition. */
export function roomsIn(pool: Pool): SharedRoom[] {
  const rooms = [...pool.members].flatMap(({ room }) => room ?? []);
  return rooms.sort((a, b) => a.order - b.order);
}

/** For the first demand that cannot be met; for one that can, for the first of all. */
export function explainRooms(need: Need, request: Request): RoomExplanation[] {
  const demand = hardest(need, request);
  return demand === undefined ? [] : roomsIn(need.pool).map((room) => explainRoom(room, demand));

  function explainRoom(room: SharedRoom, wanted: Demand): RoomExplanation {
    const view = viewOf(need, request);
    const why = unfit(room, wanted, view) ?? outOfUse(room);
    const short = shortfalls(room, wanted, view);
    return {
      resource: room.at.name,
      fits: why === null && short.length === 0,
      unfit: why,
      short,
      keptFor: room.reservations.flatMap(({ by, amounts }) => {
        const { id, ask } = by as Request;
        const amount = Object.fromEntries(amounts);
        return compareRank(by, request) < 0 ? [{ id, holder: ask.holder, amount }] : [];
      }),
      longest: longestOn(room),
    };
  }
}

/** Quarantined, or on its way out: as good as cordoned. */
function outOfUse({ listed }: SharedRoom): Unfit | null {
  return listed ? null : { why: "cordoned" };
}

function hardest(need: Need, request: Request): Demand | undefined {
  const demands = need.demands ?? [];
  const view = viewOf(need, request);
  const rooms = [...need.pool.rooms];
  return (
    demands.find((one) => rooms.filter((room) => isFitting(room, one, view)).length < one.count) ??
    demands[0]
  );
}

function longestOn({ claims }: SharedRoom): HolderView | null {
  let longest: HolderView | null = null;
  for (const claim of claims) {
    const view = holderView(claim);
    if (longest === null || (view.backBy ?? never) > (longest.backBy ?? never)) longest = view;
  }
  return longest;
}

/** The first thing in the way, in words. */
export function roomObstacle(
  need: Need,
  request: Request,
): { code: WaitReason["code"]; what: string } {
  const { pool } = need;
  const rooms = explainRooms(need, request);
  const eligible = rooms.filter(({ unfit: why }) => why === null || why.why === "cordoned");
  const open = eligible.filter(({ unfit: why }) => why === null);
  if (open.length === 0) {
    const what = `None of ${eligible.length} eligible ${pool.name} can be lent (cordoned)`;
    return { code: "none_usable", what };
  }
  const demand = hardest(need, request);
  const fit = open.filter(({ fits }) => fits).length;
  if (fit > 0) {
    const have = `${fit} of ${open.length} ${pool.name} ${fit === 1 ? "has" : "have"} room`;
    const what = `${have}, ${demand?.count ?? fit} needed`;
    return { code: "not_enough_free", what };
  }
  const kept = open.find(({ keptFor }) => keptFor.length > 0);
  if (kept !== undefined && wouldFitUnkept(need, request)) {
    const what = `The room on ${kept.resource} is kept for a request that has waited longer`;
    return { code: "kept_for_others", what };
  }
  const nearest = open.toSorted((a, b) => missing(a) - missing(b))[0];
  const short = nearest?.short.map(({ dimension, asked, free }) => {
    return `${free} of ${asked} ${dimension}`;
  });
  const what = `No ${pool.name} has room: ${nearest?.resource} has ${short?.join(" and ")}`;
  return { code: "no_room", what };
}

function wouldFitUnkept(need: Need, request: Request): boolean {
  const rank = { priority: Number.POSITIVE_INFINITY, order: 0 };
  const view = { ...viewOf(need, request), rank };
  return (
    place({ strategy: "round-robin", rooms: need.pool.rooms }, need.demands ?? [], view) !==
    undefined
  );
}

function missing({ short }: RoomExplanation): number {
  return short.reduce((sum, { asked, free }) => sum + (asked - free) / asked, 0);
}

/** How much of each dimension is used, and how many parts of each kind. */
export interface Usage {
  readonly dimension: string;
  readonly used: number;
  readonly capacity: number;
  /** From 0 to 1, more where a resource was made smaller. */
  readonly share: number;
}

export function usagesOf({ levels, parts }: SharedRoom): Usage[] {
  const dimensions = levels.map((level) => {
    const { name: dimension, used, capacity } = level;
    return { dimension, used, capacity, share: usageOf(level) };
  });
  const kinds = Array.from(parts, ([dimension, all]) => {
    const used = all.filter(({ owner }) => owner !== null).length;
    const share = all.length === 0 ? 0 : used / all.length;
    return { dimension, used, capacity: all.length, share };
  });
  return [...dimensions, ...kinds];
}
