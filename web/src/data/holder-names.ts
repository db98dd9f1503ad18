/**
 * Holders by request id, from earlier events: only the first event of a request names its holder.
 */
import type { FeedEvent } from "../../../src/client/event-feed.ts";

const namesMax = 20_000;
const names = new Map<string, string>();

export function noteHolder({ id, ask }: FeedEvent): void {
  if (typeof id !== "string" || typeof ask !== "object" || ask === null) return;
  if (!("holder" in ask) || typeof ask.holder !== "string") return;
  names.set(id, ask.holder);
  const [oldest] = names.keys();
  if (names.size > namesMax && oldest !== undefined) names.delete(oldest);
}

export function holderOf(id: string): string | undefined {
  return names.get(id);
}
