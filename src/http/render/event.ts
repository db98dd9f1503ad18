/** An event of the journal, as the feed and the list of past events have it. */
import { isMade, ownerOfCluster } from "../../core/explain/cluster-view.ts";
import type { Cluster, ClusterHold } from "../../core/model/cluster.ts";
import type { DurableEvent } from "../../core/model/event.ts";
import type { ResourceName, SpaceName } from "../../core/model/ids.ts";
import type { State } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
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
  const { from: _from, ...seen } = event;
  const sight = sightOf(event, at);
  const shown =
    sight === "kind" ? { type: event.type } : { ...shownOf(withoutSecrets(seen), sight), holder };
  return JSON.stringify({ seq, at: timestamp(at), ...shown }, withTimestamps);
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

/**
 * Who has drained, held or adopted a resource that belongs to no space, and why, is for operators.
 */
function shownOf(event: ShownEvent, sight: Exclude<Sight, "kind">): object {
  if (sight !== "public") return event;
  const { reason, why, hold, ...shown } = event;
  return {
    ...shown,
    ...(reason === undefined && why !== undefined ? { why } : undefined),
    ...(hold === undefined ? undefined : { hold: hold && { until: hold.until } }),
  };
}

/** The fields that not everybody sees. */
interface ShownEvent {
  readonly type: string;
  readonly reason?: object;
  readonly why?: string;
  readonly hold?: ClusterHold | null;
  readonly ask?: object;
  readonly userDataKeys?: readonly string[];
}

/** These name other spaces, their leases, or what only a holder may see. */
const onlyForObservers: readonly DurableEvent["type"][] = [
  ...(["spaces-defined", "pool-defined", "rate-changed", "event-skipped"] as const),
  ...(["orphan-found", "orphan-gone"] as const),
  ...(["hub-defined", "hub-retired", "hub-set", "hub-probed"] as const),
];

/** The space whose request, lease or cluster an event is about; null if it is for everyone. */
export function ownerOfEvent(
  state: State,
  event: DurableEvent,
  at: Instant,
): SpaceName | undefined | null {
  if (onlyForObservers.includes(event.type)) return undefined;
  if (isOfCluster(event)) {
    const resource = state.resources.get(event.resource);
    if (!isMade(resource) || isOfEarlier(resource.cluster, at)) return undefined;
    return ownerOfCluster(resource);
  }
  if (!("id" in event) || event.id === undefined) return null;
  const ask = "ask" in event ? event.ask : undefined;
  return ask === undefined ? spaceOf(state, event.id) : ask.space;
}

/** An operator may adopt a cluster under a name that another one had. Nobody knows whose that was. */
function isOfEarlier({ plannedAt }: Pick<Cluster, "plannedAt">, at: Instant): boolean {
  return at < plannedAt;
}

type ResourceEvent = Extract<DurableEvent, { readonly resource: ResourceName }>;

/** These have parameters, addresses, messages and notes: only for the space whose cluster it is. */
function isOfCluster(event: DurableEvent): event is ResourceEvent {
  if (event.type === "resource-added") return event.cluster !== undefined;
  return event.type.startsWith("cluster-");
}

/** Writes the times of an event as RFC 3339, as in all replies. A new time must be added here. */
function withTimestamps(key: string, value: unknown): unknown {
  const isInstant =
    key === "endsAt" || key === "endsBy" || key === "heldUntil" || key === "restsUntil";
  return isInstant && typeof value === "number" ? timestamp(value as Instant) : value;
}

/**
 * Removes the values of user data, which may be credentials, the handle of a cluster, which is for
 * its driver, and the request id (`ask.key`): a client that repeats it gets the token of the lease.
 */
function withoutSecrets(event: DurableEvent): ShownEvent {
  if ("handle" in event) {
    const { handle: _handle, ...rest } = event;
    return rest;
  }
  if ("ask" in event && event.ask?.key !== undefined) {
    const { key: _key, ...ask } = event.ask;
    return { ...event, ask };
  }
  if (event.type !== "resource-changed") return event;
  const { userData, userDataChanges, ...rest } = event;
  if (userData === undefined && userDataChanges === undefined) return event;
  return { ...rest, userDataKeys: Object.keys({ ...userData, ...userDataChanges }) };
}
