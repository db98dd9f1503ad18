/** Rows in groups, by pool or by space, and the filters that lists have in common. */
import type { Lease, WaitingRequest } from "../../../src/api/schemas.ts";

export const groupings = [
  ["", "By pool"],
  ["space", "By space"],
  ["none", "One list"],
] as const;

export interface Group<T> {
  /** Empty for one list. */
  readonly name: string;
  readonly rows: readonly T[];
  /** Of all its rows, if only the first are here. */
  readonly count?: number;
}

/** In the order of the names. Rows without a name are in a group "none". */
export function groupedBy<T>(rows: readonly T[], nameOf: (row: T) => string): Group<T>[] {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const name = nameOf(row) || "none";
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return Array.from(groups, ([name, list]) => ({ name, rows: list })).sort((a, b) =>
    a.name.localeCompare(b.name),
  );
}

const releasedGroup = "all released, lease still open";

/** By pool or by space, in the order of the leases: the group of the first lease comes first. */
export function leaseGroups<T extends Pick<Lease, "space" | "claims">>(
  leases: readonly T[],
  by: string,
): Group<T>[] {
  if (by === "none") return [{ name: "", rows: leases }];
  const place = new Map(leases.map((lease, index) => [lease, index]));
  const first = ({ name, rows: [row] }: Group<T>) => {
    // Nobody waits for these, so they come last.
    if (name === releasedGroup) return leases.length;
    return (row && place.get(row)) ?? 0;
  };
  return groupedBy(leases, by === "space" ? ({ space }) => space ?? "" : poolsHeld).sort(
    (a, b) => first(a) - first(b),
  );
}

function poolsHeld({ claims }: Pick<Lease, "claims">): string {
  // A pool with `hold` takes its claims back before the lease ends.
  if (claims.length === 0) return releasedGroup;
  return [...new Set(claims.map(({ pool }) => pool))].join(" + ");
}

/** A group that is not the only one shows at least so many rows. */
const rowsPerGroupMin = 5;
/** Nobody asks for the last few. */
const rowsLeftMin = 4;

/**
 * The first rows of all groups together, so that a long list is drawn in parts. One long group does
 * not push the others out of sight. Of the group that is open all rows are shown.
 */
export function firstRows<T>(
  groups: readonly Group<T>[],
  limit: number,
  open?: string,
): Group<T>[] {
  let left = limit;
  const each = Math.max(rowsPerGroupMin, Math.floor(limit / Math.max(1, groups.length)));
  return groups.flatMap(({ name, rows }): Group<T>[] => {
    if (name === open) return [{ name, rows, count: rows.length }];
    const most = rows.length < each + rowsLeftMin ? rows.length : each;
    const shown = rows.slice(0, Math.max(0, Math.min(left, most)));
    left -= shown.length;
    return shown.length === 0 ? [] : [{ name, rows: shown, count: rows.length }];
  });
}

export function rowCount<T>(groups: readonly Group<T>[]): number {
  return groups.reduce((sum, { rows }) => sum + rows.length, 0);
}

/** When the request began that has waited longest. */
export function oldestIn(requests: readonly Pick<WaitingRequest, "queuedAt">[]): string {
  const [oldest = ""] = requests.map(({ queuedAt }) => queuedAt).toSorted();
  return oldest;
}

type Listed = Pick<Lease | WaitingRequest, "holder" | "labels" | "space">;

/** Whether any word of the row contains the text, and its space is the chosen one. */
export function isWanted(
  row: Listed,
  more: readonly string[],
  text: string,
  space: string,
): boolean {
  if (space !== "" && row.space !== space) return false;
  const labels = Object.entries(row.labels).map(([key, value]) => `${key}=${value}`);
  const wanted = text.toLowerCase();
  return [row.holder, row.space ?? "", ...labels, ...more].some((word) =>
    word.toLowerCase().includes(wanted),
  );
}
