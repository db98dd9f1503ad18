/** Whether a resource is for a request at all, and whether there is room for it now. */
import { compareRank, type Ranked } from "../../queue/ranked-queue.ts";
import type { Demand } from "./demand.ts";
import { type Level, levelOf, type Part, type Room } from "./room.ts";
import { formatTaint, shutOutBy } from "./taint.ts";

/** From where a request looks. */
export interface View {
  /** What is kept for those before this rank is not there. */
  readonly rank: Ranked;
  /** Whose parts it may share: those of its own lease or group. */
  readonly owner: string;
  /** What the same request has been given already, in thought. */
  readonly planned?: Plan;
  /** Parts that another claim of the same request has been given, in thought. */
  readonly mine?: ReadonlySet<Part>;
  /** As if nobody had anything and nothing were drained: what could ever be. */
  readonly empty?: true;
  /** As it will be once all who hold something now have given it back. */
  readonly later?: true;
}

export type Plan = Map<Room, Map<string, number>>;

export type Unfit =
  | { readonly why: "cordoned" }
  | { readonly why: "excluded" }
  | { readonly why: "not_the_one"; readonly wanted: string }
  | { readonly why: "unwanted" }
  | { readonly why: "label"; readonly key: string; readonly wanted: string; readonly has?: string }
  | { readonly why: "taint"; readonly taint: string }
  | { readonly why: "no_label"; readonly key: string };

/** The first reason why a resource is not for this request, however empty it is. */
export function unfit({ at, spec }: Room, { placing }: Demand, view: View): Unfit | undefined {
  if (at.drained && view.empty === undefined) return { why: "cordoned" };
  const { resource, exclude, selector, spread } = placing;
  if (spec.excluded && resource !== at.name) return { why: "excluded" };
  if (resource !== undefined && resource !== at.name) {
    return { why: "not_the_one", wanted: resource };
  }
  if (exclude?.includes(at.name)) return { why: "unwanted" };
  for (const key in selector) {
    const [wanted = "", has] = [selector[key], at.labels[key]];
    if (has === wanted) continue;
    return { why: "label", key, wanted, ...(has === undefined ? undefined : { has }) };
  }
  if (spec.taints !== undefined) {
    const taint = shutOutBy(spec.taints, placing.tolerations);
    if (taint !== undefined) return { why: "taint", taint: formatTaint(taint) };
  }
  if (spread !== undefined && at.labels[spread] === undefined) {
    return { why: "no_label", key: spread };
  }
  return undefined;
}

/** What is missing of one dimension. */
export interface Shortfall {
  readonly dimension: string;
  readonly asked: number;
  readonly free: number;
}

/** Everything that there is too little of, in the order in which it was asked for. */
export function shortfalls(room: Room, demand: Demand, view: View): Shortfall[] {
  const short: Shortfall[] = [];
  for (const [index, [name, asked]] of demand.amounts.entries()) {
    const free = freeOf(room, name, index, demand, view);
    if (free < asked) short.push({ dimension: name, asked, free: Math.max(0, free) });
  }
  return short;
}

export function hasRoom(room: Room, demand: Demand, view: View): boolean {
  const { amounts } = demand;
  for (let index = 0; index < amounts.length; index++) {
    const [name, asked] = amounts[index] as (typeof amounts)[number];
    if (freeOf(room, name, index, demand, view) < asked) return false;
  }
  return true;
}

/** How much of a dimension, or how many parts of a kind, are to be had from here. */
function freeOf(room: Room, name: string, hint: number, demand: Demand, view: View): number {
  const level = levelOf(room, name, hint);
  if (level !== undefined) return freeAt(room, level, view);
  const parts = room.parts.get(name);
  const wanted = demand.placing.optional?.includes(name) === true;
  if (parts === undefined || parts.length === 0) return wanted ? Number.POSITIVE_INFINITY : 0;
  return countApart(parts, view);
}

/**
 * Those who hold something since before it was kept will have given it back, so they do not count
 * against what is kept: what came since, what is kept and the newcomer must fit beside each other.
 */
function freeAt(room: Room, { name, capacity, used }: Level, view: View): number {
  const planned = view.planned?.get(room)?.get(name) ?? 0;
  if (view.empty) return capacity - planned;
  const now = view.later ? capacity : capacity - used;
  if (room.reservations.length === 0) return now - planned;
  let [kept, taken] = [0, 0];
  for (const one of room.reservations) {
    if (compareRank(one.by, view.rank) >= 0) continue;
    for (const [dimension, amount] of one.amounts) if (dimension === name) kept += amount;
    taken = Math.max(taken, one.taken.get(name) ?? 0);
  }
  return Math.min(now, kept === 0 ? now : capacity - kept - taken) - planned;
}

function countApart(parts: readonly Part[], view: View): number {
  const seen = new Set<string>();
  let count = 0;
  for (const part of parts) {
    if (!isToBeHad(part, view)) continue;
    if (part.apart !== undefined && seen.has(part.apart)) continue;
    if (part.apart !== undefined) seen.add(part.apart);
    count += 1;
  }
  return count;
}

function isToBeHad(part: Part, { rank, owner, empty, later }: View): boolean {
  if (empty) return true;
  if (part.owner !== null && !later) return part.owner === owner;
  return part.reservedFor.every((by) => compareRank(by, rank) >= 0);
}

/** The parts that a claim on this room gets: first what its own lease or group has already. */
export function pickParts(room: Room, demand: Demand, view: View): Part[] {
  const picked: Part[] = [];
  for (const [name, asked] of demand.amounts) {
    const parts = room.parts.get(name);
    if (parts === undefined) continue;
    const apart = new Set<string>();
    let missing = asked;
    const isOwn = (part: Part) => part.owner === view.owner || view.mine?.has(part) === true;
    for (const own of [true, false]) {
      for (const part of parts) {
        if (missing === 0) break;
        if (isOwn(part) !== own || !isToBeHad(part, view)) continue;
        if (part.apart !== undefined && apart.has(part.apart)) continue;
        if (part.apart !== undefined) apart.add(part.apart);
        picked.push(part);
        missing -= 1;
      }
    }
  }
  return picked;
}
