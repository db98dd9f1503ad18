/** Gives each selection of a need its own resources. */
import { isAny, type Selection } from "../model/selection.ts";

/** The resources of each selection. Selections that take any resource are not listed. */
export type Assignment<Resource> = ReadonlyMap<Selection, readonly Resource[]>;

/**
 * Returns undefined if the candidates do not suffice for all selections together. A resource that
 * matches two selections goes to the one that has no other, so each unit may move to another of its
 * candidates (augmenting paths of a bipartite matching).
 */
export function assign<Resource>(
  selections: readonly Selection[],
  candidates: (selection: Selection) => Iterable<Resource>,
): Assignment<Resource> | undefined {
  const units = unitsOf(selections);
  const lists = new Map<Selection, readonly Resource[]>();
  for (const { selection } of units) {
    // Of more candidates than units one is always left, so the others need not be tried.
    if (!lists.has(selection)) lists.set(selection, first(candidates(selection), units.length));
  }
  const takenBy = new Map<Resource, Unit>();
  const isPlaced = (unit: Unit, tried: Set<Resource>): boolean => {
    for (const resource of lists.get(unit.selection) ?? []) {
      if (tried.has(resource)) continue;
      tried.add(resource);
      const other = takenBy.get(resource);
      if (other !== undefined && !isPlaced(other, tried)) continue;
      takenBy.set(resource, unit);
      return true;
    }
    return false;
  };
  for (const unit of units) if (!isPlaced(unit, new Set())) return undefined;
  return collected(selections, lists, takenBy);
}

/** One resource of a selection. */
interface Unit {
  readonly selection: Selection;
}

function unitsOf(selections: readonly Selection[]): Unit[] {
  return selections.flatMap((selection) => {
    return isAny(selection) ? [] : Array.from({ length: selection.count }, () => ({ selection }));
  });
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
function collected<Resource>(
  selections: readonly Selection[],
  lists: ReadonlyMap<Selection, readonly Resource[]>,
  takenBy: ReadonlyMap<Resource, Unit>,
): Assignment<Resource> {
  const assignment = new Map<Selection, readonly Resource[]>();
  for (const selection of selections) {
    if (isAny(selection)) continue;
    const own = lists.get(selection) ?? [];
    assignment.set(
      selection,
      own.filter((resource) => takenBy.get(resource)?.selection === selection),
    );
  }
  return assignment;
}
