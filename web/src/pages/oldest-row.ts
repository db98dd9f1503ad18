/** The request that waits longest, also if it is far down its queue: people look for it first. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import type { Group } from "./grouping.ts";

type Aged = Pick<WaitingRequest, "id" | "queuedAt">;

export interface GroupWithOldest<T> extends Group<T> {
  /** The id of the last row, if it does not follow the one before it. */
  readonly apart?: string;
}

/** The first rows of each group, and after them the one of the group that waits longest. */
export function withOldestOf<T extends Aged>(
  all: readonly Group<T>[],
  first: readonly Group<T>[],
): GroupWithOldest<T>[] {
  return first.map((group) => {
    const rows = all.find(({ name }) => name === group.name)?.rows ?? [];
    const oldest = rows.reduce<T | undefined>((found, row) => {
      return found === undefined || row.queuedAt < found.queuedAt ? row : found;
    }, undefined);
    if (oldest === undefined || group.rows.some(({ id }) => id === oldest.id)) return group;
    const isNext = rows[group.rows.length]?.id === oldest.id;
    return { ...group, rows: [...group.rows, oldest], ...(!isNext && { apart: oldest.id }) };
  });
}
