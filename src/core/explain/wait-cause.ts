/**
 * Finds what a request waited for last, from the decision that grants it. A request is granted in
 * the decision that removes its last obstacle, so the cause is one of its events.
 */

import { openedIn } from "../gates/gates.ts";
import type { BrokerEvent, WaitCode } from "../model/event.ts";
import type { ResourceName } from "../model/ids.ts";
import {
  creatingState,
  freeState,
  type Purposeful,
  purposeOf,
  resumingState,
} from "../model/lifecycle.ts";
import { isMatch, matchingIdle, type Selection } from "../model/selection.ts";
import { idleCount, type Need, type Pool, type Request, type State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";

/** The parts of a decision that are read here. */
interface Decision {
  readonly state: State;
  readonly events: readonly BrokerEvent[];
  readonly now: Instant;
}

/** Each grant reads all events of its decision. For larger decisions the cause stays unknown. */
const eventsMax = 256;
/** Bounds the claims that all grants of a decision read together. */
const claimsMax = eventsMax * eventsMax;

/**
 * Returns null if the request did not wait, or if a new configuration led to the grant, because
 * then the cause is unknown.
 */
export function waitCause(
  decision: Decision,
  request: Request,
  needs: readonly Need[],
): WaitCode | null {
  const { state, events, now } = decision;
  if (isTooMuch(events) || events.some(({ type }) => type === "pool-defined")) return null;
  if (request.gang !== null && hasJustCome(events, request)) return "group_incomplete";
  const missing = needs.find((need) => !wasPresent(decision, need));
  if (missing !== undefined && missing.pool.clusters !== null) return madeBy(decision, missing);
  if (missing !== undefined) return missing.sharing === "shared" ? "no_room" : "no_free";
  return openedIn({ state, events, request, needs, now }) ?? "behind_others";
}

/** Whether the cluster that became ready in this decision was woken or made. */
function madeBy({ state, events }: Decision, { pool }: Need): WaitCode {
  for (const event of events) {
    if (event.type !== "lease-ended" && event.type !== "claim-ended") continue;
    for (const { resource: name } of event.type === "lease-ended" ? event.back : [event.back]) {
      const resource = state.resources.get(name);
      if (resource?.pool !== pool || resource.sharing === "shared") continue;
      if (resource.cluster?.reachedBy === resumingState) return "cluster_resuming";
      if (resource.cluster?.reachedBy === creatingState) return "cluster_creating";
    }
  }
  return "no_free";
}

function isTooMuch(events: readonly BrokerEvent[]): boolean {
  if (events.length > eventsMax) return true;
  let [grants, claims] = [1, 0];
  for (const event of events) {
    if (event.type === "lease-ended") claims += event.back.length;
    if (event.type !== "lease-granted") continue;
    claims += event.claims.length;
    grants += 1;
  }
  return grants * claims > claimsMax;
}

function hasJustCome(events: readonly BrokerEvent[], { gang }: Request): boolean {
  return events.some((event) => {
    return event.type === "request-queued" && gang?.members.some(({ id }) => id === event.id);
  });
}

/**
 * Whether the need was available before this decision. For shared resources only changes are known.
 */
function wasPresent(decision: Decision, need: Need): boolean {
  const { pool, state, count } = need;
  if (need.sharing === "shared") return changes(decision, pool, null, null).fresh === 0;
  if (need.selections === null) {
    const { fresh, taken } = changes(decision, pool, state, null);
    return idleCount(pool, state) - fresh + taken >= count;
  }
  return need.selections.every((selection) => {
    const { fresh, taken } = changes(decision, pool, state, selection);
    return idleMatches(need, selection) - fresh + taken >= selection.count;
  });
}

function idleMatches({ pool, state }: Need, selection: Selection): number {
  const bucket = pool.buckets.get(state);
  return bucket === undefined ? 0 : [...matchingIdle(bucket, selection)].length;
}

/**
 * The number of resources of the pool that the decision made available in this state or (null) in
 * any, and the number that it granted. With a selection only those that match.
 */
function changes(
  { state, events }: Decision,
  pool: Pool,
  from: string | null,
  selection: Selection | null,
): { readonly fresh: number; readonly taken: number } {
  const isWanted = (name: ResourceName): boolean => {
    const resource = state.resources.get(name);
    return resource?.pool === pool && (selection === null || isMatch(resource, selection));
  };
  let [fresh, taken] = [0, 0];
  for (const event of events) {
    // New labels matter only to requests that select by label.
    if (selection === null && event.type === "resource-relabelled") continue;
    fresh += freshIn(state, event, isWanted, from);
    if (event.type === "lease-granted") taken += grantedIn(event.claims, isWanted);
  }
  return { fresh, taken };
}

type IsWanted = (resource: ResourceName) => boolean;

/**
 * The number of resources that an event made available, in this state or (null) in any. Cooling
 * resources do not count.
 */
function freshIn(
  state: State,
  event: BrokerEvent,
  isWanted: IsWanted,
  wanted: string | null,
): number {
  const counts = (resource: ResourceName, to: string | undefined): number => {
    return (wanted === null || to === wanted) && isWanted(resource) ? 1 : 0;
  };
  switch (event.type) {
    case "lease-ended": {
      let sum = 0;
      for (const back of event.back) {
        if (back.restsUntil === undefined) sum += counts(back.resource, back.state);
      }
      return sum;
    }
    case "claim-ended":
      return event.back.restsUntil === undefined
        ? counts(event.back.resource, event.back.state)
        : 0;
    case "resource-added":
    case "resource-rested":
      return counts(event.resource, event.state ?? freeState);
    case "resource-changed":
    case "resource-moved":
    case "resource-kept":
    case "resource-relabelled":
    case "resource-resized":
      return counts(event.resource, state.resources.get(event.resource)?.state);
    default:
      return 0;
  }
}

type Claimed = Purposeful & { readonly resource: ResourceName };

function grantedIn(claims: readonly Claimed[], isWanted: IsWanted): number {
  let count = 0;
  for (const claim of claims) {
    if (purposeOf(claim) === "use" && isWanted(claim.resource)) count += 1;
  }
  return count;
}
