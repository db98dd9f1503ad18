import type { LeaseObject, ManagedFields } from "../kubernetes/kube-objects.ts";
import type { Sight } from "../kubernetes/lease-board.ts";

/**
 * When its holder was last heard of, by the server's clock.
 *
 * `renewTime` is what the holder says; from the future it proves a wrong clock, and counts as now. A
 * change that was seen, or that the server has noted, counts as well. Where nothing was renewed there is
 * the creation. A field that is empty says nothing, least of all that the time is over.
 */
export function lastHeardMs(lease: LeaseObject, nowMs: number, sight?: Sight): number {
  const createdMs = instant(lease.metadata.creationTimestamp) ?? nowMs;
  const saidMs = instant(lease.spec?.renewTime) ?? instant(lease.spec?.acquireTime) ?? createdMs;
  const seenMs = sight?.changed ? sight.sinceMs : createdMs;
  return Math.min(nowMs, Math.max(createdMs, saidMs, seenMs, storedRenewalMs(lease) ?? createdMs));
}

/** Undefined: it never expires, because it says no duration. That is how a slot is kept out of use. */
export function expiresAtMs(lease: LeaseObject, nowMs: number, sight?: Sight): number | undefined {
  const { leaseDurationSeconds } = lease.spec ?? {};
  if (leaseDurationSeconds === undefined) return undefined;
  const heardMs = lastHeardMs(lease, nowMs, sight);
  // Since then nothing was heard, or it would be another version: that holds for any clock.
  return Math.min(heardMs, sight?.sinceMs ?? nowMs) + leaseDurationSeconds * 1_000;
}

export function isExpired(lease: LeaseObject, nowMs: number, sight?: Sight): boolean {
  const atMs = expiresAtMs(lease, nowMs, sight);
  return atMs !== undefined && atMs <= nowMs;
}

/** A label that somebody sets is no sign of life: only who wrote `renewTime` counts. */
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
