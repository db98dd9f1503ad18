/**
 * Finds what a request waited for last, from the decision that grants it. A request is granted in
 * the decision that removes its last obstacle, so the cause is one of its events.
 */

import { openedIn } from "../gates/gates.ts";
import type { BrokerEvent, WaitCode } from "../model/event.ts";
import type { ResourceName } from "../model/ids.ts";
import { freeState, purposeOf } from "../model/lifecycle.ts";
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
  if (missing !== undefined) return missing.sharing === "shared" ? "no_room" : "no_free";
  return openedIn({ state, events, request, needs, now }) ?? "behind_others";
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
function wasPresent({ state, events }: Decision, need: Need): boolean {
  const { pool, state: from, count } = need;
  const isExclusive = need.sharing === "exclusive";
  let [fresh, taken] = [0, 0];
  for (const event of events) {
    fresh += freshIn(state, event, pool, isExclusive ? from : null);
    if (event.type === "lease-granted") taken += grantedIn(state, event.claims, pool);
  }
  return isExclusive ? idleCount(pool, from) - fresh + taken >= count : fresh === 0;
}

/**
 * The number of resources that an event made available, in this state or (null) in any. Cooling
 * resources do not count.
 */
function freshIn(state: State, event: BrokerEvent, pool: Pool, wanted: string | null): number {
  const counts = (resource: ResourceName, to: string | undefined): number => {
    const isThere = poolOf(state, resource) === pool && (wanted === null || to === wanted);
    return isThere ? 1 : 0;
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
    case "resource-resized":
      return counts(event.resource, state.resources.get(event.resource)?.state);
    default:
      return 0;
  }
}

type Claimed = { readonly resource: ResourceName; readonly into?: string };

function grantedIn(state: State, claims: readonly Claimed[], pool: Pool): number {
  let count = 0;
  for (const { resource, into = "" } of claims) {
    if (purposeOf(into) !== "clean" && poolOf(state, resource) === pool) count += 1;
  }
  return count;
}

function poolOf(state: State, resource: ResourceName): Pool | undefined {
  return state.resources.get(resource)?.pool;
}
