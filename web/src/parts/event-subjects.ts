/** Which pools and which space an event is about. Only the first event of a request says it. */
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { text } from "../../../src/core/explain/event-facts.ts";
import { type EventContext, poolsIn, resourcesIn } from "../../../src/core/explain/event-match.ts";
import { askerOf } from "../data/holder-names.ts";

/** All names that are known, the longest first. */
let known: readonly string[] = [];

export function notePools(names: readonly string[]): void {
  known = names.toSorted((a, b) => b.length - a.length);
}

export function poolsOf(event: FeedEvent): readonly string[] {
  const named = poolsIn(event);
  if (named.length > 0) return [...new Set(named)];
  const asked = askerOf(text(event["id"]))?.pools ?? [];
  return asked.length > 0 ? asked : byName(event);
}

export function contextOf(event: FeedEvent): EventContext {
  return { ...askerOf(text(event["id"])), pools: poolsOf(event) };
}

/** A resource is named after its pool, unless its name is configured. The longest name that fits. */
function byName(event: FeedEvent): string[] {
  const found = resourcesIn(event).flatMap(
    (name) => known.find((pool) => name.startsWith(`${pool}-`)) ?? [],
  );
  return [...new Set(found)];
}
