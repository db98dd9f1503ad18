/** Explains for each resource why a request does not fit, with numbers. */
import type { Obstacle } from "../gates/gate.ts";
import type { RequestId, ResourceName } from "../model/ids.ts";
import { aheadOfAll, behindAll, isAhead, type Rank } from "../model/rank.ts";
import type { Pool, Request, SharedNeed, SharedResource } from "../model/state.ts";
import { never } from "../model/time.ts";
import { viewOf } from "../shared/place.ts";
import { type Demand, demandOf, type Placing } from "../shared/placement/demand.ts";
import {
  couldEverFit,
  freeOf,
  type Shortfall,
  shortfalls,
  type Unfit,
  unfit,
  type View,
} from "../shared/placement/fit.ts";
import { fitting, isFitting, place } from "../shared/placement/plan.ts";
import { type Amounts, usageOf } from "../shared/placement/shareable.ts";
import { outOfUseList, outOfUseText, type Reader } from "./out-of-use.ts";
import { type HolderView, holderView } from "./wait-reason.ts";

/** The lack of one dimension, after what is reserved for requests ahead. */
export interface Lack extends Shortfall {
  /** How much more would be free without these reservations. */
  readonly reservedAhead: number;
}

export interface ReservationView {
  readonly id: RequestId;
  readonly holder: string;
  readonly amount: Amounts;
}

export interface SharedExplanation {
  readonly resource: ResourceName;
  readonly fits: boolean;
  /** Whether it has room for the request when it is empty. */
  readonly isLargeEnough: boolean;
  /** Why the request can never use this resource, even if it is empty. */
  readonly unfit: Unfit | null;
  /** The dimensions with too little room, in the order of the ask. */
  readonly short: readonly Lack[];
  /** Room on it is reserved for the request itself: here it starts when enough has come free. */
  readonly isReserved: boolean;
  /** It has room, all but what is reserved for requests ahead. */
  readonly fitsUnreserved: boolean;
  /** The reservations here for requests ahead of it. */
  readonly keptFor: readonly ReservationView[];
  /** The holder that keeps its share longest; null if there is none. */
  readonly longest: HolderView | null;
}

/** All shared resources of a pool, in the order of the configuration. */
export function sharedIn(pool: Pool): SharedResource[] {
  const shared = [...pool.members].filter(
    (resource): resource is SharedResource => resource.sharing === "shared",
  );
  return shared.sort((a, b) => a.order - b.order);
}

/**
 * Explains the first demand that cannot be met or, if all can be met, the first demand. The resource on which
 * the request is most likely to start comes first: the reason names it, and so do the page and the CLI.
 */
export function explainShared(
  need: SharedNeed,
  request: Request,
  reader: Reader,
): SharedExplanation[] {
  const demand = hardest(need, request);
  if (demand === undefined) return [];
  const view = viewOf(need, request);
  const all = sharedIn(need.pool).map((resource) => {
    const reason = unfit(resource, demand, view);
    const why =
      reason === undefined || reason.why === "cordoned" ? outOfUse(resource, reader) : reason;
    const short = lacks(resource, demand, view);
    return {
      resource: resource.name,
      fits: why === null && short.length === 0,
      isLargeEnough: couldEverFit(resource, demand),
      unfit: why,
      short,
      isReserved: resource.reservations.some(({ by }) => by === request),
      fitsUnreserved:
        why === null && shortfalls(resource, demand, { ...view, rank: aheadOfAll }).length === 0,
      keptFor: reservationsOn(resource, (by) => isAhead(by, request)),
      longest: longestOn(resource),
    };
  });
  return all.sort((a, b) => distance(a) - distance(b) || missing(a) - missing(b));
}

function lacks(resource: SharedResource, demand: Demand, view: View): Lack[] {
  const unreserved = { ...view, rank: aheadOfAll };
  return shortfalls(resource, demand, view).map((short, index) => {
    const free = Math.max(0, freeOf(resource, short.dimension, index, demand, unreserved));
    return { ...short, reservedAhead: free - short.free };
  });
}

