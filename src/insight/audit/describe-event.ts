/** What the audit says about an event of the journal, apart from who caused it. */
import type { Reason } from "../../core/model/command.ts";
import type { DurableEvent, Return } from "../../core/model/event.ts";

export interface EventFacts {
  readonly reason?: Reason | undefined;
  /** A reason without a person, such as a holder's report. */
  readonly why?: string | undefined;
  readonly lease?: string;
  readonly pools?: readonly string[];
  readonly resources?: readonly string[];
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * Undefined for events that change nothing for people: the reservations of a waiting request, the
 * delivery of a reply, the end of a cooldown. Notes and user data may contain secrets, so only the
 * keys of user data are kept.
 */
export function describeEvent(event: DurableEvent): EventFacts | undefined {
  switch (event.type) {
    case "room-kept":
    case "lease-delivered":
    case "resource-rested":
      return undefined;
    case "lease-granted":
      return { lease: event.id, resources: event.claims.map(({ resource }) => resource) };
    case "lease-ended":
      return {
        lease: event.id,
        resources: event.back.map(({ resource }) => resource),
        reason: event.reason,
        detail: { end: event.why, ...statesOf(event.back) },
      };
    case "claim-ended":
      return {
        lease: event.id,
        resources: [event.back.resource],
        detail: { end: event.why, claim: event.claim, ...statesOf([event.back]) },
      };
    case "request-left":
      return { lease: event.id, reason: event.reason, detail: { end: event.why } };
    case "priority-changed":
      return { lease: event.id, reason: event.reason, ...rankFacts(event) };
    case "resource-changed":
      return { resources: [event.resource], reason: event.reason, detail: changesOf(event) };
    case "resource-relabelled":
      return { resources: [event.resource], detail: { labels: event.labels } };
    case "rate-changed":
      return { pools: [event.pool], ...rateFacts(event) };
    case "pool-signalled":
      return {
        pools: [event.pool],
        lease: event.id,
        why: event.evidence,
        detail: { throttled: event.throttled },
      };
    case "pool-admitted":
      return { pools: [event.pool], detail: { grants: event.grants } };
    case "hub-set":
      return { reason: event.reason, detail: { hub: event.name, state: event.state } };
    case "hub-defined":
    case "hub-retired":
    case "hub-probed":
      return { ...commonFacts(event), detail: { hub: event.name } };
    case "cluster-moved":
      return { ...commonFacts(event), detail: { state: event.state } };
    case "cluster-wanted":
      return { ...commonFacts(event), detail: { wanted: event.wanted } };
    case "cluster-held":
      return { ...commonFacts(event), detail: { held: event.hold !== null } };
    case "event-skipped":
      return { why: event.why, detail: { was: event.was } };
    default:
      return commonFacts(event);
  }
}

/** What most events have under the same names. */
function commonFacts(event: DurableEvent): EventFacts {
  const { id, pool, resource, reason, why } = event as Readonly<Record<string, unknown>>;
  return {
    ...(typeof why === "string" ? { why } : undefined),
    ...(isReason(reason) ? { reason } : undefined),
    ...(typeof id === "string" ? { lease: id } : undefined),
    ...(typeof pool === "string" ? { pools: [pool] } : undefined),
    ...(typeof resource === "string" ? { resources: [resource] } : undefined),
  };
}

function isReason(value: unknown): value is Reason {
  return typeof value === "object" && value !== null && "by" in value && "why" in value;
}

function statesOf(back: readonly Return[]): { readonly states?: readonly string[] } {
  return back.length === 0 ? {} : { states: [...new Set(back.map(({ state }) => state))] };
}

function changesOf(
  event: Extract<DurableEvent, { type: "resource-changed" }>,
): Readonly<Record<string, unknown>> {
  const { state, drained, labels, userData, userDataChanges } = event;
  const keys = Object.keys({ ...userData, ...userDataChanges });
  return {
    ...(state === undefined ? undefined : { state }),
    ...(drained === undefined ? undefined : { drained }),
    ...(labels === undefined ? undefined : { labels }),
    ...(keys.length === 0 ? undefined : { userDataKeys: keys }),
  };
}

/** A starved request has the priority that it had. */
function rankFacts(event: Extract<DurableEvent, { type: "priority-changed" }>): EventFacts {
  const { priority, starved, pool } = event;
  if (starved !== true) return { detail: { priority } };
  return { detail: { priority, starved }, ...(pool === undefined ? undefined : { pools: [pool] }) };
}

function rateFacts({ rate, cause }: Extract<DurableEvent, { type: "rate-changed" }>): EventFacts {
  const { how, by, why, lease } = cause;
  return {
    detail: { rate, how },
    ...(by === undefined ? { why } : { reason: { by, why: why ?? "" } }),
    ...(lease === undefined ? undefined : { lease }),
  };
}
