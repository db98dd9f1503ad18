/**
 * The idle resources of a bucket that the waiting requests ahead leave for the requests behind
 * them. A waiting request with a selection keeps only resources that match it.
 */

import type { Walk } from "../model/queue-walk.ts";
import { isHeldBackByQuota } from "../model/quota.ts";
import { isAhead, type Rank } from "../model/rank.ts";
import { isAny, matchingIdle, type Selection } from "../model/selection.ts";
import type { Space } from "../model/space.ts";
import {
  type Bucket,
  type ExclusiveNeed,
  type ExclusiveResource,
  isShared,
  type Need,
  type Place,
  type Pool,
  type Request,
} from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { type Assignment, assign } from "./assign.ts";
import { countAt, isForOnePool, isSamePlace, needAt, needIn } from "./needs.ts";

/**
 * The maximum number of waiting requests that a decision evaluates to find one that can be granted.
 * This bounds its cost if thousands wait for several pools at once. Requests further back wait.
 */
export const overtakenMax = 100;

/**
 * The maximum number of waiting requests that a decision passes over because an earlier request
 * with the same selection waits too. Each costs one comparison.
 */
const passedMax = 2_000;

/**
 * The number of resources that a waiting request keeps from all requests behind it. If it has a
 * selection, it keeps only resources that match.
 */
export function keptFor(request: Request, place: Place, now: Instant): number {
  if (isShared(place.pool)) return 0;
  if (isHeldBackByQuota(request, place.pool)) return 0;
  if (isForOnePool(request)) return Number.POSITIVE_INFINITY;
  if (now - request.queuedAt < place.pool.policy.patienceMs) return 0;
  return countAt(request, place);
}

/** Whether a pool has just the resources that it has, each lent whole. */
function hasFixedSize({ pool, sharing }: Need): boolean {
  return sharing === "exclusive" && pool.policy.dynamic === undefined && pool.clusters === null;
}

/** The resources that a grant takes from one bucket. */
export interface Choice {
  readonly assignment: Assignment<ExclusiveResource>;
  /** Resources that match a selection of the grant, or that are kept for requests ahead. */
  readonly avoided: ReadonlySet<ExclusiveResource>;
}

export class Leftover {
  readonly #bucket: Bucket;
  /** Most queues have no selections, so these sets are created on demand. */
  #kept: Set<ExclusiveResource> | undefined;
  #waitedFor: Set<string> | undefined;
  /** How many of other pools the requests need for which something is kept here. */
  #keptWith: Map<Pool, number> | undefined;
  /** The starved spaces for which something is kept. */
  #turns: Set<Space> | undefined;
  /** The number of other resources that are kept, whichever these are. */
  #keptOfAny = 0;
  #overtaken = 0;
  #passed = 0;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** What is left at this rank. */
  static at(bucket: Bucket, rank: Rank, now: Instant): Leftover {
    const leftover = new Leftover(bucket);
    const walk = bucket.queue.walk();
    for (let ahead = walk.next(); ahead !== undefined; ahead = walk.next()) {
      if (leftover.count <= 0 || !isAhead(ahead, rank)) break;
      const isOwn = ahead.space === rank.space && isForOnePool(ahead);
      if (!isOwn && leftover.passHeldBack(ahead, walk)) continue;
      // Within a space nobody is overtaken, also not by a smaller request that the quota allows.
      if (isOwn && isHeldBackByQuota(ahead, bucket.pool))
        leftover.#keptOfAny = Number.POSITIVE_INFINITY;
      else if (leftover.isExhausted) leftover.#keptOfAny = Number.POSITIVE_INFINITY;
      else if (!leftover.pass(ahead)) leftover.keep(ahead, now);
    }
    return leftover;
  }

  /** The number of resources that a request without a selection can have; may be negative. */
  get count(): number {
    return this.#bucket.idle.size - (this.#kept?.size ?? 0) - this.#keptOfAny;
  }

  /** Whether so many requests are ahead that no further one is evaluated. */
  get isExhausted(): boolean {
    return this.#overtaken >= overtakenMax || this.#passed >= passedMax;
  }

