import type { LeaseObject, ManagedFields } from "../kubernetes/kube-objects.ts";
import type { Sight } from "../kubernetes/lease-board.ts";

/**
 * The time of the last sign of life of the holder, by the server's clock.
 *
 * The holder writes `renewTime`. A value in the future means that its clock is wrong, and counts as
 * now. A change that the observer saw, or that the server recorded in `managedFields`, counts too.
 * Without any renewal, the creation time counts. An empty field proves nothing, so it never expires
 * a slot.
 */
export function lastHeardMs(lease: LeaseObject, nowMs: number, sight?: Sight): number {
  const createdMs = instant(lease.metadata.creationTimestamp) ?? nowMs;
  const saidMs = instant(lease.spec?.renewTime) ?? instant(lease.spec?.acquireTime) ?? createdMs;
  const seenMs = sight?.changed ? sight.sinceMs : createdMs;
  return Math.min(nowMs, Math.max(createdMs, saidMs, seenMs, storedRenewalMs(lease) ?? createdMs));
}

/**
 * Returns undefined if the slot never expires because it has no duration. Operators use this to
 * keep a slot out of use.
 */
export function expiresAtMs(lease: LeaseObject, nowMs: number, sight?: Sight): number | undefined {
  const { leaseDurationSeconds } = lease.spec ?? {};
  if (leaseDurationSeconds === undefined) return undefined;
  const heardMs = lastHeardMs(lease, nowMs, sight);
  // The version has not changed since then, so there was no renewal. This holds for any clock.
  return Math.min(heardMs, sight?.sinceMs ?? nowMs) + leaseDurationSeconds * 1_000;
}

export function isExpired(lease: LeaseObject, nowMs: number, sight?: Sight): boolean {
  const atMs = expiresAtMs(lease, nowMs, sight);
  return atMs !== undefined && atMs <= nowMs;
}

/** Only a write of `renewTime` is a sign of life. A label that another client sets is not. */
function storedRenewalMs({ metadata }: LeaseObject): number | undefined {
  const times = (metadata.managedFields ?? [])
    .filter(wroteRenewTime)
    .flatMap(({ time }) => instant(time) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

function wroteRenewTime({ fieldsV1 }: ManagedFields): boolean {
  const spec = fieldsV1?.["f:spec"];
  return typeof spec === "object" && spec !== null && "f:renewTime" in spec;
}

export function instant(text: string | undefined): number | undefined {
  const atMs = Date.parse(text ?? "");
  return Number.isNaN(atMs) ? undefined : atMs;
}