/** How far a resource is from lending to the request; those that cannot come last. */
function distance(explained: SharedExplanation): number {
  const { fits, isReserved, fitsUnreserved, unfit: why, isLargeEnough } = explained;
  const isUsable = why === null && isLargeEnough;
  return [fits, isReserved, fitsUnreserved, isUsable, isLargeEnough, true].indexOf(true);
}

/** A drained, quarantined or leaving resource is reported as cordoned. */
function outOfUse(resource: SharedResource, reader: Reader): Unfit | null {
  if (resource.listed) return null;
  return { why: "cordoned", detail: outOfUseText(resource, reader) };
}

function hardest(need: SharedNeed, request: Request): Demand | undefined {
  const { demands, pool } = need;
  const view = viewOf(need, request);
  const resources = [...pool.shared];
  const isShort = (demand: Demand) =>
    resources.filter((resource) => isFitting(resource, demand, view)).length < demand.count;
  return demands.find(isShort) ?? demands[0];
}

function longestOn({ claims }: SharedResource): HolderView | null {
  let longest: HolderView | null = null;
  for (const claim of claims) {
    const view = holderView(claim);
    if (longest === null || (view.backBy ?? never) > (longest.backBy ?? never)) longest = view;
  }
  return longest;
}

/** Describes the first obstacle. */
export function capacityObstacle(need: SharedNeed, request: Request, reader: Reader): Obstacle {
  const { pool } = need;
  const eligible = explainShared(need, request, reader).filter(
    ({ unfit: why }) => why === null || why.why === "cordoned",
  );
  const large = eligible.filter(({ isLargeEnough }) => isLargeEnough);
  const usable = large.filter(({ unfit: why }) => why === null);
  const demand = hardest(need, request);
  const fit = usable.filter(({ fits }) => fits).length;
  const wanted = demand?.count ?? fit;
  if (usable.length < wanted && usable.length < large.length) {
    return {
      code: "none_usable",
      what: cordonText(need, large, { usableCount: usable.length, reader }),
    };
  }
  if (fit > 0) {
    const have = `Fits on ${fit} of ${usable.length} ${pool.name}`;
    return { code: "not_enough_free", what: `${have}, ${wanted} needed` };
  }
  const [nearest] = usable;
  if (nearest?.fitsUnreserved && !nearest.isReserved && wouldFitUnreserved(need, request)) {
    const what = `Would fit on ${nearest.resource}, reserved for other requests`;
    return { code: "kept_for_others", what };
  }
  if (nearest?.isReserved) return { code: "no_room", what: reservedText(nearest) };
  const ofHowMany = usable.length > 1 ? ` (closest to fitting, of ${usable.length})` : "";
  const what = `Does not fit on ${nearest?.resource}${ofHowMany}: needs ${lackTexts(nearest?.short ?? [])}`;
  return { code: "no_room", what: what + cordonedRoomText(need, large, reader) };
}

/** Names a resource that would do at once if it were in use. */
function cordonedRoomText(
  { pool }: SharedNeed,
  large: readonly SharedExplanation[],
  reader: Reader,
): string {
  const roomy = large.find(({ unfit: why, short }) => why !== null && short.length === 0);
  const resource = sharedIn(pool).find(({ name }) => name === roomy?.resource);
  if (resource === undefined) return "";
  return `; it would fit on ${resource.name}, which ${outOfUseText(resource, reader)}`;
}

