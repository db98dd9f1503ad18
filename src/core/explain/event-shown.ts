/** What callers may see of an event. */
import type { ClusterHold } from "../model/cluster.ts";
import type { DurableEvent } from "../model/event.ts";
import type { ResourceName } from "../model/ids.ts";

/** The fields that not everybody sees. */
export interface ShownEvent {
  readonly type: string;
  readonly reason?: object;
  readonly why?: string;
  readonly hold?: ClusterHold | null;
  readonly ask?: object;
  readonly note?: string;
  readonly userDataKeys?: readonly string[];
}

/** These name other spaces, their leases, or what only a holder may see. */
const onlyForObservers: readonly DurableEvent["type"][] = [
  ...(["spaces-defined", "pool-defined", "rate-changed", "event-skipped"] as const),
  ...(["orphan-found", "orphan-gone"] as const),
  ...(["hub-defined", "hub-retired", "hub-set", "hub-probed"] as const),
];

export function isOnlyForObservers({ type }: DurableEvent): boolean {
  return onlyForObservers.includes(type);
}

type ResourceEvent = Extract<DurableEvent, { readonly resource: ResourceName }>;

/** These have parameters, addresses, messages and notes: only for the space whose cluster it is. */
export function isOfCluster(event: DurableEvent): event is ResourceEvent {
  if (event.type === "resource-added") return event.cluster !== undefined;
  return event.type.startsWith("cluster-");
}

/**
 * Without who caused it (`from`), the values of user data, which may be credentials, the handle of a
 * cluster, which is for its driver, and the request id (`ask.key`): a client that repeats it gets
 * the token of the lease.
 */
export function withoutSecrets({ from: _from, ...event }: DurableEvent): ShownEvent {
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

/**
 * Who has drained, held or adopted a resource that belongs to no space, and why, is for operators. So
 * is a note: an event does not say whether its resource was drained then, or a cluster of somebody.
 */
export function publicPart(event: ShownEvent): ShownEvent {
  const { reason, why, hold, note: _note, ...shown } = event;
  return {
    ...shown,
    ...(reason === undefined && why !== undefined ? { why } : undefined),
    ...(hold === undefined ? undefined : { hold: hold && { until: hold.until } }),
  } as ShownEvent;
}
