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

/** The first rows of all groups together, so that a long list is drawn in parts. */
export function firstRows<T>(groups: readonly Group<T>[], limit: number): Group<T>[] {
  let left = limit;
  return groups.flatMap(({ name, rows }): Group<T>[] => {
    const shown = rows.slice(0, Math.max(0, left));
    left -= shown.length;
    return shown.length === 0 ? [] : [{ name, rows: shown }];
  });
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
