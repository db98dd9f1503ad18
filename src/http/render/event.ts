/** An event of the journal, as the feed and the list of past events have it. */
import { clustersOf, isMade, ownerOfCluster } from "../../core/explain/cluster-view.ts";
import {
  isOfCluster,
  isOnlyForObservers,
  publicPart,
  withoutSecrets,
} from "../../core/explain/event-shown.ts";
import type { Cluster } from "../../core/model/cluster.ts";
import type { DurableEvent } from "../../core/model/event.ts";
import type { SpaceName } from "../../core/model/ids.ts";
import type { State } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import type { LimitedReader, SeenCluster } from "../../insight/event-search.ts";
import { spaceOf } from "../sight.ts";
import { timestamp } from "../timestamp.ts";

interface NumberedEvent {
  readonly seq: number;
  readonly at: Instant;
  readonly event: DurableEvent;
  readonly holder?: string | undefined;
}

/**
 * Returns JSON text. Of an event that the caller may not see, only its kind and time are shown. Who
 * caused it (`from`) may be of another space, so only the audit shows that.
 */
export function renderEvent(numbered: NumberedEvent, sightOf: EventSight = seesAll): string {
  const { seq, at, event, holder } = numbered;
  const sight = sightOf(event, at);
  const shown = sight === "kind" ? { type: event.type } : { ...seenOf(event, sight), holder };
  return JSON.stringify({ seq, at: timestamp(at), ...shown }, withTimestamps);
}

function seenOf(event: DurableEvent, sight: Exclude<Sight, "kind">): object {
  const shown = withoutSecrets(event);
  return sight === "public" ? publicPart(shown) : shown;
}

/**
 * How much of an event a caller sees: all of it, what its own space may know, what every space may
 * know, or only its kind.
 */
type Sight = "all" | "own" | "public" | "kind";
export type EventSight = (event: DurableEvent, at: Instant) => Sight;

export const seesAll: EventSight = () => "all";

/** Events of pools and resources are for everyone, events of leases and clusters for their space. */
export function eventSightOf(state: State, space: SpaceName | undefined): EventSight {
  if (space === undefined) return seesAll;
  return (event, at) => sightOfOwner(ownerOfEvent(state, event, at), space);
}

/** What a caller who is limited to a space, unless that is undefined, sees of another's event. */
export function sightOfOwner(
  owner: SpaceName | undefined | null,
  space: SpaceName | undefined,
): Sight {
  if (space === undefined) return "all";
  if (owner === null) return "public";
  return owner === space ? "own" : "kind";
}

/** The space whose request, lease or cluster an event is about; null if it is for everyone. */
export function ownerOfEvent(
  state: State,
  event: DurableEvent,
  at: Instant,
): SpaceName | undefined | null {
  if (isOnlyForObservers(event)) return undefined;
  if (isOfCluster(event)) {
    const resource = state.resources.get(event.resource);
    if (!isMade(resource) || isOfEarlier(resource.cluster, at)) return undefined;
    return ownerOfCluster(resource);
  }
  if (!("id" in event) || event.id === undefined) return null;
  const ask = "ask" in event ? event.ask : undefined;
  return ask === undefined ? spaceOf(state, event.id) : ask.space;
}

/** What a search of past events must know of a caller that is limited to a space. */
export function limitedReaderOf(state: State, space: SpaceName): LimitedReader {
  const clusters = new Map<string, SeenCluster>();
  for (const made of clustersOf(state)) {
    const owner = ownerOfCluster(made);
    if (owner !== null && owner !== space) continue;
    clusters.set(made.name, {
      plannedAt: made.cluster.plannedAt,
      isStock: owner === null,
    });
  }
  return { space, clusters };
}

/** An operator may adopt a cluster under a name that another one had. Nobody knows whose that was. */
function isOfEarlier({ plannedAt }: Pick<Cluster, "plannedAt">, at: Instant): boolean {
  return at < plannedAt;
}

/** Writes the times of an event as RFC 3339, as in all replies. A new time must be added here. */
function withTimestamps(key: string, value: unknown): unknown {
  const isInstant =
    key === "endsAt" || key === "endsBy" || key === "heldUntil" || key === "restsUntil";
  return isInstant && typeof value === "number" ? timestamp(value as Instant) : value;
}
