/** The tiles of a pool: first those that somebody should look at, then those in use, then what is free. */
import type { Resource } from "../../../src/api/schemas.ts";
import { freeState } from "../../../src/core/model/lifecycle.ts";

const brokenStates: readonly string[] = ["quarantined", "dirty", "drained", "broken"];

function rankOf({ state, drained }: Pick<Resource, "state" | "drained">): number {
  if (drained || brokenStates.includes(state)) return 0;
  return state === freeState ? 2 : 1;
}

/** Within each kind in the order that they have. */
export function inTileOrder<T extends Pick<Resource, "state" | "drained">>(
  resources: readonly T[],
): readonly T[] {
  return resources.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** More free ones than this are one line, on a phone and on a desk. */
const freeAtFirst = { phone: 8, desk: 100 };

/** The tiles without the free ones, if these are many, and how many these are. */
export function withoutFree<T extends Pick<Resource, "state" | "drained">>(
  resources: readonly T[],
  isPhone: boolean,
): { readonly tiles: readonly T[]; readonly folded: number } {
  const tiles = resources.filter((resource) => rankOf(resource) < 2);
  const folded = resources.length - tiles.length;
  const isMany = folded > freeAtFirst[isPhone ? "phone" : "desk"];
  return isMany ? { tiles, folded } : { tiles: resources, folded: 0 };
}
