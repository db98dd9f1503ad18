/** How a lease or a request ended, in words. */
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { briefDuration } from "../../../src/core/model/time.ts";

const endings: Readonly<Record<string, string>> = {
  released: "Its holder released it",
  cleaned: "The resource was cleaned",
  failed: "The cleaning failed",
  stopped: "The cleaner stopped before it was done",
  expired: "No heartbeat came in time, and it expired",
  lifetime: "It reached its max lifetime",
  revoked: "An operator ended it",
  uncollected: "Its client never fetched it",
  reset: "Its holder sent no update, and it was reset",
  hold: "It was auto-released",
  cancelled: "It left the queue",
  disconnected: "Its client closed the connection",
  abandoned: "Its client stopped polling",
  unsatisfiable: "A new configuration made it impossible",
  undecidable: "The broker could not decide about it",
};

/** What the event of its grant says; undefined: it is not known. */
export interface Grant {
  readonly grantedAt: string;
  /** Null: it needed no heartbeats. */
  readonly timeoutMs: number | null;
}

/** Of the events of one lease. */
export function grantIn(events: readonly FeedEvent[]): Grant | undefined {
  const granted = events.find(({ type }) => type === "lease-granted");
  if (granted === undefined) return undefined;
  const { ttlMs } = Object(granted["ask"]) as { readonly ttlMs?: unknown };
  if (typeof ttlMs !== "number" && ttlMs !== null) return undefined;
  return { grantedAt: granted.at, timeoutMs: ttlMs };
}

/** A server looks at the deadlines this often, or sooner. */
const lateMs = 1_000;

/**
 * An expired lease was silent for its timeout. Whether it ever sent a heartbeat is known only if it
 * was held no longer: later ones were perhaps after a heartbeat, perhaps after a restart of the server.
 */
export function endingWords(how: string, endedAt: string, grant: Grant | undefined): string {
  if (how !== "expired" || grant === undefined || grant.timeoutMs === null) {
    return endings[how] ?? `It ended (${how})`;
  }
  const { grantedAt, timeoutMs } = grant;
  const heldMs = Date.parse(endedAt) - Date.parse(grantedAt);
  const timeout = briefDuration(timeoutMs);
  return heldMs < timeoutMs + lateMs
    ? `It sent no heartbeat within ${timeout} of its start, and expired`
    : `It sent no heartbeat for ${timeout}, and expired`;
}

/** Within it, both ends are those of one release. */
const togetherMs = 1_000;

/** Whether a claim went back before its lease ended, as one with an auto-release does. */
export function endsApart(claimEndedAt: string, leaseEndedAt: string): boolean {
  return Date.parse(leaseEndedAt) - Date.parse(claimEndedAt) >= togetherMs;
}
