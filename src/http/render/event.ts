/** An event of the journal, as the feed and the list of past events have it. */
import type { DurableEvent } from "../../core/model/event.ts";
import type { Instant } from "../../core/model/time.ts";
import { timestamp } from "../timestamp.ts";

interface NumberedEvent {
  readonly seq: number;
  readonly at: Instant;
  readonly event: DurableEvent;
  readonly holder?: string | undefined;
}

/** Returns JSON text. */
export function renderEvent({ seq, at, event, holder }: NumberedEvent): string {
  const shown = { seq, at: timestamp(at), ...withoutSecrets(event), holder };
  return JSON.stringify(shown, withTimestamps);
}

/** Writes the times of an event as RFC 3339, as in all replies. A new time must be added here. */
function withTimestamps(key: string, value: unknown): unknown {
  const isInstant = key === "endsAt" || key === "heldUntil" || key === "restsUntil";
  return isInstant && typeof value === "number" ? timestamp(value as Instant) : value;
}

/**
 * Removes the values of user data, which may be credentials, and the request id (`ask.key`): a
 * client that repeats it gets the token of the lease.
 */
function withoutSecrets(event: DurableEvent): object {
  if ("ask" in event && event.ask?.key !== undefined) {
    const { key: _key, ...ask } = event.ask;
    return { ...event, ask };
  }
  if (event.type !== "resource-changed" || event.userData === undefined) return event;
  const { userData, ...rest } = event;
  return { ...rest, userDataKeys: Object.keys(userData) };
}
