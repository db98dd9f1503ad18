import { randomBytes } from "node:crypto";
import { byVersion, type LeaseObject, microTime } from "../kubernetes/kube-objects.ts";
import { instant } from "./expiry.ts";
import type { SlotNames } from "./slot.ts";

/**
 * A place in the queue: a Lease `<prefix>-wait-<random>` that its owner creates once and removes
 * when it leaves. It does not have the label of a slot, so scripts that list slots do not see it.
 */
export function newTicket(
  names: SlotNames,
  ticket: { identity: string; waitSeconds: number; nowMs: number },
): LeaseObject {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name: `${ticketPrefix(names)}${randomBytes(5).toString("hex")}`,
      namespace: names.namespace,
      labels: { app: `${names.app}-queue` },
    },
    spec: {
      holderIdentity: ticket.identity,
      leaseDurationSeconds: ticket.waitSeconds,
      acquireTime: microTime(ticket.nowMs),
    },
  };
}

export function isTicket(names: SlotNames, { metadata }: LeaseObject): boolean {
  return metadata.name.startsWith(ticketPrefix(names));
}

function ticketPrefix({ prefix }: SlotNames): string {
  return `${prefix}-wait-`;
}

/**
 * Compares by order of arrival, with the same result for every observer.
 *
 * Tickets are never updated, so the resourceVersion of a ticket is still that of its creation, and
 * the server increases it with every write. An edited ticket moves to the end. If versions are not
 * numbers, which no known server does, the creation time counts.
 */
export function byArrival(one: LeaseObject, other: LeaseObject): number {
  const [first, second] = [one.metadata, other.metadata];
  const order = byVersion(first.resourceVersion, second.resourceVersion);
  if (order !== undefined && order !== 0) return order;
  const ages = (instant(first.creationTimestamp) ?? 0) - (instant(second.creationTimestamp) ?? 0);
  return ages || (first.name < second.name ? -1 : 1);
}

/** Whether the longest wait of the owner has passed, so that it cannot still be waiting. */
export function isOutdated({ metadata, spec }: LeaseObject, nowMs: number): boolean {
  const createdMs = instant(metadata.creationTimestamp);
  const { leaseDurationSeconds } = spec ?? {};
  if (createdMs === undefined || leaseDurationSeconds === undefined) return false;
  return createdMs + leaseDurationSeconds * 1_000 <= nowMs;
}
