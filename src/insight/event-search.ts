/** Finds events in the journal: about one request or one resource, or by what people look for. */
import { setImmediate, setTimeout } from "node:timers/promises";
import { type EventFilter, isAbout } from "../core/explain/event-about.ts";
import {
  type EventMatch,
  matches,
  matchesType,
  needsContext,
  poolsIn,
  resourcesIn,
} from "../core/explain/event-match.ts";
import {
  isOfCluster,
  isOnlyForObservers,
  publicPart,
  type ShownEvent,
  withoutSecrets,
} from "../core/explain/event-shown.ts";
import type { DurableEvent } from "../core/model/event.ts";
import type { Instant } from "../core/model/time.ts";
import type { Journal, Recorded } from "../journal/journal.ts";
import type { Asker } from "./history/reader.ts";

export interface EventSearch {
  readonly filter: EventFilter;
  readonly match?: EventMatch;
  /** Only what this caller may see is searched, and counts towards `limit`; undefined: everything. */
  readonly only?: LimitedReader | undefined;
  readonly limit: number;
  /** Only events with a smaller number. */
  readonly before: number;
  /** Only events of this time or later. */
  readonly since?: Instant | undefined;
  /** Only events before this time. */
  readonly until?: Instant | undefined;
}

/** A caller that is limited to a space. */
export interface LimitedReader {
  readonly space: string;
  /** The clusters that it may see, by name. */
  readonly clusters: ReadonlyMap<string, SeenCluster>;
}

export interface SeenCluster {
  /** Events before it are of another cluster that had the same name. */
  readonly plannedAt: Instant;
  /** Everybody sees it, without what is for its owner. */
  readonly isStock: boolean;
}

export interface FoundEvent {
  readonly seq: number;
  readonly at: Instant;
  readonly event: DurableEvent;
  /** The holder of the request; undefined if the event is not about one, or if it is not known. */
  readonly holder?: string | undefined;
  /** Of the request, in the same way. */
  readonly space?: string | undefined;
}

export interface EventPage {
  /** The latest first. */
  readonly items: readonly FoundEvent[];
  /** The value for `before`; null: there are no earlier events. */
  readonly next: number | null;
}

type Known<Value> = Value | Promise<Value>;

/** What the history knows about requests and resources. */
export interface KnownSubjects {
  readonly askersOf: (ids: readonly string[]) => Known<ReadonlyMap<string, Asker>>;
  readonly membersOf: (pool: string) => Known<ReadonlySet<string>>;
}

