/** The phases of a cluster, from its events. */
import type { FeedEvent } from "../../../src/client/event-feed.ts";

export interface PhaseSpan {
  readonly state: string;
  readonly from: string;
  /** Null: it is in this phase now. */
  readonly to: string | null;
}

/** `events` are those about the cluster, the newest first. */
export function phasesOf(name: string, events: readonly FeedEvent[]): readonly PhaseSpan[] {
  const spans: PhaseSpan[] = [];
  for (const event of events.toReversed()) {
    const state = stateAfter(name, event);
    const last = spans.at(-1);
    if (state === undefined || state === last?.state) continue;
    if (last !== undefined) spans[spans.length - 1] = { ...last, to: event.at };
    spans.push({ state, from: event.at, to: null });
  }
  // A cluster that is lent in the same decision is free for no time.
  return spans.filter(({ from, to }) => from !== to);
}

/** The state that an event puts the cluster into; undefined if it keeps its state. */
function stateAfter(name: string, event: FeedEvent): string | undefined {
  switch (event.type) {
    case "resource-added":
    case "cluster-moved":
      return event["resource"] === name ? text(event["state"]) : undefined;
    case "lease-granted":
    case "claim-replaced":
      return heldState(name, [event["claims"], event["granted"]].flat());
    case "lease-ended":
    case "claim-ended":
      return text(about(name, [event["back"]].flat())?.["state"]);
    case "resource-removed":
    case "cluster-abandoned":
      return event["resource"] === name ? "gone" : undefined;
    default:
      return undefined;
  }
}

/** A worker that takes a cluster does not change its state. */
function heldState(name: string, claims: readonly unknown[]): string | undefined {
  const claim = about(name, claims);
  if (claim === undefined || claim["purpose"] === "provision") return undefined;
  return text(claim["into"]) ?? "busy";
}

function about(name: string, parts: readonly unknown[]) {
  return parts.map(factsOf).find(({ resource }) => resource === name);
}

function factsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
