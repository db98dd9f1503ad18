/** Which pools share a limit. */
import type { Pool } from "../../../src/api/schemas.ts";

export interface Sharer {
  readonly name: string;
  /** Claims on resources of its own. */
  readonly held: number;
  /** Its resources; undefined: it is shared, and claims are parts of them. */
  readonly total: number | undefined;
}

/** The pools below a limit that have resources, those that hold most first. Empty: nobody shares it. */
export function sharersOf(limit: string, pools: readonly Pool[]): Sharer[] {
  const parents = new Map(pools.map(({ name, policy }) => [name, policy.parent ?? null]));
  const isBelow = (name: string) => {
    // A pool cannot be its own ancestor; a list that changes may look so for a moment.
    let at = parents.get(name) ?? null;
    for (let level = 0; at !== null && level < parents.size; level++) {
      if (at === limit) return true;
      at = parents.get(at) ?? null;
    }
    return false;
  };
  const below = pools.filter(({ name, limit: onlyLimit }) => {
    return onlyLimit === undefined && isBelow(name);
  });
  if (below.length === 0) return [];
  const own = pools.find(({ name, limit: onlyLimit }) => name === limit && onlyLimit === undefined);
  const all = own === undefined ? below : [own, ...below];
  return all
    .map(({ name, held, total, usage }) => ({ name, held, total: usage ? undefined : total }))
    .sort((a, b) => b.held - a.held || a.name.localeCompare(b.name));
}
