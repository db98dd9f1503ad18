/**
 * Holders by request id, from earlier events: only the first event of a request names its holder.
 */
import type { FeedEvent } from "../../../src/client/event-feed.ts";

const namesMax = 20_000;
const names = new Map<string, string>();

export function noteHolder({ id, ask, holder: named }: FeedEvent): void {
  const holder = named ?? Object(ask).holder; // Past events have it beside the id.
  if (typeof id === "string" && typeof holder === "string") nameHolder(id, holder);
}

export function nameHolder(id: string, holder: string): void {
  names.set(id, holder);
  const [oldest] = names.keys();
  if (names.size > namesMax && oldest !== undefined) names.delete(oldest);
}

export function holderOf(id: string): string | undefined {
  return names.get(id);
}