export interface Reading {
  /** The first event of the request, if an id is given. */
  readonly firstSeq?: number | undefined;
  /** The search runs on the thread that serves clients, so it reads little at once and rests. */
  readonly isOnMainThread?: boolean;
  /** Ends the search: nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/** Read at once. Other queries are answered in between. */
const chunkEvents = 5_000;
/** The size of events is known only when they have been read. */
const firstChunkEvents = 200;
const chunkEventsMin = 20;
const mainThreadChunkEvents = 1_000;
const mainThreadRestMs = 10;
/** A search reads at most this many events, about 200 MB. The next page continues it. */
const searchedEventsMax = 500_000;
/** Who asked is looked up once for each chunk, and every lookup reads the whole history. */
const matchedChunkEvents = 20_000;
const matchedEventsMax = 200_000;

/**
 * Returns the latest events first. Those of a request are between its first one and its end, so
 * nothing else is read.
 */
export async function findEvents(
  journal: Pick<Journal, "search">,
  search: EventSearch,
  known: KnownSubjects,
  reading: Reading = {},
): Promise<EventPage> {
  const { firstSeq } = reading;
  if (search.filter.id === undefined) return await searchBackward(journal, search, known, reading);
  if (firstSeq === undefined) return { items: [], next: null };
  const { limit, since = 0, until = Number.POSITIVE_INFINITY } = search;
  const found = await searchUntilEnd(journal, search, firstSeq, reading);
  const ofTime = found.filter(({ at }) => at >= since && at < until);
  const all = (await matching(ofTime, search, known)).reverse();
  const items = all.slice(0, limit);
  return { items, next: all.length > limit ? (items.at(-1)?.seq ?? null) : null };
}

/** The number of events to read at once, of those that another thread would read. */
function chunkOf({ isOnMainThread = false }: Reading, elsewhere: number): number {
  return isOnMainThread ? mainThreadChunkEvents : elsewhere;
}

async function letOthers({ isOnMainThread = false, signal }: Reading): Promise<void> {
  if (isOnMainThread) await setTimeout(mainThreadRestMs);
  else await setImmediate();
  signal?.throwIfAborted();
}

async function searchUntilEnd(
  journal: Pick<Journal, "search">,
  { filter, before }: EventSearch,
  firstSeq: number,
  reading: Reading,
): Promise<FoundEvent[]> {
  const found: FoundEvent[] = [];
  const size = chunkOf(reading, chunkEvents);
  for (let from = firstSeq; from < before; from += size) {
    const to = Math.min(from + size, before) - 1;
    for (const one of (await searchChunk(journal, filter, from, to)).found) {
      found.push(one);
      if (isEnd(one.event)) return found;
    }
    await letOthers(reading);
  }
  return found;
}

async function searchBackward(
  journal: Pick<Journal, "search">,
  search: EventSearch,
  known: KnownSubjects,
  reading: Reading,
): Promise<EventPage> {
  const { filter, limit, since, until } = search;
  const before = until === undefined ? search.before : await firstSince(journal, until, search);
  const first = since === undefined ? 1 : await firstSince(journal, since, { before });
  const isLookedUp = mustLookUp(search);
  const oldest = Math.max(first, before - (isLookedUp ? matchedEventsMax : searchedEventsMax));
  const items: FoundEvent[] = [];
  const sizeMax = chunkOf(reading, isLookedUp ? matchedChunkEvents : chunkEvents);
  let [to, size, weight] = [before - 1, firstChunkEvents, 0];
  while (to >= oldest && weight < searchedEventsMax) {
    const from = Math.max(oldest, to - size + 1);
    const read = await searchChunk(journal, filter, from, to, oldest);
    const { found: chunk, weight: readWeight } = read;
    weight += readWeight;
    items.push(...(await matching(chunk, search, known)).reverse());
    if (items.length > limit) {
      const page = items.slice(0, limit);
      return { items: page, next: page.at(-1)?.seq ?? null };
    }
    await letOthers(reading);
    to = read.from - 1;
    size = nextSize(size, readWeight, sizeMax);
  }
  // Events before these may exist, or may be pruned.
  const hasEarlier = to >= first && (await journal.search("", to, to)).length > 0;
  return { items, next: hasEarlier ? to + 1 : null };
}

/** The number of the first event at this time or later. Each commit has one time, and a later one is not earlier. */
async function firstSince(
  journal: Pick<Journal, "search">,
  at: Instant,
  { before }: Pick<EventSearch, "before">,
): Promise<number> {
  let [low, high] = [1, before];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [commit] = await journal.search("", middle, middle);
    // Pruned ones are the earliest.
    if (commit === undefined) low = middle + 1;
    else if (commit.at < at) low = commit.seq + commit.events.length;
    else high = commit.seq;
  }
  return Math.min(low, before);
}

/** Whether the search depends on who asked, which only the history knows. */
function mustLookUp({ match = {}, only }: EventSearch): boolean {
  return only !== undefined || needsContext(match);
}

/**
 * Those that the search wants, in the same order. What the caller may not see is left out here: if it
 * counted towards the limit, the cursor of an empty page would tell when others used a resource.
 */
