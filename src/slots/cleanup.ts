import {
  type ClusterKind,
  type ClusterObject,
  clusterPath,
  listClusters,
  suffixOf,
} from "../kubernetes/clusters.ts";
import { isConflict, isNotFound } from "../kubernetes/errors.ts";
import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import type { View } from "../kubernetes/lease-board.ts";
import type { LeaseStore } from "../kubernetes/lease-store.ts";
import { instant, isExpired } from "./expiry.ts";
import { lineOf, slotsOf } from "./situation.ts";
import { isOwnedBy, type SlotSet } from "./slot.ts";
import { isOutdated, isTicket } from "./ticket.ts";

/** The leftovers that one read of the cluster found. */
export interface Leftovers {
  readonly slots: readonly LeaseObject[];
  readonly tickets: readonly LeaseObject[];
  readonly orphans: readonly ClusterObject[];
}

export interface OrphanRule {
  readonly kind: ClusterKind;
  /** Younger clusters are not touched, because their slot may be created next. */
  readonly graceMs: number;
}

export async function findLeftovers(
  store: LeaseStore,
  set: SlotSet,
  rule: OrphanRule,
): Promise<Leftovers> {
  const [clusters, { items }] = await Promise.all([
    listClusters(store.api, rule.kind),
    store.list(),
  ]);
  const view = { leases: items, nowMs: store.api.clock.atLeastMs() };
  const slots = [...slotsOf(items, set).values()].filter((lease) => isExpired(lease, view.nowMs));
  return {
    slots,
    tickets: items.filter((each) => isTicket(set, each) && isOutdated(each, view.nowMs)),
    orphans: orphansOf(clusters ?? [], view, set, rule),
  };
}

/**
 * Our clusters that are old enough and whose suffix has neither a slot nor a ticket. The whole
 * suffix must match. A cluster that is already being deleted is not an orphan.
 */
export function orphansOf(
  clusters: readonly ClusterObject[],
  view: View,
  set: SlotSet,
  { kind, graceMs }: OrphanRule,
): readonly ClusterObject[] {
  const { leases, nowMs } = view;
  const held = [...slotsOf(leases, set).values()].filter((lease) => !isExpired(lease, nowMs));
  const owners = [...held, ...lineOf(view, set)].map(({ spec }) => spec?.holderIdentity ?? "");
  return clusters
    .filter((cluster) => suffixOf(kind, cluster) !== undefined)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ metadata }) => nowMs - (instant(metadata.creationTimestamp) ?? nowMs) >= graceMs)
    .filter((cluster) => !owners.some((identity) => isOwnedBy(kind, cluster, identity)));
}

/** `kept`: the object has changed since it was read, so it was not removed. */
export async function removeIfUnchanged(
  store: LeaseStore,
  lease: LeaseObject,
): Promise<"removed" | "kept"> {
  return unlessChanged(() => store.remove(lease));
}

/** Deletes the object. Finalizers stay, and their controllers finish the deletion. */
export async function deleteCluster(
  { api }: LeaseStore,
  kind: ClusterKind,
  { metadata: { name, uid, resourceVersion } }: ClusterObject,
): Promise<"removed" | "kept"> {
  const body = { preconditions: { uid, resourceVersion } };
  const path = [...clusterPath(kind), name];
  return unlessChanged(() => api.call({ method: "DELETE", path, body }));
}

async function unlessChanged(remove: () => Promise<unknown>): Promise<"removed" | "kept"> {
  try {
    await remove();
    return "removed";
  } catch (error) {
    if (isConflict(error)) return "kept";
    if (isNotFound(error)) return "removed";
    throw error;
  }
}
