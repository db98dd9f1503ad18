/** Gives each selection of a need its own resources. */
import { isAny, type Selection } from "../model/selection.ts";

/** The resources of each selection. Selections that take any resource are not listed. */
export type Assignment<Resource> = ReadonlyMap<Selection, readonly Resource[]>;

/** What selections with the same conditions want together, and still lack. */
interface Demand<Resource> {
  readonly candidates: readonly Resource[];
  missing: number;
  /** In this round: how many resources must move before one of this demand can; infinite: none can. */
  level: number;
  /** In this round: candidates before this one are of no use. */
  next: number;
}

/**
 * Returns undefined if the candidates do not suffice for all selections together. A resource that
 * matches two selections goes to the one that has no other: a selection may get a resource of
 * another one that can take another instead, and so on.
 *
 * One request may ask for sixteen thousand resources with sixteen selections, so the cost matters.
 * This is Dinic's algorithm with one node for
 * each selection: a round looks at each candidate of each selection about once, and needs longer chains than the round
 * before. No chain has a selection twice, so there are no more rounds than selections.
 */
export function assign<Resource extends object>(
  selections: readonly Selection[],
  candidates: (selection: Selection) => Iterable<Resource>,
): Assignment<Resource> | undefined {
  const wanted = selections.filter((selection) => !isAny(selection));
  const total = countOf(wanted);
  const demands = new Map<string, Demand<Resource>>();
  for (const [key, same] of Map.groupBy(wanted, ({ key }) => key)) {
    const [selection] = same;
    if (selection === undefined) continue;
    const missing = countOf(same);
    // Of as many candidates as are wanted in all, enough are always left, so the others need not be tried.
    const list = first(candidates(selection), total);
    if (list.length < missing) return undefined;
    demands.set(key, { candidates: list, missing, level: 0, next: 0 });
  }
  const takenBy = placed([...demands.values()]);
  return takenBy && collected(wanted, demands, takenBy);
}

function countOf(selections: readonly Selection[]): number {
  return selections.reduce((sum, { count }) => sum + count, 0);
}

/** Which demand gets each resource; undefined: they cannot all be met. */
function placed<Resource extends object>(
  demands: readonly Demand<Resource>[],
): ReadonlyMap<Resource, Demand<Resource>> | undefined {
  const takenBy = new Map<Resource, Demand<Resource>>();
  while (demands.some(({ missing }) => missing > 0)) {
    if (!findLevels(demands, takenBy)) return undefined;
    for (const demand of demands) {
      while (demand.missing > 0 && takesOne(demand, takenBy)) demand.missing -= 1;
    }
  }
  return takenBy;
}

/** Begins a round. Returns false if no demand can get another resource, so that some lack one for good. */
function findLevels<Resource extends object>(
  demands: readonly Demand<Resource>[],
  takenBy: ReadonlyMap<Resource, Demand<Resource>>,
): boolean {
  for (const demand of demands) {
    demand.level = demand.missing > 0 ? 0 : Number.POSITIVE_INFINITY;
    demand.next = 0;
  }
  const reached = demands.filter(({ level }) => level === 0);
  let isFreeFound = false;
  // The list grows while it is read.
  for (const demand of reached) {
    for (const resource of demand.candidates) {
      const other = takenBy.get(resource);
      if (other === undefined) {
        isFreeFound = true;
        break;
      }
      if (other.level !== Number.POSITIVE_INFINITY) continue;
      other.level = demand.level + 1;
      reached.push(other);
    }
  }
  return isFreeFound;
}

/** Takes a free resource, or one of a demand that takes another instead. */
function takesOne<Resource extends object>(
  demand: Demand<Resource>,
  takenBy: Map<Resource, Demand<Resource>>,
): boolean {
  for (; ; demand.next++) {
    const resource = demand.candidates[demand.next];
    if (resource === undefined) return false;
    const other = takenBy.get(resource);
    const canMove = other === undefined || other.level === demand.level + 1;
    if (!canMove || (other !== undefined && !takesOne(other, takenBy))) continue;
    takenBy.set(resource, demand);
    return true;
  }
}

function first<Element>(elements: Iterable<Element>, max: number): Element[] {
  const found: Element[] = [];
  for (const element of elements) {
    if (found.length === max) break;
    found.push(element);
  }
  return found;
}

/** Longest idle first, because the lists of candidates are in this order. */
function collected<Resource extends object>(
  wanted: readonly Selection[],
  demands: ReadonlyMap<string, Demand<Resource>>,
  takenBy: ReadonlyMap<Resource, Demand<Resource>>,
): Assignment<Resource> {
  const own = new Map<string, Resource[]>();
  for (const [key, demand] of demands) {
    const resources = demand.candidates.filter((resource) => takenBy.get(resource) === demand);
    own.set(key, resources);
  }
  const assignment = new Map<Selection, readonly Resource[]>();
  for (const selection of wanted) {
    const given = own.get(selection.key)?.splice(0, selection.count) ?? [];
    assignment.set(selection, [...(assignment.get(selection) ?? []), ...given]);
  }
  return assignment;
}
