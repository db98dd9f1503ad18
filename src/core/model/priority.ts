/**
 * Priorities: their names, and how they rise while a request waits. Ageing protects requests of low
 * priority from endless requests of a higher one. It ends at a fixed priority, so that requests of
 * that priority and above keep their order, which is that of the shares of their spaces.
 */
import { entryOf } from "./entries.ts";
import type { Space } from "./space.ts";
import type { Request, State } from "./state.ts";
import { after, type Instant, never } from "./time.ts";

export interface Ageing {
  /** A waiting request rises by `step` each time this has passed. */
  readonly everyMs: number;
  readonly step: number;
  /** No request rises above this priority. */
  readonly max: number;
}

export interface PrioritiesSpec {
  /** Names that a request may give instead of a number. */
  readonly classes: Readonly<Record<string, number>>;
  /** Null: the priority of a waiting request never changes by itself. */
  readonly ageing: Ageing | null;
}

export const plainPriorities: PrioritiesSpec = { classes: {}, ageing: null };

/** The priority of a class; undefined if there is no such class. */
export function classPriority({ classes }: PrioritiesSpec, name: string): number | undefined {
  return entryOf(classes, name);
}

/** The highest priority that a request of the space reaches by waiting. */
function agedMax({ max }: Ageing, space: Space | null): number {
  return Math.min(max, space?.policy.priorityMax ?? Number.POSITIVE_INFINITY);
}

/** When the request rises next; `never` if it does not. */
export function nextRiseAt({ priorities: { ageing } }: State, request: Request): Instant {
  if (ageing === null || request.priority >= agedMax(ageing, request.space)) return never;
  return after(request.rankedAt, ageing.everyMs);
}

/** The priority after all rises that are due; several after a long pause of the server. */
export function agedPriority({ priorities }: State, request: Request, now: Instant): number {
  const { ageing } = priorities;
  const { priority, rankedAt, space } = request;
  if (ageing === null) return priority;
  const rises = Math.max(1, Math.floor((now - rankedAt) / ageing.everyMs));
  return Math.max(priority, Math.min(agedMax(ageing, space), priority + rises * ageing.step));
}
