/**
 * The needs of a request, whether they are available at its rank, and gangs (requests that are
 * granted together).
 */
import type { Ask, Item } from "../model/command.ts";
import type { PoolName } from "../model/ids.ts";
import { busyState, freeState, purposeOf } from "../model/lifecycle.ts";
import { isAhead, type Rank } from "../model/rank.ts";
import {
  type Gang,
  idleCount,
  isShared,
  type Need,
  type Place,
  type Request,
  type State,
} from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { canPlace } from "../shared/place.ts";
import { demandOf } from "../shared/placement/demand.ts";

/**
 * The needs and alternatives of a request. An item with several pools multiplies the alternatives.
 * The request waits in the queues of all of them, and gets the first alternative that is complete
 * at one time.
 */

/**
 * The maximum number of alternatives that are tried, best first. The API refuses an ask with more.
 */
export const alternativesMax = 64;

export function poolsOf({ pool, anyOf }: Item): readonly PoolName[] {
  return anyOf === undefined ? [pool] : [pool, ...anyOf];
}

export function alternativeCount({ items }: Pick<Ask, "items">): number {
  return items.reduce((product, item) => product * poolsOf(item).length, 1);
}

export interface Wants {
  /**
   * Every bucket that an alternative names, once. The request waits in the queues of these buckets.
   */
  readonly needs: readonly Need[];
  /** Best first. Usually only one, which has all the needs. */
  readonly alternatives: readonly (readonly Need[])[];
}

/**
 * A gang's request uses only its first alternative, because the needs of all members are added up.
 */
export function wantsOf(state: State, ask: Ask): Wants {
  const all = alternativesOf(state, ask);
  const alone = ask.group === undefined || ask.group.size === 1;
  const alternatives = alone ? all : all.slice(0, 1);
  return { needs: distinctNeeds(alternatives), alternatives };
}

function alternativesOf(state: State, ask: Ask): readonly (readonly Need[])[] {
  if (ask.items.every(({ anyOf }) => anyOf === undefined)) return [needsOf(state, ask)];
  let choices: readonly Item[][] = [[]];
  for (const item of ask.items) {
    const pools = poolsOf(item).filter((name) => state.pools.get(name)?.retired === false);
    choices = choices.flatMap((items) => pools.map((pool) => [...items, { ...item, pool }]));
  }
  return choices.slice(0, alternativesMax).map((items) => needsOf(state, { ...ask, items }));
}

function distinctNeeds(alternatives: Wants["alternatives"]): readonly Need[] {
  const [only] = alternatives;
  if (alternatives.length === 1 && only !== undefined) return only;
  const needs: Need[] = [];
  for (const need of alternatives.flat()) {
    if (!needs.some((known) => isSamePlace(known, need))) needs.push(need);
  }
  return needs;
}

/**
 * Adds up the items of an ask by pool and state, in the order of their first mention. Items of a
 * shared pool are placed together, so they are one need with several demands.
 */
function needsOf(state: State, ask: Pick<Ask, "items" | "group">): Need[] {
  const needs: Need[] = [];
  for (const item of ask.items) {
    const pool = state.pools.get(item.pool);
    if (pool === undefined) continue;
    const { count, state: from = freeState, into: heldState = busyState } = item;
    const purpose = purposeOf(heldState);
    if (isShared(pool)) {
      const need = { pool, state: from, heldState, purpose, count };
      const demands = [demandOf(count, item)];
      addNeed(needs, { sharing: "shared", ...need, demands, owner: partOwner(ask) });
    } else {
      addNeed(needs, { sharing: "exclusive", pool, state: from, heldState, purpose, count });
    }
  }
  return needs;
}

/** The owner of the parts that a new request may share: its group, or none. */
function partOwner({ group }: Pick<Ask, "group">): string {
  return group === undefined ? "" : groupOwner(group.name);
}

export function groupOwner(name: string): string {
  return `group ${name}`;
}

export function addNeed(needs: Need[], need: Need): void {
  const index = needs.findIndex((known) => isSamePlace(known, need));
  const known = needs[index];
  if (known === undefined) needs.push(need);
  else needs[index] = added(known, need);
}

