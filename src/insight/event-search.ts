/** Finds the events about one request or one resource in the journal. */
import { setImmediate } from "node:timers/promises";
import { type EventFilter, isAbout } from "../core/explain/event-about.ts";
import type { DurableEvent } from "../core/model/event.ts";
import type { Instant } from "../core/model/time.ts";
import type { Journal, Recorded } from "../journal/journal.ts";

export interface EventSearch {
  readonly filter: EventFilter;
  readonly limit: number;
  /** Only events with a smaller number. */
  readonly before: number;
}

export interface FoundEvent {
  readonly seq: number;
  readonly at: Instant;
  readonly event: DurableEvent;
  /** The holder of the request; undefined if the event is not about one, or if it is not known. */
  readonly holder?: string | undefined;
}

export interface EventPage {
  /** The latest first. */
  readonly items: readonly FoundEvent[];
  /** The value for `before`; null: there are no earlier events. */
  readonly next: number | null;
}

/** Read at once. Other queries are answered in between. */
const chunkEvents = 5_000;
/** A search reads at most this many events, about 200 MB. The next page continues it. */
const searchedEventsMax = 500_000;

/**
 * Returns the latest events first. `firstSeq` is the first event of the request, if an id is given:
 * its events are between this one and its end, so nothing else is read.
 */
export async function findEvents(
  journal: Pick<Journal, "search">,
  search: EventSearch,
  firstSeq?: number,
): Promise<EventPage> {
  if (search.filter.id === undefined) return await searchBackward(journal, search);
  if (firstSeq === undefined) return { items: [], next: null };
  const { limit } = search;
  const all = (await searchUntilEnd(journal, search, firstSeq)).reverse();
  const items = all.slice(0, limit);
  return { items, next: all.length > limit ? (items.at(-1)?.seq ?? null) : null };
}

async function searchUntilEnd(
  journal: Pick<Journal, "search">,
  { filter, before }: EventSearch,
  firstSeq: number,
): Promise<FoundEvent[]> {
  const found: FoundEvent[] = [];
  for (let from = firstSeq; from < before; from += chunkEvents) {
    const to = Math.min(from + chunkEvents, before) - 1;
    for (const one of await searchChunk(journal, filter, from, to)) {
      found.push(one);
      if (isEnd(one.event)) return found;
    }
    await setImmediate();
  }
  return found;
}

async function searchBackward(
  journal: Pick<Journal, "search">,
  { filter, limit, before }: EventSearch,
): Promise<EventPage> {
  const oldest = Math.max(1, before - searchedEventsMax);
  const items: FoundEvent[] = [];
  for (let to = before - 1; to >= oldest; to -= chunkEvents) {
    const from = Math.max(oldest, to - chunkEvents + 1);
    items.push(...(await searchChunk(journal, filter, from, to)).reverse());
    if (items.length > limit) {
      const page = items.slice(0, limit);
      return { items: page, next: page.at(-1)?.seq ?? null };
    }
    await setImmediate();
  }
  // Events before the oldest may exist, or may be pruned.
  const hasEarlier = (await journal.search("", oldest - 1, oldest - 1)).length > 0;
  return { items, next: hasEarlier ? oldest : null };
}

/** The events from `from` up to `to`, oldest first. */
async function searchChunk(
  journal: Pick<Journal, "search">,
  filter: EventFilter,
  from: number,
  to: number,
): Promise<FoundEvent[]> {
  const name = filter.id ?? filter.resource;
  const commits = await journal.search(name === undefined ? "" : JSON.stringify(name), from, to);
  return commits
    .flatMap(eventsOf)
    .filter(({ seq, event }) => seq >= from && seq <= to && isAbout(event, filter));
}

function eventsOf({ seq, at, events }: Recorded): FoundEvent[] {
  return events.map((event, index) => ({ seq: seq + index, at, event }));
}

/** Only the first event of a request names its holder. */
export function withHolders(
  { items, next }: EventPage,
  holdersOf: (ids: readonly string[]) => ReadonlyMap<string, string>,
): EventPage {
  const ids = new Set(items.flatMap(({ event }) => ("id" in event ? [event.id] : [])));
  if (ids.size === 0) return { items, next };
  const holders = holdersOf([...ids]);
  const named = items.map((item) => {
    const holder = "id" in item.event ? holders.get(item.event.id) : undefined;
    return holder === undefined ? item : { ...item, holder };
  });
  return { items: named, next };
}

function isEnd({ type }: DurableEvent): boolean {
  return type === "lease-ended" || type === "request-left";
}