/** Names the resources that would do but are out of use, because no other resource is large enough. */
function cordonText(
  { pool }: SharedNeed,
  large: readonly SharedExplanation[],
  { usableCount, reader }: { readonly usableCount: number; readonly reader: Reader },
): string {
  const names = new Set(large.flatMap(({ resource, unfit: why }) => (why ? [resource] : [])));
  const cordoned = sharedIn(pool).filter(({ name }) => names.has(name));
  const text = outOfUseList(cordoned, reader);
  const isOnlyChoice = large.length === cordoned.length && pool.size > cordoned.length;
  if (isOnlyChoice) return `${text}; no other ${pool.name} is eligible and large enough`;
  return usableCount === 0 ? text : `${text}; only ${usableCount} other ${pool.name} would do`;
}

/** Only the first of those for which the resource is reserved can use what is free. */
function reservedText({ resource, keptFor, short }: SharedExplanation): string {
  const others = keptFor.length;
  if (others === 0) return `Reserved on ${resource}: needs ${lackTexts(short)}`;
  const needed = short.map(({ asked, dimension }) => `${asked} ${dimension}`).join(", ");
  return `Reserved on ${resource} after ${others} ${others === 1 ? "other" : "others"}: needs ${needed}`;
}

/** For example `48 vcpus (34 free)`. What there is in all is in the list of resources. */
function lackTexts(short: readonly Lack[]): string {
  const isReserved = short.some(({ reservedAhead }) => reservedAhead > 0);
  const lacks = short.map(({ dimension, asked, free }) => {
    return `${asked} ${dimension} (${free} ${isReserved ? "left" : "free"})`;
  });
  return lacks.join(", ") + (isReserved ? " after reservations" : "");
}

function wouldFitUnreserved(need: SharedNeed, request: Request): boolean {
  const view = { ...viewOf(need, request), rank: aheadOfAll };
  const candidates = { strategy: "round-robin" as const, resources: need.pool.shared };
  return place(candidates, need.demands, view) !== undefined;
}

function missing({ short }: SharedExplanation): number {
  return short.reduce((sum, { asked, free }) => sum + (asked - free) / asked, 0);
}

/** The number of resources that have room for one more, behind all waiting requests. */
export function fittingNow(pool: Pool, placing: Placing): number {
  const view = { rank: behindAll, owner: "" };
  return fitting(pool.shared, demandOf(1, placing), view).length;
}

/** The use of one dimension, or of one kind of parts. */
export interface Usage {
  readonly dimension: string;
  readonly used: number;
  readonly capacity: number;
  /** From 0 to 1; above 1 if the resource was made smaller. */
  readonly share: number;
  /** Free, but only for requests that wait: room is reserved for them. */
  readonly reserved: number;
}

export function usagesOf(resource: SharedResource): Usage[] {
  const { levels, parts } = resource;
  const dimensions = levels.map((level) => {
    const { name: dimension, used, capacity } = level;
    const reserved = reservedOf(resource, dimension);
    return { dimension, used, capacity, share: usageOf(level), reserved };
  });
  const kinds = Array.from(parts, ([dimension, all]) => {
    const used = all.filter(({ owner }) => owner !== null).length;
    const share = all.length === 0 ? 0 : used / all.length;
    const reserved = reservedOf(resource, dimension);
    return { dimension, used, capacity: all.length, share, reserved };
  });
  return [...dimensions, ...kinds];
}

/** What a request ahead of all would get more than one behind all. */
function reservedOf(resource: SharedResource, dimension: string): number {
  if (resource.reservations.length === 0) return 0;
  const free = (rank: Rank) =>
    Math.max(0, freeOf(resource, dimension, 0, demandOf(1, {}), { rank, owner: "" }));
  return free(aheadOfAll) - free(behindAll);
}

/** For whom room on the resource is reserved, and how much: more than is free by now, if need be. */
export function reservationsOn(
  { reservations }: SharedResource,
  isWanted: (by: Rank) => boolean = () => true,
): ReservationView[] {
  return reservations.flatMap(({ by, amounts }) => {
    const { id, ask } = by as Request;
    return isWanted(by) ? [{ id, holder: ask.holder, amount: Object.fromEntries(amounts) }] : [];
  });
}
