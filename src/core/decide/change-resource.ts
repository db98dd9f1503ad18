import { isCluster } from "../clusters/snapshot.ts";
import type { Command, ResourceChange } from "../model/command.ts";
import { changedEntries, merged } from "../model/entries.ts";
import type { DurableEvent } from "../model/event.ts";
import { reservedStates } from "../model/lifecycle.ts";
import { done, type Outcome, type Refusal, refused } from "../model/outcome.ts";
import { claimsOn, type Resource } from "../model/state.ts";
import { userDataFault } from "../model/user-data.ts";
import { resourceNotFound } from "./not-found.ts";
import { refuseState } from "./refuse-state.ts";
import { emit, type Turn } from "./turn.ts";

/** The maximum number of labels of a resource. */
const labelsMax = 64;

type Changed = Extract<DurableEvent, { type: "resource-changed" }>;

/**
 * Drains, undrains, quarantines, frees or labels a resource. Without a difference it makes no
 * event.
 */
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
  const isReserved = isCluster(resource) || reservedStates.includes(change.state ?? "");
  if (change.state !== undefined && isReserved) {
    return refused({ code: "state_reserved", state: change.state });
  }
  const notAllowed =
    change.state === undefined ? undefined : refuseState(resource.pool, change.state);
  if (notAllowed !== undefined) return refused(notAllowed);
  const difference = differenceOf(resource, change);
  if (Object.keys(difference.labels ?? {}).length > labelsMax) {
    return refused({ code: "too_many_entries", resource: name, what: "labels", max: labelsMax });
  }
  const refusal = refuseUserData(resource, difference.userDataChanges);
  if (refusal !== undefined) return refused(refusal);
  if (Object.keys(difference).length === 0) return done;
  emit(turn, { type: "resource-changed", resource: name, ...difference, reason });
  return done;
}

function differenceOf(
  resource: Resource,
  change: ResourceChange,
): Partial<Omit<Changed, "type" | "resource" | "reason">> {
  const { state, drained } = change;
  const changesState = state !== undefined && state !== resource.state;
  const note = change.note ?? (drained === false ? noteAfterDrain(resource) : undefined);
  const changesNote = note !== undefined && (note !== resource.note || changesState);
  // To drain it again with another note is to give another reason.
  const drains =
    drained !== undefined && (drained !== resource.drained || (drained && changesNote));
  const labels = merged(resource.labels, change.labels);
  const userDataChanges = changedEntries(resource.userData, change.userData);
  return {
    ...(changesState ? { state } : undefined),
    ...(changesNote ? { note } : undefined),
    ...(drains ? { drained } : undefined),
    ...(labels === resource.labels ? undefined : { labels }),
    ...(userDataChanges === undefined ? undefined : { userDataChanges }),
  };
}

/** A note that repeats why it is drained ends with the drain: from then on every space would read it. */
function noteAfterDrain({ note, drainReason }: Resource): string | undefined {
  return note !== "" && note === drainReason?.why ? "" : undefined;
}

/** Undefined if the user data of the resource may change so. */
export function refuseUserData(
  { name, userData: before }: Resource,
  changes: Changed["userDataChanges"],
): Refusal | undefined {
  if (changes === undefined) return undefined;
  const fault = userDataFault(merged(before, changes), before);
  if (fault === undefined) return undefined;
  if (fault.why !== "too_many_keys") return { code: "user_data_refused", resource: name, fault };
  return { code: "too_many_entries", resource: name, what: "user data", max: fault.max };
}
