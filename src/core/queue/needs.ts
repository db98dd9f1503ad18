/** The needs of a request, and gangs (requests that are granted together). */
import { isPhase } from "../model/cluster.ts";
import type { Ask, Item } from "../model/command.ts";
import type { PoolName } from "../model/ids.ts";
import { busyState, freeState, type Purpose, purposeOf } from "../model/lifecycle.ts";
import { anyResource, clusterSelection, type Selection, selectionOf } from "../model/selection.ts";
import {
  type ExclusiveNeed,
  type Gang,
  isShared,
  type Need,
  type Place,
  type Pool,
  type Request,
  type State,
} from "../model/state.ts";
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
    const purpose = purposeIn(pool, heldState);
    if (isShared(pool)) {
      const need = { pool, state: from, heldState, purpose, count };
      const demands = [demandOf(count, item)];
      addNeed(needs, { sharing: "shared", ...need, demands, owner: partOwner(ask) });
    } else {
      const selection = selectionIn(pool, item);
      const selections = selection === null ? null : [selection];
      addNeed(needs, {
        sharing: "exclusive",
        pool,
        state: from,
        heldState,
        purpose,
        count,
        selections,
      });
    }
  }
  return needs;
}

/** Only a worker holds a cluster in a state that has work for it. */
export function purposeIn({ clusters }: Pool, heldState: string): Purpose {
  return clusters !== null && isPhase(heldState) ? "provision" : purposeOf({ into: heldState });
}

function selectionIn({ policy: { cluster } }: Pool, item: Item): Selection | null {
  if (cluster === undefined || (item.state ?? freeState) !== freeState) return selectionOf(item);
  return clusterSelection(item.count, item.parameters ?? cluster.parameters);
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
  if (known.sharing === "shared" && need.sharing === "shared") {
    return { ...known, count, demands: [...known.demands, ...need.demands] };
  }
  if (known.sharing === "shared" || need.sharing === "shared") return { ...known, count };
  if (known.selections === null && need.selections === null) return { ...known, count };
  return { ...known, count, selections: [...selectionsOf(known), ...selectionsOf(need)] };
}

function selectionsOf({ selections, count }: ExclusiveNeed): readonly Selection[] {
  return selections ?? [anyResource(count)];
}

type Placed = Pick<Need, "pool" | "state">;

export function isSamePlace(a: Placed, b: Placed): boolean {
  return a.pool === b.pool && a.state === b.state;
}

/** Whether each alternative takes everything from one pool. */
export function isForOnePool({ alternatives }: Request): boolean {
  return alternatives.every(({ length }) => length === 1);
}

/** Whether the request takes only certain resources of an exclusive pool. */
export function hasSelection({ needs }: Request): boolean {
  return needs.some(isSelective);
}

export function isSelective(need: Need): boolean {
  return need.sharing === "exclusive" && need.selections !== null;
}

export function hasChoice({ alternatives }: Request): boolean {
  return alternatives.length > 1;
}

export function countAt(request: Request, place: Place): number {
  return needAt(request, place)?.count ?? 0;
}

/** The largest need of the request for this place, over its alternatives. */
export function needAt({ alternatives }: Request, place: Place): Need | undefined {
  let largest: Need | undefined;
  for (const needs of alternatives) {
    const need = needIn(needs, place);
    if (need !== undefined && need.count > (largest?.count ?? 0)) largest = need;
  }
  return largest;
}

export function needIn(needs: readonly Need[], place: Place): Need | undefined {
  return needs.find((need) => isSamePlace(need, place));
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
