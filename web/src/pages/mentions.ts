import type { FeedEvent } from "../../../src/client/event-feed.ts";

/** Whether any field of an event contains this name or id. */
export function mentions(event: FeedEvent, name: string): boolean {
  return has(event, name);
}

function has(value: unknown, name: string): boolean {
  if (value === name) return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((part) => has(part, name));
}
