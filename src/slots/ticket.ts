import { randomBytes } from "node:crypto";
import { byVersion, type LeaseObject, microTime } from "../kubernetes/kube-objects.ts";
import { instant } from "./expiry.ts";
import type { SlotNames } from "./slot.ts";

/**
 * A place in line: a Lease `<prefix>-wait-<random>` that is written once, when its owner comes, and
 * removed when it goes. It does not have the label of a slot, so scripts that list slots do not see it.
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
 * The order of arrival, which is the same for everybody who looks.
 *
 * Nobody writes to a ticket again, so its resourceVersion is still that of its creation, and the store
 * counts those up. Who edits a ticket moves it to the end. Should the versions not be numbers, as no
 * known server has it, there is the second in which the server created them.
 */
export function byArrival(one: LeaseObject, other: LeaseObject): number {
  const [first, second] = [one.metadata, other.metadata];
  const order = byVersion(first.resourceVersion, second.resourceVersion);
  if (order !== undefined && order !== 0) return order;
  const ages = (instant(first.creationTimestamp) ?? 0) - (instant(second.creationTimestamp) ?? 0);
  return ages || (first.name < second.name ? -1 : 1);
}

/** Its owner meant to wait no longer than this, so nobody can still be there. */
export function isOutdated({ metadata, spec }: LeaseObject, nowMs: number): boolean {
  const createdMs = instant(metadata.creationTimestamp);
  const { leaseDurationSeconds } = spec ?? {};
  if (createdMs === undefined || leaseDurationSeconds === undefined) return false;
  return createdMs + leaseDurationSeconds * 1_000 <= nowMs;
}
