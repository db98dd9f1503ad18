/**
 * Requests that take one of several pools. A choice multiplies the ways in which a request can be
 * served; it stands in line at all of them, and the first that is whole at one moment is granted.
 */
import type { Ask, Item } from "../model/command.ts";
import type { PoolName } from "../model/ids.ts";
import { type Need, needsOf, type Request, type State } from "../model/state.ts";

/** So many ways are looked at, the best first; edges refuse an ask that has more. */
export const alternativesMax = 64;

export function poolsOf({ pool, anyOf }: Item): readonly PoolName[] {
  return anyOf === undefined ? [pool] : [pool, ...anyOf];
}

/** In how many ways an ask could be served. */
export function alternativeCount({ items }: Pick<Ask, "items">): number {
  return items.reduce((product, item) => product * poolsOf(item).length, 1);
}

/** What a request wants: the ways in which it can be served, and every place that these name. */
export interface Wants {
  /** Where it stands in line. */
  readonly needs: readonly Need[];
  /** The best first. Mostly one, which is all its needs. */
  readonly alternatives: readonly (readonly Need[])[];
}

/** Who is granted together with others has no choice: what all of them want is added up. */
export function wantsOf(state: State, ask: Ask): Wants {
  const all = alternativesOf(state, ask);
  const alone = ask.group === undefined || ask.group.size === 1;
  const alternatives = alone ? all : all.slice(0, 1);
  return { needs: placesOf(alternatives), alternatives };
}

export function alternativesOf(state: State, ask: Ask): readonly (readonly Need[])[] {
  if (ask.items.every(({ anyOf }) => anyOf === undefined)) return [needsOf(state, ask)];
  let ways: readonly Item[][] = [[]];
  for (const item of ask.items) {
    const pools = poolsOf(item).filter((name) => state.pools.has(name));
    ways = ways.flatMap((way) => pools.map((pool) => [...way, { ...item, pool }]));
  }
  return ways.slice(0, alternativesMax).map((items) => needsOf(state, { ...ask, items }));
}

/** Every place that any of the ways has something to do with, once. */
export function placesOf(options: readonly (readonly Need[])[]): readonly Need[] {
  const [only] = options;
  if (options.length === 1 && only !== undefined) return only;
  const places: Need[] = [];
  for (const need of options.flat()) {
    const known = places.some(({ pool, state }) => pool === need.pool && state === need.state);
    if (!known) places.push(need);
  }
  return places;
}

/** It takes all that it needs from one place, whichever that will be. */
export function isForOnePool({ alternatives }: Request): boolean {
  return alternatives.every(({ length }) => length === 1);
}

export function hasChoice({ alternatives }: Request): boolean {
  return alternatives.length > 1;
}