  /** Whether the request waits for the same selection as a request ahead, and so for nothing here. */
  pass(request: Request): boolean {
    if (this.#waitedFor === undefined) return false;
    const selections = this.#selectionsOf(request) ?? [];
    const [only] = selections;
    if (only === undefined || selections.length > 1) return false;
    if (!this.#waitedFor.has(only.key)) return false;
    this.#passed += 1;
    return true;
  }

  /**
   * Whether the quota of its own space holds the request back, so that it keeps nothing here. The
   * other requests of that space wait behind it.
   */
  passHeldBack(request: Request, walk: Walk<Request>): boolean {
    if (!isHeldBackByQuota(request, this.#bucket.pool)) return false;
    this.#passed += 1;
    if (isForOnePool(request)) walk.skipSpace();
    return true;
  }

  /** Keeps the resources of a request that waits, from all requests behind it. */
  keep(request: Request, now: Instant): void {
    this.#overtaken += 1;
    const kept = keptFor(request, this.#bucket, now);
    if (kept === 0) return;
    if (Number.isFinite(kept) && (this.#isInVain(request) || this.#hadTurn(request))) return;
    const selections = this.#selectionsOf(request);
    if (selections === null) this.#keptOfAny += kept;
    else if (Number.isFinite(kept)) for (const one of selections) this.#keepSome(one);
    else for (const one of selections) this.#keepAll(one);
  }

  /**
   * Of the requests over several pools that go ahead because their space is starved, the first one
   * keeps something. The others may wait for other pools for long.
   */
  #hadTurn({ isStarved, space }: Request): boolean {
    if (!isStarved || space === null) return false;
    this.#turns ??= new Set();
    if (this.#turns.has(space)) return true;
    this.#turns.add(space);
    return false;
  }

  /**
   * Whether the requests ahead that also need another of its pools need all resources of that pool.
   * It could not be granted together with them, so what it kept here would be idle.
   */
  #isInVain(request: Request): boolean {
    const needs = request.alternatives.find((one) => needIn(one, this.#bucket) !== undefined) ?? [];
    const others = needs.filter((need) => !isSamePlace(need, this.#bucket) && hasFixedSize(need));
    this.#keptWith ??= new Map();
    for (const { pool, count } of others) {
      if ((this.#keptWith.get(pool) ?? 0) + count > pool.size) return true;
    }
    for (const { pool, count } of others) {
      this.#keptWith.set(pool, (this.#keptWith.get(pool) ?? 0) + count);
    }
    return false;
  }

  #selectionsOf(request: Request): readonly Selection[] | null {
    const need = needAt(request, this.#bucket);
    return need?.sharing === "exclusive" ? need.selections : null;
  }

  #keepAll(selection: Selection): void {
    if (isAny(selection)) {
      this.#keptOfAny = Number.POSITIVE_INFINITY;
      return;
    }
    this.#waitedFor ??= new Set();
    this.#waitedFor.add(selection.key);
    this.#kept ??= new Set();
    for (const resource of matchingIdle(this.#bucket, selection)) this.#kept.add(resource);
  }

  #keepSome(selection: Selection): void {
    if (isAny(selection)) {
      this.#keptOfAny += selection.count;
      return;
    }
    this.#kept ??= new Set();
    let missing = selection.count;
    for (const resource of matchingIdle(this.#bucket, selection)) {
      if (missing === 0) break;
      if (this.#kept.has(resource)) continue;
      this.#kept.add(resource);
      missing -= 1;
    }
  }

  /** The number of these idle resources that a request can have. */
  countOf(idle: readonly ExclusiveResource[]): number {
    const left = idle.filter((resource) => this.#kept?.has(resource) !== true).length;
    return Math.max(0, Math.min(left, this.count));
  }

  has(need: ExclusiveNeed): boolean {
    if (need.count > this.count) return false;
    return need.selections === null || this.#assign(need.selections) !== undefined;
  }

  /** Whether a grant must choose: it may not just take the resources that are idle longest. */
  choiceFor(need: Need): Choice | undefined {
    const selections = need.sharing === "exclusive" ? need.selections : null;
    if (selections === null && this.#kept === undefined) return undefined;
    const assignment = this.#assign(selections ?? []);
    if (assignment === undefined) {
      throw new Error(`Cannot grant ${need.count} of ${need.pool.name}: too few match`);
    }
    return { assignment, avoided: new Set([...(this.#kept ?? []), ...assignment.values()].flat()) };
  }

  #assign(selections: readonly Selection[]): Assignment<ExclusiveResource> | undefined {
    return assign(selections, (selection) => this.#candidates(selection));
  }

  *#candidates(selection: Selection): Generator<ExclusiveResource, void, undefined> {
    for (const resource of matchingIdle(this.#bucket, selection)) {
      if (this.#kept?.has(resource) !== true) yield resource;
    }
  }
}