async function matching(
  found: readonly FoundEvent[],
  search: EventSearch,
  { askersOf, membersOf }: KnownSubjects,
): Promise<FoundEvent[]> {
  const { match = {}, only } = search;
  const ofType = found.filter(({ event }) => matchesType({ ...event }, match));
  if (!mustLookUp(search)) return ofType;
  const askers = await askersOf(idsOf(ofType));
  const { pool } = match;
  const members = pool === undefined ? undefined : await membersOf(pool);
  return ofType.filter((one) => {
    const { event } = one;
    const asker = "id" in event && event.id !== undefined ? askers.get(event.id) : undefined;
    const shown = shownTo(only, one, asker);
    if (shown === undefined) return false;
    const facts = { ...shown };
    const isMember = resourcesIn(facts).some((name) => members?.has(name));
    const pools = isMember && pool !== undefined ? [pool] : [];
    const context = { ...asker, pools: [...pools, ...(asker?.pools ?? poolsIn(facts))] };
    return matches(facts, context, match);
  });
}

/**
 * The part of an event that a search may look at. A search that looks at more than its caller may
 * see would tell whether a text is in it.
 */
function shownTo(
  only: LimitedReader | undefined,
  { event, at }: FoundEvent,
  asker: Asker | undefined,
): ShownEvent | undefined {
  const shown = withoutSecrets(event);
  if (only === undefined) return shown;
  if (isOnlyForObservers(event)) return undefined;
  if (isOfCluster(event)) {
    const cluster = only.clusters.get(event.resource);
    if (cluster === undefined || at < cluster.plannedAt) return undefined;
    return cluster.isStock ? publicPart(shown) : shown;
  }
  if (!("id" in event) || event.id === undefined) return publicPart(shown);
  const owner = "ask" in event && event.ask !== undefined ? event.ask.space : asker?.space;
  return owner === only.space ? shown : undefined;
}

interface Chunk {
  readonly found: FoundEvent[];
  /** The first event that was searched. */
  readonly from: number;
  /** About the number of usual events that are as large as those that were read. */
  readonly weight: number;
}

/**
 * The events from `from` up to `to`, oldest first. A commit is read whole, so all of it is searched from `oldest` on:
 * a configuration of thousands of resources would be read again for every few of its events.
 */
async function searchChunk(
  journal: Pick<Journal, "search">,
  filter: EventFilter,
  from: number,
  to: number,
  oldest = from,
): Promise<Chunk> {
  const name = filter.id ?? filter.resource;
  const commits = await journal.search(name === undefined ? "" : JSON.stringify(name), from, to);
  const all = commits.flatMap(eventsOf);
  const start = Math.min(from, Math.max(oldest, all[0]?.seq ?? from));
  return {
    found: all.filter(({ seq, event }) => seq >= start && seq <= to && isAbout(event, filter)),
    from: start,
    weight: all.reduce((sum, { event }) => sum + weightOf(event), 0),
  };
}

/** A grant or an end of thousands of claims is as large as thousands of other events. */
function weightOf(event: DurableEvent): number {
  let weight = 1;
  for (const value of Object.values(event)) if (Array.isArray(value)) weight += value.length;
  return weight;
}

/** Reads about as much at once as that many usual events. */
function nextSize(size: number, weight: number, sizeMax: number): number {
  const fitting = Math.floor((size * sizeMax) / Math.max(size, weight));
  return Math.max(chunkEventsMin, Math.min(fitting, size * 10));
}

function eventsOf({ seq, at, events }: Recorded): FoundEvent[] {
  return events.map((event, index) => ({ seq: seq + index, at, event }));
}

/** Only the first event of a request names its holder. */
export async function withHolders(
  { items, next }: EventPage,
  { askersOf }: Pick<KnownSubjects, "askersOf">,
): Promise<EventPage> {
  const ids = idsOf(items);
  if (ids.length === 0) return { items, next };
  const askers = await askersOf(ids);
  const named = items.map((item) => {
    const { event } = item;
    const id = "id" in event ? event.id : undefined;
    const asker = id === undefined ? undefined : askers.get(id);
    return asker === undefined ? item : { ...item, holder: asker.holder, space: asker.space };
  });
  return { items: named, next };
}

function idsOf(found: readonly FoundEvent[]): string[] {
  const ids = found.flatMap(({ event }) => ("id" in event ? (event.id ?? []) : []));
  return [...new Set(ids)];
}

function isEnd({ type }: DurableEvent): boolean {
  return type === "lease-ended" || type === "request-left";
}
