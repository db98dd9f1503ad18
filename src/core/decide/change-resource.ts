import type { Command, ResourceChange } from "../model/command.ts";
import type { DurableEvent } from "../model/event.ts";
import { reservedStates } from "../model/lifecycle.ts";
import { done, type Outcome, refused } from "../model/outcome.ts";
import { claimsOn, type Resource } from "../model/state.ts";
import { resourceNotFound } from "./not-found.ts";
import { emit, type Turn } from "./turn.ts";

/** The most labels, and the most keys of user data, of a resource. */
export const entriesMax = 64;

type Changed = Extract<DurableEvent, { type: "resource-changed" }>;

/** Drains, undrains, quarantines, frees, labels. Asking for what is already so changes nothing. */
export function changeResource(
  turn: Turn,
  { resource: name, change, reason }: Extract<Command, { type: "change-resource" }>,
): Outcome {
  const resource = turn.state.resources.get(name);
  if (resource === undefined) return refused(resourceNotFound(turn.state, name));
  const [claim] = claimsOn(resource);
  if (change.state !== undefined && claim !== undefined) {
    const { holder } = claim.lease.ask;
    return refused({ code: "resource_held", resource: name, holder });
  }
  if (change.state !== undefined && reservedStates.includes(change.state)) {
    return refused({ code: "state_reserved", state: change.state });
  }
  const difference = differenceOf(resource, change);
  const { labels = {}, userData = {} } = difference;
  for (const [what, entries] of [
    ["labels", labels],
    ["user data", userData],
  ] as const) {
    if (Object.keys(entries).length > entriesMax) {
      return refused({ code: "too_many_entries", resource: name, what, max: entriesMax });
    }
  }
  if (Object.keys(difference).length === 0) return done;
  emit(turn, { type: "resource-changed", resource: name, ...difference, reason });
  return done;
}

function differenceOf(
  resource: Resource,
  change: ResourceChange,
): Partial<Omit<Changed, "type" | "resource" | "reason">> {
  const { state, note, drained } = change;
  const changesState = state !== undefined && state !== resource.state;
  const labels = merged(resource.labels, change.labels);
  const userData = merged(resource.userData, change.userData);
  return {
    ...(changesState ? { state } : undefined),
    ...(note === undefined || (note === resource.note && !changesState) ? undefined : { note }),
    ...(drained === undefined || drained === resource.drained ? undefined : { drained }),
    ...(labels === resource.labels ? undefined : { labels }),
    ...(userData === resource.userData ? undefined : { userData }),
  };
}

/** The same object where nothing changes. */
export function merged(
  entries: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>> = {},
): Readonly<Record<string, string>> {
  const real = Object.entries(changes).filter(([key, value]) => (entries[key] ?? null) !== value);
  if (real.length === 0) return entries;
  const all = new Map([...Object.entries(entries), ...real]);
  return Object.fromEntries(
    [...all].filter((entry): entry is [string, string] => entry[1] !== null),
  );
}
