import {
  type ClusterKind,
  type ClusterObject,
  clusterState,
  suffixOf,
} from "../kubernetes/clusters.ts";
import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import type { View } from "../kubernetes/lease-board.ts";
import { expiresAtMs, instant, lastHeardMs } from "./expiry.ts";
import { lineOf, slotsOf } from "./situation.ts";
import { isOwnedBy, type SlotSet } from "./slot.ts";

export interface SlotStatus {
  readonly slot: number;
  readonly state: "free" | "held" | "expired";
  readonly holder: string | null;
  readonly acquiredAt: string | null;
  readonly renewedAt: string | null;
  /** Null if the slot is free or never expires. */
  readonly expiresAt: string | null;
  readonly fence: number | null;
  /** Whether the number is beyond the current count, so that the slot is never granted again. */
  readonly surplus: boolean;
  readonly cluster: string | null;
}

export interface WaiterStatus {
  readonly position: number;
  readonly holder: string;
  readonly since: string | null;
}

export interface ClusterStatus {
  readonly name: string;
  readonly state: string;
  readonly createdAt: string | null;
  /** The holder of the slot for this cluster, or null. */
  readonly holder: string | null;
}

export interface SlotsStatus {
  /** When the status was read. All times are in the time of the API server's clock. */
  readonly at: string;
  readonly slots: readonly SlotStatus[];
  readonly waiting: readonly WaiterStatus[];
  /** Null if the cluster does not know this kind or does not allow us to list it. */
  readonly clusters: readonly ClusterStatus[] | null;
}

export function statusOf(
  view: View,
  set: SlotSet,
  { kind, clusters }: { kind: ClusterKind; clusters: readonly ClusterObject[] | undefined },
): SlotsStatus {
  const slots = slotsOf(view.leases, set);
  const numbers = new Set([
    ...Array.from({ length: set.count }, (_, slot) => slot),
    ...slots.keys(),
  ]);
  const holders = [...slots.values()].flatMap(({ spec }) => spec?.holderIdentity ?? []);
  return {
    at: new Date(view.nowMs).toISOString(),
    slots: [...numbers].map((slot) => {
      const lease = slots.get(slot);
      const owned = clusters?.find((each) =>
        isOwnedBy(kind, each, lease?.spec?.holderIdentity ?? ""),
      );
      const surplus = slot >= set.count;
      return { ...slotStatus(slot, lease, view), surplus, cluster: owned?.metadata.name ?? null };
    }),
    waiting: lineOf(view, set).map(({ metadata, spec }, at) => ({
      position: at + 1,
      holder: spec?.holderIdentity ?? "",
      since: metadata.creationTimestamp ?? null,
    })),
    clusters: clusters?.flatMap((each) => clusterStatus(kind, each, holders)) ?? null,
  };
}

function slotStatus(
  slot: number,
  lease: LeaseObject | undefined,
  { nowMs, sightOf }: View,
): Omit<SlotStatus, "surplus" | "cluster"> {
  if (lease === undefined) {
    const none = { holder: null, acquiredAt: null, renewedAt: null, expiresAt: null, fence: null };
    return { slot, state: "free", ...none };
  }
  const sight = sightOf?.(lease);
  const endsMs = expiresAtMs(lease, nowMs, sight);
  const acquiredMs = instant(lease.spec?.acquireTime) ?? instant(lease.metadata.creationTimestamp);
  return {
    slot,
    state: endsMs !== undefined && endsMs <= nowMs ? "expired" : "held",
    holder: lease.spec?.holderIdentity ?? null,
    acquiredAt: iso(acquiredMs),
    renewedAt: iso(lastHeardMs(lease, nowMs, sight)),
    expiresAt: iso(endsMs),
    fence: lease.spec?.leaseTransitions ?? null,
  };
}

function clusterStatus(
  kind: ClusterKind,
  cluster: ClusterObject,
  holders: readonly string[],
): ClusterStatus[] {
  if (suffixOf(kind, cluster) === undefined) return [];
  const { name, creationTimestamp } = cluster.metadata;
  const holder = holders.find((identity) => isOwnedBy(kind, cluster, identity)) ?? null;
  return [{ name, state: clusterState(cluster), createdAt: creationTimestamp ?? null, holder }];
}

function iso(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}
