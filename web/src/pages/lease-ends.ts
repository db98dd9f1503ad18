/** When a lease ends even if its holder goes on, and how long its holder has been silent. */
import type { Lease } from "../../../src/api/schemas.ts";
import { parseDuration, roughDuration } from "../../../src/core/model/time.ts";
import { grouped } from "../parts/numbers.ts";

/** A lease is silent when this part of its heartbeat timeout is over: two of three heartbeats missed. */
export const silentPart = 0.67;
/** One heartbeat is missed: a third of the timeout is over, and a little more for the network. */
export const missedPart = 0.4;

export interface LeaseEnd {
  readonly at: string;
  readonly why: "max lifetime" | "taken back" | "ended by an operator";
  /** When the time began that is over then. */
  readonly from: string;
}

type Timed = Pick<Lease, "grantedAt" | "endsAt" | "expiresAt" | "revokedAt" | "notice" | "ttl">;

/**
 * The first end that no heartbeat can move; null: it ends with its release or without heartbeats. An
 * auto-release is none: it takes one claim back, and the lease goes on.
 */
export function endOf(lease: Timed): LeaseEnd | null {
  const { grantedAt: from, endsAt, expiresAt, revokedAt, notice } = lease;
  if (revokedAt !== null && expiresAt !== null) {
    return { at: expiresAt, why: "ended by an operator", from: revokedAt };
  }
  const ends: LeaseEnd[] = [
    ...(endsAt === null ? [] : [{ at: endsAt, why: "max lifetime", from } as const]),
    ...(notice === undefined ? [] : [{ at: notice.endsBy, why: "taken back", from } as const]),
  ];
  return ends.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))[0] ?? null;
}

/** When one of its resources comes back even if its holder goes on, and why; null: nobody knows. */
export function backOf(
  lease: Timed & Pick<Lease, "claims">,
  resource: string,
): { readonly at: string; readonly why: LeaseEnd["why"] | "auto-release" } | null {
  const end = endOf(lease);
  const { heldUntil = null } = lease.claims.find((claim) => claim.resource === resource) ?? {};
  if (heldUntil === null) return end;
  const isLater = end !== null && Date.parse(end.at) < Date.parse(heldUntil);
  return isLater ? end : { at: heldUntil, why: "auto-release" };
}

/** When it expires if no heartbeat comes; null: never, or only after years. */
export function expiryOf(lease: Pick<Timed, "ttl" | "expiresAt">): string | null {
  return (ttlMsOf(lease) ?? 0) >= endlessMs ? null : lease.expiresAt;
}

/** The same if that comes before its end; null: a heartbeat that is missing does not matter. */
export function expiryBefore(end: LeaseEnd | null, lease: Timed): string | null {
  const at = lease.revokedAt === null ? expiryOf(lease) : null;
  if (at === null || end === null) return at;
  return Date.parse(at) < Date.parse(end.at) ? at : null;
}

function ttlMsOf({ ttl }: Pick<Timed, "ttl">): number | undefined {
  return ttl === null ? undefined : parseDuration(ttl);
}

export interface Pulse {
  /** When the last heartbeat came, or the lease began. */
  readonly lastMs: number;
  readonly ttlMs: number;
}

/** Null if its holder needs to send none: of a client known by name only, a cleaner, or an ended lease. */
export function pulseOf(lease: Timed): Pulse | null {
  const expiresAt = expiryOf(lease);
  const ttlMs = ttlMsOf(lease);
  if (ttlMs === undefined || expiresAt === null || lease.revokedAt !== null) return null;
  return { lastMs: Date.parse(expiresAt) - ttlMs, ttlMs };
}

/** A grant and the beginning of its timeout may be a moment apart. */
const sameMomentMs = 1_000;
/** Clients send three heartbeats in each timeout. */
const beatsPerTimeout = 3;

/** A timeout of years is none to people: a cleaner of Boskos never sends heartbeats. */
const endlessMs = 365 * 24 * 3_600_000;

/** Whether a heartbeat has come since the grant. */
export function hasBeaten({ lastMs }: Pulse, grantedAt: string): boolean {
  return lastMs > Date.parse(grantedAt) + sameMomentMs;
}

/** When the next heartbeat is due, or how many are missed. */
export function nextBeatWords(pulse: Pulse, nowMs: number): string {
  const silence = silenceAt(pulse, nowMs);
  if (silence >= missedPart) return silence >= silentPart ? "two missed" : "one missed";
  const dueMs = dueMsOf(pulse);
  return dueMs <= nowMs ? "due now" : `due in ${roughDuration(dueMs - nowMs)}`;
}

function dueMsOf({ lastMs, ttlMs }: Pulse): number {
  return lastMs + ttlMs / beatsPerTimeout;
}

/** The part of the heartbeat timeout that is over, from 0 to 1. */
export function silenceAt(pulse: Pulse | null, nowMs: number): number {
  if (pulse === null) return 0;
  return Math.min(1, Math.max(0, (nowMs - pulse.lastMs) / pulse.ttlMs));
}

/** What stands beside the number of silent leases: those that missed one heartbeat may be next. */
export function silentWords(silent: number, missed: number): string {
  if (silent === 0) {
    return missed === 0 ? "nobody misses heartbeats" : `${grouped(missed)} missed one heartbeat`;
  }
  return missed === 0
    ? "missed two heartbeats"
    : `missed two heartbeats; ${grouped(missed)} missed one`;
}

/** How many heartbeats are missed: the third ends the lease. */
export function missedBeats(pulse: Pulse | null, nowMs: number): number {
  const silence = silenceAt(pulse, nowMs);
  return silence >= silentPart ? 2 : silence >= missedPart ? 1 : 0;
}

export const leaseOrders = [
  ["", "Oldest first"],
  ["ends", "Next fixed end first"],
  ["silent", "Most overdue first"],
  ["waited", "Longest waited first"],
  ["newest", "Newest first"],
] as const;

/** Sorted by one of `leaseOrders`. Leases without such a time come last, the oldest first. */
export function inLeaseOrder<T extends Timed & Pick<Lease, "waitedSeconds">>(
  leases: readonly T[],
  order: string,
  nowMs: number,
): T[] {
  const oldest = leases.toSorted((a, b) => a.grantedAt.localeCompare(b.grantedAt));
  if (order === "newest") return oldest.reverse();
  const orders: Readonly<Record<string, (lease: T) => number>> = {
    ends: (lease: T) => Date.parse(endOf(lease)?.at ?? "") || Number.POSITIVE_INFINITY,
    silent: (lease: T) => {
      const pulse = pulseOf(lease);
      // Those that missed more first, then by what stands in the list.
      return pulse === null
        ? Number.POSITIVE_INFINITY
        : dueMsOf(pulse) - nowMs - missedBeats(pulse, nowMs) * endlessMs;
    },
    waited: (lease: T) => -lease.waitedSeconds,
  };
  const keyOf = Object.hasOwn(orders, order) ? orders[order] : undefined;
  if (keyOf === undefined) return oldest;
  const keys = new Map(oldest.map((lease) => [lease, keyOf(lease)]));
  const key = (lease: T) => keys.get(lease) ?? 0;
  return oldest.sort((a, b) => (key(a) === key(b) ? 0 : key(a) - key(b)));
}
