/** Whether a request may use a resource, and whether the resource has room now. */
import { entryOf } from "../../model/entries.ts";
import { isHeldBackByQuota } from "../../model/quota.ts";
import { aheadOfAll, isAhead, type Rank } from "../../model/rank.ts";
import type { Demand } from "./demand.ts";
import { type Level, levelOf, type Part, type Shareable } from "./shareable.ts";
import { formatTaint, shutOutBy } from "./taint.ts";

/** The request for which a resource is checked. */
export interface View {
  /** Reservations of requests ahead of this rank are not available. */
  readonly rank: Rank;
  /** The owner of the parts that it may share: its lease or group. */
  readonly owner: string;
  /** The amounts that the plan for this request uses so far. */
  readonly planned?: Plan;
  /** Parts that the plan gives to other claims of the same request. */
  readonly mine?: ReadonlySet<Part>;
  /** If true, checks the resource as if it were empty and not drained: can it ever fit? */
  readonly empty?: true;
  /** If true, checks the resource as if all current leases had ended. */
  readonly later?: true;
}

export type Plan = Map<Shareable, Map<string, number>>;

export type Unfit =
  /** `detail`: who took it out of use and why. */
  | { readonly why: "cordoned"; readonly detail?: string }
  | { readonly why: "excluded" }
  | { readonly why: "not_the_one"; readonly wanted: string }
  | { readonly why: "unwanted" }
  | { readonly why: "label"; readonly key: string; readonly wanted: string; readonly has?: string }
  | { readonly why: "taint"; readonly taint: string }
  | { readonly why: "no_label"; readonly key: string };

/** The first reason why a request may not use a resource, even if it is empty. */
export function unfit(resource: Shareable, { placing }: Demand, view: View): Unfit | undefined {
  if (resource.drained && view.empty === undefined) return { why: "cordoned" };
  const { resource: wantedName, exclude, selector, spread } = placing;
  if (resource.spec.excluded && wantedName !== resource.name) return { why: "excluded" };
  if (wantedName !== undefined && wantedName !== resource.name) {
    return { why: "not_the_one", wanted: wantedName };
  }
  if (exclude?.includes(resource.name)) return { why: "unwanted" };
  for (const key in selector) {
    const [wanted = "", has] = [selector[key], entryOf(resource.labels, key)];
    if (has === wanted) continue;
    return { why: "label", key, wanted, ...(has === undefined ? undefined : { has }) };
  }
  if (resource.spec.taints !== undefined) {
    const taint = shutOutBy(resource.spec.taints, placing.tolerations);
    if (taint !== undefined) return { why: "taint", taint: formatTaint(taint) };
  }
  if (spread !== undefined && entryOf(resource.labels, spread) === undefined) {
    return { why: "no_label", key: spread };
  }
  return undefined;
}

/** The lack of one dimension. */
export interface Shortfall {
  readonly dimension: string;
  readonly asked: number;
  readonly free: number;
  /** How much the resource has, with overcommit. */
  readonly capacity: number;
}

/** All dimensions with too little room, in the order of the ask. */
export function shortfalls(resource: Shareable, demand: Demand, view: View): Shortfall[] {
  const short: Shortfall[] = [];
  for (const [index, [name, asked]] of demand.amounts.entries()) {
    const free = freeOf(resource, name, index, demand, view);
    if (free >= asked) continue;
    const capacity = capacityOf(resource, name, index);
    short.push({ dimension: name, asked, free: Math.max(0, free), capacity });
  }
  return short;
}

/** The capacity of a dimension, or the number of parts of a kind. */
function capacityOf(resource: Shareable, name: string, hint: number): number {
  const parts = resource.parts.get(name)?.length ?? 0;
  return levelOf(resource, name, hint)?.capacity ?? parts;
}

/** Whether the resource, if it were empty and not drained, has room for the demand. */
export function couldEverFit(resource: Shareable, demand: Demand): boolean {
  return shortfalls(resource, demand, emptied).length === 0;
}

const emptied: View = { rank: aheadOfAll, owner: "", empty: true };

export function hasCapacity(resource: Shareable, demand: Demand, view: View): boolean {
  const { amounts } = demand;
  for (let index = 0; index < amounts.length; index++) {
    const [name, asked] = amounts[index] as (typeof amounts)[number];
    if (freeOf(resource, name, index, demand, view) < asked) return false;
  }
  return true;
}

/** The free amount of a dimension, or the number of free parts of a kind; `hint` is its probable index. */
export function freeOf(
  resource: Shareable,
  name: string,
  hint: number,
  demand: Demand,
  view: View,
): number {
  const level = levelOf(resource, name, hint);
  if (level !== undefined) return freeAt(resource, level, view);
  const parts = resource.parts.get(name);
  const wanted = demand.placing.optional?.includes(name) === true;
  if (parts === undefined || parts.length === 0) return wanted ? Number.POSITIVE_INFINITY : 0;
  return countApart(parts, view);
}

/**
 * The free amount. Leases from before a reservation do not count against it, because they will have
 * ended. Claims since then, the reserved amounts and the new claim must fit together.
 */
function freeAt(resource: Shareable, { name, capacity, used }: Level, view: View): number {
  const planned = view.planned?.get(resource)?.get(name) ?? 0;
  if (view.empty) return capacity - planned;
  const now = view.later ? capacity : capacity - used;
  if (resource.reservations.length === 0) return now - planned;
  let [reserved, taken] = [0, 0];
  for (const one of resource.reservations) {
    if (!keepsFrom(one.by, view.rank)) continue;
    for (const [dimension, amount] of one.amounts) if (dimension === name) reserved += amount;
    taken = Math.max(taken, one.taken.get(name) ?? 0);
  }
  return Math.min(now, reserved === 0 ? now : capacity - reserved - taken) - planned;
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
  return part.reservedFor.every((by) => !keepsFrom(by, rank));
}

/** A reservation of a request that its own quota holds back counts against nobody. */
function keepsFrom(by: Rank, rank: Rank): boolean {
  return isAhead(by, rank) && !isHeldBackByQuota(by);
}

/** The parts for a claim on this resource. Prefers those that its lease or group already has. */
export function pickParts(resource: Shareable, demand: Demand, view: View): Part[] {
  const picked: Part[] = [];
  for (const [name, asked] of demand.amounts) {
    const parts = resource.parts.get(name);
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
