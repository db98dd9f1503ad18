/**
 * Who asked, by request id, from earlier events: only the first event of a request says it.
 */
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { factsOf, text } from "../../../src/core/explain/event-facts.ts";
import { type EventContext, poolsIn } from "../../../src/core/explain/event-match.ts";
import { isCleaning } from "../parts/event-verbs.ts";

interface Asker extends EventContext {
  /** When its wait began, if that is known. */
  readonly queuedAt?: string;
}

const namesMax = 20_000;
const askers = new Map<string, Asker>();
/** Leases that were granted to clean something. */
const cleaners = new Set<string>();

export function noteHolder(event: FeedEvent): void {
  const { id, ask, holder: named } = event;
  const { holder, space } = factsOf(ask);
  const name = named ?? holder; // Past events have it beside the id.
  if (typeof id !== "string" || typeof name !== "string") return;
  if (isCleaning(event)) noteCleaner(id);
  const queued = event.type === "request-queued" ? { queuedAt: event.at } : undefined;
  if (ask !== undefined)
    noteAsker(id, { holder: name, space: text(space), pools: poolsIn(event), ...queued });
  else if (!askers.has(id)) noteAsker(id, { holder: name, pools: [] });
}

export function noteAsker(id: string, asker: Asker): void {
  askers.set(id, asker);
  const [oldest] = askers.keys();
  if (askers.size > namesMax && oldest !== undefined) askers.delete(oldest);
}

function noteCleaner(id: string): void {
  cleaners.add(id);
  const [oldest] = cleaners;
  if (cleaners.size > namesMax && oldest !== undefined) cleaners.delete(oldest);
}

/** Whether the lease was one of a cleaner, as far as its grant is known. */
export function isCleaner(id: string): boolean {
  return cleaners.has(id);
}

export function askerOf(id: string): Asker | undefined {
  return askers.get(id);
}

export function holderOf(id: string): string | undefined {
  return askers.get(id)?.holder;
}
