/**
 * What one that waited was last in want of. It is read off the decision that grants it: nobody waits a
 * decision longer than what is in its way, so whatever let it go has happened in this one, or it was time.
 */

import type { Turn } from "../decide/turn.ts";
import { limitOf, usesOf } from "../gates/limits.ts";
import { isPaced, opensAt, reducedFrom } from "../gates/pace.ts";
import type { BrokerEvent } from "../model/event.ts";
import type { ResourceName } from "../model/ids.ts";
import {
  cleaningState,
  freeState,
  idleCount,
  type Need,
  type Pool,
  type Request,
  type State,
} from "../model/state.ts";
import type { WaitReason } from "./wait-reason.ts";

export type WaitCode = WaitReason["code"];

/** Each grant looks at all of its decision: those that come of more than this are not told. */
const eventsMax = 256;
/** So many claims are looked at for all grants of a decision together. */
const claimsMax = eventsMax * eventsMax;

/** Null: it did not wait, or a new configuration let it go and nobody can tell by what. */
export function waitCause(turn: Turn, request: Request, way: readonly Need[]): WaitCode | null {
  const { events } = turn;
  if (isTooMuch(events) || events.some(({ type }) => type === "pool-defined")) return null;
  if (request.gang !== null && hasComeJustNow(events, request)) return "group_incomplete";
  if (way.some(({ pool }) => hasHappened(events, "pool-admitted", pool))) return "admission";
  const missing = way.find((need) => !wasThere(turn, need));
  if (missing !== undefined) return missing.demands === null ? "no_free" : "no_room";
  if (wasOverLimit(turn, way)) return "limit_reached";
  const pace = paceWaitedFor(events, request, way);
  if (pace === null) return "behind_others";
  return reducedFrom(pace) === null ? "paced" : "limit_reduced";
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

function hasHappened(
  events: readonly BrokerEvent[],
  type: "pool-admitted" | "pool-attended" | "rate-changed",
  pool: Pool,
): boolean {
  return events.some((event) => event.type === type && event.pool === pool.name);
}

function hasComeJustNow(events: readonly BrokerEvent[], { gang }: Request): boolean {
  return events.some((event) => {
    return event.type === "request-queued" && gang?.members.some(({ id }) => id === event.id);
  });
}

/** Whether it was all there before this decision. Of rooms it is only known what has changed. */
function wasThere({ state, events }: Turn, { pool, state: from, count, demands }: Need): boolean {
  let [fresh, taken] = [0, 0];
  for (const event of events) {
    fresh += freshIn(state, event, pool, demands === null ? from : null);
    if (event.type === "lease-granted") taken += grantedIn(state, event.claims, pool);
  }
  if (demands !== null) return fresh === 0;
  return idleCount(pool, from) - fresh + taken >= count;
}

/** How many came to be there by an event, in this state or (null) in any. What rests is not there. */
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
  for (const { resource, into } of claims) {
    if (into !== cleaningState && poolOf(state, resource) === pool) count += 1;
  }
  return count;
}

function poolOf(state: State, resource: ResourceName): Pool | undefined {
  return state.resources.get(resource)?.pool;
}

/** Whether a limit had no room for it before this decision. */
function wasOverLimit({ state, events }: Turn, way: readonly Need[]): boolean {
  for (const [limit, count] of usesOf(way)) {
    let used = limit.used;
    const undo = (resource: ResourceName, by: number): void => {
      if (isBelow(poolOf(state, resource), limit)) used -= by;
    };
    for (const event of events) {
      if (event.type === "lease-granted") {
        for (const { resource, into } of event.claims)
          if (into !== cleaningState) undo(resource, 1);
      } else if (event.type === "lease-ended") {
        for (const { resource } of event.back) undo(resource, -1);
      } else if (event.type === "claim-ended") {
        undo(event.back.resource, -1);
      }
    }
    if (used + count > limitOf(limit)) return true;
  }
  return false;
}

function isBelow(pool: Pool | undefined, limit: Pool): boolean {
  for (let up = pool ?? null; up !== null; up = up.parent) if (up === limit) return true;
  return false;
}

/**
 * The pace that opened last, if that was in this decision and while it waited; or one that somebody has
 * changed. One that opened before let others go, and it stood behind them.
 */
function paceWaitedFor(
  events: readonly BrokerEvent[],
  { queuedAt }: Request,
  way: readonly Need[],
): Pool | null {
  let last: Pool | null = null;
  let lastAt = queuedAt;
  for (const { pool, into } of way) {
    if (into === cleaningState) continue;
    for (let up: Pool | null = pool; up !== null; up = up.parent) {
      if (hasHappened(events, "rate-changed", up)) return up;
      if (!isPaced(up) || opensAt(up) <= lastAt) continue;
      if (!hasHappened(events, "pool-attended", up)) continue;
      last = up;
      lastAt = opensAt(up);
    }
  }
  return last;
}