function added(known: Need, need: Need): Need {
  const count = known.count + need.count;
  if (known.sharing === "exclusive" || need.sharing === "exclusive") return { ...known, count };
  return { ...known, count, demands: [...known.demands, ...need.demands] };
}

type Placed = Pick<Need, "pool" | "state">;

export function isSamePlace(a: Placed, b: Placed): boolean {
  return a.pool === b.pool && a.state === b.state;
}

/** Whether each alternative takes everything from one pool. */
export function isForOnePool({ alternatives }: Request): boolean {
  return alternatives.every(({ length }) => length === 1);
}

export function hasChoice({ alternatives }: Request): boolean {
  return alternatives.length > 1;
}

/** Availability: with the queue ignored, and at a rank. Gates are separate (`gates`). */

/**
 * The maximum number of waiting requests that a decision evaluates to find one that can be granted.
 * This bounds its cost if thousands wait for several pools at once. Requests further back wait.
 */
export const overtakenMax = 100;

/** Whether enough are free, with the queue ignored. */
export function isPresent(need: Need, rank: Rank): boolean {
  if (need.sharing === "shared") return canPlace(need, rank);
  return need.count <= idleCount(need.pool, need.state);
}

/** The same as text, for the explanation of a wait. */
export function presentText(need: Need): string {
  const { pool, state } = need;
  if (need.sharing === "shared") return `${pool.name} has room`;
  return `${idleCount(pool, state)} of ${pool.size} ${pool.name} ${state}`;
}

/** Whether a need is available at this rank. Ignores the gates. */
export function isAvailable(need: Need, rank: Rank, now: Instant): boolean {
  if (need.sharing === "shared") return canPlace(need, rank);
  return need.count <= availableTo(need, rank, now);
}

/** The number of idle resources that are not kept for requests ahead of this rank. */
export function availableTo(place: Place, rank: Rank, now: Instant): number {
  const bucket = place.pool.buckets.get(place.state);
  if (bucket === undefined) return 0;
  let available = bucket.idle.size;
  if (available === 0 || bucket.queue.size === 0) return available;
  let looked = 0;
  for (const ahead of bucket.queue) {
    if (!isAhead(ahead, rank)) break;
    if (looked === overtakenMax) return 0;
    looked += 1;
    available -= keptFor(ahead, bucket, now);
    if (available <= 0) return 0;
  }
  return available;
}

/** The number of resources that a waiting request keeps from all requests behind it. */
export function keptFor(request: Request, place: Place, now: Instant): number {
  if (isShared(place.pool)) return 0;
  if (isForOnePool(request)) return Number.POSITIVE_INFINITY;
  if (now - request.queuedAt < place.pool.policy.patienceMs) return 0;
  return countAt(request, place);
}

export function countAt(request: Request, place: Place): number {
  return Math.max(0, ...request.alternatives.map((needs) => countIn(needs, place)));
}

export function countIn(needs: readonly Need[], place: Place): number {
  return needs.find((need) => isSamePlace(need, place))?.count ?? 0;
}

/**
 * Gangs: requests of one group that are granted together. Until all members have arrived, they are
 * in no queue and delay no other request. Then the last member leads: it waits in the queues for
 * all of them, at its own rank.
 */

/** The members that have arrived; undefined if the ask has no gang or is its first member. */
export function gangOf(state: State, { group }: Ask): Gang | undefined {
  return group === undefined || group.size === 1 ? undefined : state.gangs.get(group.name);
}

/** The request that waits in the queues for this one: the leader of its gang, or itself. */
export function leaderOf(request: Request): Request {
  return request.gang?.members.find(({ inLine }) => inLine) ?? request;
}

/** The needs of all members, added up. */
export function combinedWants(members: readonly { readonly own: Wants }[]): Wants {
  const needs: Need[] = [];
  for (const need of members.flatMap(({ own }) => own.needs)) addNeed(needs, need);
  return { needs, alternatives: [needs] };
}
