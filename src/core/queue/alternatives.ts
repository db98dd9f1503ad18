/**
 * What a request wants, and in which alternatives it can have it. An item that takes one of several
 * pools multiplies the alternatives; the request stands in the queue of all of them, and the first
 * that is whole at one moment is granted.
 */
import type { Ask, Item } from "../model/command.ts";
import type { PoolName } from "../model/ids.ts";
import { busyState, freeState, purposeOf } from "../model/lifecycle.ts";
import { isShared, type Need, type Request, type State } from "../model/state.ts";
import { demandOf } from "../shared/placement/demand.ts";

/** The most alternatives that are tried, the best first; edges refuse an ask that has more. */
export const alternativesMax = 64;

export function poolsOf({ pool, anyOf }: Item): readonly PoolName[] {
  return anyOf === undefined ? [pool] : [pool, ...anyOf];
}

export function alternativeCount({ items }: Pick<Ask, "items">): number {
  return items.reduce((product, item) => product * poolsOf(item).length, 1);
}

export interface Wants {
  /** Every bucket that an alternative names, once: where the request stands in line. */
  readonly needs: readonly Need[];
  /** The best first. Mostly one, which is all its needs. */
  readonly alternatives: readonly (readonly Need[])[];
}

/** A request of a gang has no choice: what all of its members want is added up. */
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
    const pools = poolsOf(item).filter((name) => state.pools.has(name));
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
 * An ask's items added up by pool and state, in the order of their first mention. Items of a shared
 * pool are placed together, so they are one need with several demands.
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

/** Whose parts a new request may share: those of its group, or nobody's. */
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

/** It takes all that it needs from one pool, whichever that will be. */
export function isForOnePool({ alternatives }: Request): boolean {
  return alternatives.every(({ length }) => length === 1);
}

export function hasChoice({ alternatives }: Request): boolean {
  return alternatives.length > 1;
}
