/**
 * Which versions of Berth may read a journal. A format is a number: it grows by one with each version
 * that writes events which an older one would misread or does not know. A journal has a mark: the
 * newest format of which it may have events. The mark rises when such an event is first written, and
 * with several servers not before all of them can read it (`0035-replicas-commits-secrets-versions.md`).
 */
import type { DurableEvent } from "../core/model/event.ts";

/** The newest format that this Berth reads and writes. */
export const journalFormat = 1;

/** In the table `meta` of both engines. Absent: 1. */
export const formatKey = "format";

/** The format that brought each type of event. A type that is not here is not known. */
const formatOfType: Readonly<Record<DurableEvent["type"], number>> = {
  "claim-ended": 1,
  "claim-replaced": 1,
  "cluster-abandoned": 1,
  "cluster-held": 1,
  "cluster-lost": 1,
  "cluster-moved": 1,
  "cluster-reported": 1,
  "cluster-stuck": 1,
  "cluster-wanted": 1,
  "event-skipped": 1,
  "hub-defined": 1,
  "hub-probed": 1,
  "hub-retired": 1,
  "hub-set": 1,
  "lease-delivered": 1,
  "lease-ended": 1,
  "lease-granted": 1,
  "lease-revoked": 1,
  "notice-given": 1,
  "orphan-found": 1,
  "orphan-gone": 1,
  "pool-admitted": 1,
  "pool-defined": 1,
  "pool-removed": 1,
  "pool-resumed": 1,
  "pool-retired": 1,
  "pool-signalled": 1,
  "pool-suspended": 1,
  "pool-withheld": 1,
  "priorities-defined": 1,
  "priority-changed": 1,
  "rate-changed": 1,
  "request-left": 1,
  "request-queued": 1,
  "resource-added": 1,
  "resource-adopted": 1,
  "resource-changed": 1,
  "resource-kept": 1,
  "resource-moved": 1,
  "resource-relabelled": 1,
  "resource-removed": 1,
  "resource-resized": 1,
  "resource-rested": 1,
  "resource-retired": 1,
  "room-kept": 1,
  "spaces-defined": 1,
};

const formats: ReadonlyMap<string, number> = new Map(Object.entries(formatOfType));

/** The newest format of these events; 1 if there are none. */
export function formatOf(events: readonly DurableEvent[]): number {
  let newest = 1;
  for (const { type } of events) newest = Math.max(newest, formats.get(type) ?? newest);
  return newest;
}

/** All types of events that this Berth knows. */
export function knownTypes(): string[] {
  return [...formats.keys()];
}

/** Whether this Berth knows events of this type. */
export function isKnownType(type: string): boolean {
  return formats.has(type);
}
