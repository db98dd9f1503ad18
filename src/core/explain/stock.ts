/** The resources of an exclusive pool that a need can use, counted by state. */
import { coolingState } from "../model/lifecycle.ts";
import { isAny, isMatch, matchingIdle, type Selection, selectionText } from "../model/selection.ts";
import {
  type ExclusiveNeed,
  type ExclusiveResource,
  idleCount,
  type Pool,
  shownState,
} from "../model/state.ts";

export interface Stock {
  /** The pool, and the labels if the need selects by label. */
  readonly name: string;
  readonly count: number;
  readonly size: number;
  /** The number that could be lent now. */
  readonly idle: number;
  readonly held: number;
  readonly cooling: number;
  /** The number of resources in each shown state. */
  readonly shown: ReadonlyMap<string, number>;
  /** The resource, if the need names one. */
  readonly only: ExclusiveResource | undefined;
}

/** The stock of the first selection that has too few idle resources, or of the first selection. */
export function stockFor(need: ExclusiveNeed): Stock {
  const { selections } = need;
  if (selections === null) return poolStock(need);
  const stocks = selections.map((selection) => {
    return isAny(selection)
      ? poolStock({ ...need, count: selection.count })
      : selectionStock(need, selection);
  });
  const short = stocks.find(({ idle, count }) => idle < count);
  return short ?? stocks[0] ?? poolStock(need);
}

function poolStock({ pool, state, count }: ExclusiveNeed): Stock {
  const { name, size, held, shown } = pool;
  const cooling = shown.get(coolingState) ?? 0;
  return { name, count, size, idle: idleCount(pool, state), held, cooling, shown, only: undefined };
}

function selectionStock({ pool, state }: ExclusiveNeed, selection: Selection): Stock {
  const bucket = pool.buckets.get(state);
  const matching = membersOf(pool, selection);
  const shown = new Map<string, number>();
  for (const resource of matching) {
    shown.set(shownState(resource), (shown.get(shownState(resource)) ?? 0) + 1);
  }
  const { resource, count } = selection;
  const name = resource ?? `${pool.name} with ${selectionText(selection)}`;
  return {
    name,
    count,
    size: matching.length,
    idle: bucket === undefined ? 0 : [...matchingIdle(bucket, selection)].length,
    held: matching.filter(({ claim }) => claim !== null).length,
    cooling: shown.get(coolingState) ?? 0,
    shown,
    only: resource === undefined ? undefined : matching[0],
  };
}

/** The resources of the pool that match, without retired ones. */
function membersOf({ members }: Pool, selection: Selection): ExclusiveResource[] {
  const matching: ExclusiveResource[] = [];
  for (const resource of members) {
    if (resource.sharing === "shared" || resource.retired) continue;
    if (isMatch(resource, selection)) matching.push(resource);
  }
  return matching;
}

/** The resources of the pool that match one of the selections. */
export function selectedMembers(
  { members }: Pool,
  selections: readonly Selection[],
): ExclusiveResource[] {
  return [...members]
    .filter((resource) => resource.sharing === "exclusive")
    .filter((resource) => selections.some((selection) => isMatch(resource, selection)));
}
