/** All reads of the page, each with the events after which it is repeated. */

import type { Attention } from "../../../src/api/attention-schemas.ts";
import type { AuditEntry, AuditPage } from "../../../src/api/audit-schemas.ts";
import type {
  Cluster,
  ClusterLogs,
  ClusterPlan,
  Costs,
  Orphan,
} from "../../../src/api/cluster-schemas.ts";
import type {
  EstimateAccuracy,
  HistoryEntry,
  PoolStats,
  Stats,
} from "../../../src/api/history-schemas.ts";
import type { Hub, HubClusterList } from "../../../src/api/hub-schemas.ts";
import { limits } from "../../../src/api/limits.ts";
import { Problem } from "../../../src/api/problem.ts";
import type { Replicas } from "../../../src/api/replica-schemas.ts";
import type {
  Explanation,
  Lease,
  PageOf,
  Pool,
  RateHistory,
  Resource,
  SearchHit,
  SearchResult,
  Trends,
  WaitingRequest,
} from "../../../src/api/schemas.ts";
import type { Space } from "../../../src/api/space-schemas.ts";
import type { AuditFilter, Granted, HistoryFilter, Waiting } from "../../../src/client/calls.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { type EventFilter, isAbout } from "../../../src/core/explain/event-about.ts";
import { type EventMatch, matches } from "../../../src/core/explain/event-match.ts";
import {
  type ChartRange,
  closerLook,
  fittingRange,
  timesNow,
  wholeDay,
} from "../parts/chart-fit.ts";
import { wholeFoldsOf } from "../parts/event-folds.ts";
import { contextOf, notePools } from "../parts/event-subjects.ts";
import { isBefore } from "../parts/time-range.ts";
import { berth, serverNowMs } from "./berth.ts";
import { changedResources, replaceChanged } from "./changed-resources.ts";
import { holderOf, noteAsker, noteHolder } from "./holder-names.ts";
import { type PoolList, withChanges } from "./pool-list.ts";
import type { Question } from "./query.ts";

const always = () => true;
/** Heartbeats change data without an event, so it is read at this interval. */
const heartbeatsMs = 10_000;
/** Each pool that cannot tell itself why requests wait is asked for one of them, so not often. */
const reasonMs = 60_000;

const eventsPerPage = 50;
const foundPerPage = 200;
/** A list of events that grows does not grow for ever. */
/** Most of a minute of a busy server: of less, few groups would be whole. */
const eventsKeptMax = 5_000;

/** `slot-2` before `slot-10`. */
const asPeopleCount = new Intl.Collator("en", { numeric: true });

const about =
  (...prefixes: readonly string[]) =>
  ({ type }: FeedEvent) =>
    prefixes.some((prefix) => type.startsWith(prefix));

/** Reads all pools once, and then only what has changed in them. */
export const allPools: Question<PoolList> = {
  key: "pools",
  read: async (signal) =>
    withChanges(undefined, await berth.poolChanges(undefined, { signal }), serverNowMs()),
  patch: async (before, _, signal) =>
    withChanges(before, await berth.poolChanges(before.cursor, { signal }), serverNowMs()),
  touchedBy: always,
  // If all of 240 pools change all the time, these reads are most of what the page costs.
  pauseMs: 1_500,
  everyMs: 30_000,
};

/** The same with the other blocks of a view, beside which it stands. */
export const poolsAtOnce: Question<PoolList> = {
  ...allPools,
  key: "pools at once",
  pauseMs: 0,
};

/** Much of it has no event: a wait that has become long, a reload of the file that is refused. */
export const attention: Question<Attention> = {
  key: "attention",
  read: (signal) => berth.attention({ signal }),
  touchedBy: about("pool-", "resource-", "cluster-", "rate-", "hub-", "orphan-"),
  // As often as the pools: what they show as red is what this list names.
  pauseMs: 1_500,
  everyMs: heartbeatsMs,
};

/** Who leads of several servers. A change of the leader is no event. */
export const allReplicas: Question<Replicas> = {
  key: "replicas",
  read: (signal) => berth.replicas({ signal }),
  everyMs: 5_000,
};

export const allTrends: Question<Trends> = {
  key: "trends",
  read: (signal) => berth.trends({ signal }),
  everyMs: 20_000,
};

export const onePool = (name: string): Question<Pool> => ({
  key: `pool ${name}`,
  subject: name,
  read: (signal) => berth.pool(name, { signal }),
  touchedBy: always,
  // An admission check with an unchanged result sends no event either.
  everyMs: heartbeatsMs,
});

/** Their settings, which hardly change. */
export const somePools = (names: readonly string[]): Question<Pool[]> => ({
  key: `pools ${names.join()}`,
  read: (signal) => Promise.all(names.map((name) => berth.pool(name, { signal }))),
  touchedBy: about("pool-defined"),
});

/** Of no pool there are no changes. */
export const rateHistoryOf = (pool: string | undefined): Question<RateHistory> => ({
  key: `rate history of ${pool ?? ""}`,
  read: async (signal) =>
    pool === undefined ? { pool: "", changes: [] } : await berth.limitHistory(pool, { signal }),
  touchedBy: ({ type, pool: of }) => type === "rate-changed" && of === pool,
});

export const resourcesOf = (pool: string): Question<Resource[]> => ({
  key: `resources of ${pool}`,
  read: async (signal) => {
    const resources = await berth.everyResource({ pool }, { signal });
    return resources.sort((a, b) => asPeopleCount.compare(a.name, b.name));
  },
  patch: (before, events, signal) => {
    const names = events && changedResources(pool, before, events);
    if (names === undefined || names.length > limits.pageSizeMax) return undefined;
    if (names.length === 0) return Promise.resolve(before);
    return patched(before, { pool, names }, signal);
  },
  touchedBy: about("resource-", "lease-", "claim-", "room-", "pool-"),
});

async function patched(
  before: readonly Resource[],
  { pool, names }: { pool: string; names: readonly string[] },
  signal: AbortSignal,
): Promise<Resource[]> {
  const filter = { pool, names: names.join(), limit: limits.pageSizeMax };
  const { items } = await berth.resources(filter, { signal });
  return replaceChanged(before, names, items);
}

export const leasesOf = (pool: string | undefined): Question<Lease[]> => ({
  key: `leases of ${pool ?? ""}`,
  read: (signal) => berth.everyLease({ pool }, { signal }),
  touchedBy: about("lease-", "claim-"),
  everyMs: heartbeatsMs,
});

export const queueOf = (pool: string | undefined): Question<WaitingRequest[]> => ({
  key: `queue of ${pool ?? ""}`,
  read: async (signal) => {
    const waiting = await berth.everyRequest({ pool }, { signal });
    return waiting.sort((a, b) => a.position - b.position || a.queuedAt.localeCompare(b.queuedAt));
  },
  touchedBy: always,
  everyMs: heartbeatsMs,
});

/** Any request that waits for the pool; null: none does. */
export const oneWaiting = (pool: string): Question<WaitingRequest | null> => ({
  key: `one waiting for ${pool}`,
  read: async (signal) => (await berth.requests({ pool, limit: 1 }, { signal })).items[0] ?? null,
  everyMs: reasonMs,
});

const clustersChange = about("cluster-", "resource-", "lease-", "claim-");

/** Progress that is too small for an event is read at an interval. */
export const allClusters: Question<Cluster[]> = {
  key: "clusters",
  read: (signal) => berth.clusters.every({}, { signal }),
  touchedBy: clustersChange,
  everyMs: heartbeatsMs,
};

/** Only operators and viewers may see them; for others there are none. */
export const orphanClusters: Question<Orphan[]> = {
  key: "orphans",
  read: (signal) =>
    berth.clusters.orphans({ signal }).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 403) return [];
      throw error;
    }),
  touchedBy: about("orphan-"),
};

/** The same for hubs. */
export const allHubs: Question<readonly Hub[]> = {
  key: "hubs",
  read: async (signal) => {
    const none = { items: [] };
    return (await berth.hubs.list({ signal }).catch((error) => unlessForbidden(error, none))).items;
  },
  touchedBy: about("hub-", "cluster-", "resource-", "lease-", "claim-"),
};

/** All clusters on a hub. Workers look once a minute. */
export const clustersOnHub = (name: string): Question<HubClusterList> => ({
  key: `hub ${name} clusters`,
  read: (signal) => berth.hubs.clusters(name, { signal }),
  touchedBy: about("hub-", "cluster-", "resource-", "lease-"),
  everyMs: 20_000,
});

function unlessForbidden<Answer>(error: unknown, otherwise: Answer): Answer {
  if (error instanceof Problem && error.status === 403) return otherwise;
  throw error;
}

export const oneCluster = (name: string): Question<Cluster> => ({
  key: `cluster ${name}`,
  subject: name,
  read: (signal) => berth.clusters.one(name, { signal }),
  touchedBy: clustersChange,
  everyMs: heartbeatsMs,
});

export const clusterLogs = (name: string): Question<ClusterLogs> => ({
  key: `logs of ${name}`,
  subject: name,
  read: (signal) => berth.clusters.logs(name, { signal }),
  touchedBy: clustersChange,
  everyMs: 30_000,
});

export const planOf = (pool: string): Question<ClusterPlan> => ({
  key: `plan of ${pool}`,
  read: (signal) => berth.clusters.plan(pool, { signal }),
  touchedBy: always,
  everyMs: 5_000,
});

export const costs: Question<Costs> = {
  key: "costs",
  read: (signal) => berth.clusters.costs({ since: "7d" }, { signal }),
  everyMs: 60_000,
};

/** The resources in each of the states, in the order of the states. */
export const inStates = (states: readonly string[]): Question<Resource[][]> => ({
  key: `in states ${states.join()}`,
  read: (signal) => Promise.all(states.map((state) => berth.everyResource({ state }, { signal }))),
  touchedBy: about("resource-", "lease-", "claim-"),
});

export const oneResource = (name: string): Question<Resource> => ({
  key: `resource ${name}`,
  subject: name,
  read: (signal) => berth.resource(name, { signal }),
  touchedBy: about("resource-", "lease-", "claim-"),
});

/** The request of a revoked lease is over; the lease is not, while its holder may still work. */
async function revokedLease(id: string, error: unknown, signal: AbortSignal): Promise<Granted> {
  if (!(error instanceof Problem) || error.status !== 410) throw error;
  try {
    return { granted: true, lease: await berth.lease(id, { signal }) };
  } catch (other) {
    throw isGone(other) ? error : other;
  }
}

/** It has ended: its id is never used again. */
function isGone(error: unknown): boolean {
  return error instanceof Problem && (error.status === 410 || error.status === 404);
}

/** The events of a request or a resource, from the journal. Later ones come from the feed. */
export const eventsAbout = (subject: EventFilter): Question<PageOf<FeedEvent>> => ({
  key: `events about ${JSON.stringify(subject)}`,
  read: (signal) => notedEvents({ ...subject, limit: eventsPerPage }, { signal }),
  patch: (before, events) => events && Promise.resolve(withNewer(before, events)),
  touchedBy: (event) => isAbout(event, subject),
});

/** The feed has only the kind of what happens in a space that the reader does not see: nothing to list. */
const isOnlyKind = ({ seq: _, at: _at, type: _type, ...facts }: FeedEvent) =>
  Object.keys(facts).length === 0;

/** What to look for, and when: at `since`, a moment or an age such as `1h`, or later, and before `until`. */
export interface EventsWanted extends EventMatch {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** What a filter of events finds, from the journal. Later ones come from the feed. */
export const eventsFound = (filter: EventsWanted): Question<PageOf<FeedEvent>> => ({
  key: `events found ${JSON.stringify(filter)}`,
  read: (signal) => enoughEventsOf(filter, signal),
  patch: (before, events) => events && Promise.resolve(withNewer(before, events)),
  touchedBy: (event) =>
    !isOnlyKind(event) &&
    isBefore(event.at, filter.until) &&
    matches(event, contextOf(event), filter),
});

/** As many as fill a screen: on a busy server a page of events is a few rows, because most are put together. */
const rowsWanted = 30;
const pagesMax = 5;
/** A page after the first: the first has shown that the events are many. */
export const moreEvents = 1_000;

async function enoughEventsOf(
  filter: EventsWanted,
  signal: AbortSignal,
): Promise<PageOf<FeedEvent>> {
  let page = await pastEventsOf(filter, undefined, signal);
  for (let pages = 1; pages < pagesMax && page.next !== null; pages++) {
    if (wholeFoldsOf(page.items).length >= rowsWanted) break;
    const { items, next } = await pastEventsOf(filter, page.next, signal, moreEvents);
    page = { items: [...page.items, ...items], next };
  }
  return page;
}

export async function pastEventsOf(
  { trouble, ...filter }: EventsWanted,
  after?: string,
  signal?: AbortSignal,
  limit = foundPerPage,
): Promise<PageOf<FeedEvent>> {
  const wanted = { ...filter, trouble: trouble === true ? ("true" as const) : undefined };
  const query = { ...wanted, limit, after };
  return notedEvents(query, signal && { signal });
}

/** Later events of the same requests have no holder of their own. */
async function notedEvents(
  ...call: Parameters<typeof berth.pastEvents>
): Promise<PageOf<FeedEvent>> {
  const page = await berth.pastEvents(...call);
  for (const event of page.items) noteHolder(event);
  return page;
}

const answersRead = 50;

/** What the admission check of a pool said lately, the latest first. */
export const admissionAnswers = (pool: string): Question<readonly FeedEvent[]> => {
  const isAnswer = ({ type, pool: of }: FeedEvent) =>
    of === pool && (type === "pool-admitted" || type === "pool-withheld");
  return {
    key: `admission answers ${pool}`,
    read: async (signal) => {
      const { items } = await berth.pastEvents(
        { type: "pool-", pool, limit: answersRead },
        { signal },
      );
      return items.filter(isAnswer);
    },
    touchedBy: isAnswer,
  };
};

/** For lists to choose from; a new one is there when the view is opened again. */
export const poolNames: Question<readonly string[]> = {
  key: "pool names",
  read: async (signal) => {
    const names = (await berth.everyPool({ signal })).map(({ name }) => name).sort();
    notePools(names);
    return names;
  },
};

/** Without authentication there are none. */
export const spaceNames: Question<readonly string[]> = {
  key: "space names",
  read: async (signal) => (await berth.everySpace({ signal })).map(({ name }) => name).sort(),
};

/** Who asked for what is held or waits, so that no event of the feed has a bare id. */
export const earlierHolders: Question<number> = {
  key: "earlier holders",
  read: async (signal) => {
    const [leases, requests] = await Promise.all([
      berth.everyLease({}, { signal }),
      berth.everyRequest({}, { signal }),
    ]);
    for (const { id, holder, space, claims, queuedAt } of leases) {
      noteAsker(id, { holder, space, queuedAt, pools: claims.map(({ pool }) => pool) });
    }
    for (const { id, holder, space, items, queuedAt } of requests) {
      noteAsker(id, { holder, space, queuedAt, pools: items.map(({ pool }) => pool) });
    }
    return leases.length + requests.length;
  },
};

/** Who asked for a lease, as far as anybody knows. It does not change. */
export const holderOfAny = (id: string): Question<string | null> => ({
  key: `holder of ${id}`,
  read: async (signal) => {
    const known = holderOf(id);
    if (known !== undefined) return known;
    const { items } = await berth.history({ id, limit: 1 }, { signal });
    if (items[0] !== undefined) return items[0].holder;
    // Only what has ended is in the history.
    const open = await berth.request({ id, token: "" }, { signal }).catch((error: unknown) => {
      if (isGone(error)) return null;
      throw error;
    });
    if (open === null) return null;
    return open.granted ? open.lease.holder : open.request.holder;
  },
});

/** The page that ends before the event `after`. It does not change. */
export const earlierEvents = (
  subject: EventFilter,
  after: string,
): Question<PageOf<FeedEvent>> => ({
  key: `events about ${JSON.stringify(subject)} before ${after}`,
  read: (signal) => notedEvents({ ...subject, limit: eventsPerPage, after }, { signal }),
});

function withNewer(
  { items, next }: PageOf<FeedEvent>,
  events: readonly FeedEvent[],
): PageOf<FeedEvent> {
  const last = items[0]?.seq ?? 0;
  const all = [...events.filter(({ seq }) => seq > last).toReversed(), ...items];
  if (all.length <= eventsKeptMax) return { items: all, next };
  // Those that are left out are read again if somebody wants older ones.
  const kept = all.slice(0, eventsKeptMax);
  return { items: kept, next: String(kept.at(-1)?.seq ?? 0) };
}

/** A request and the lease that it becomes have one id, and one page. */
export const leaseOrRequest = (id: string): Question<Granted | Waiting> => ({
  key: `leaseOrRequest ${id}`,
  subject: id,
  read: (signal) =>
    berth.request({ id, token: "" }, { signal }).catch((error) => revokedLease(id, error, signal)),
  touchedBy: (event) => event["id"] === id || event.type === "lease-ended",
  isFinal: (error) => error instanceof Problem && error.status === 410,
  everyMs: heartbeatsMs,
});

export const explanation = (id: string): Question<Explanation> => ({
  key: `explain ${id}`,
  subject: id,
  read: (signal) => berth.explain(id, { signal }),
  touchedBy: always,
  everyMs: heartbeatsMs,
});

type Kind = SearchHit["kind"];

export const found = (text: string, kind?: Kind): Question<SearchResult> => ({
  key: `search ${kind ?? "all"} ${text}`,
  read: (signal) =>
    text === ""
      ? Promise.resolve({ items: [], more: false, counts: {} })
      : berth.search(text, { signal, ...(kind && { kind }) }),
});

export const statsOf = (pool: string | undefined, range: ChartRange): Question<Stats> => {
  const { stepSeconds } = range;
  const step = `${stepSeconds}s`;
  return {
    key: `stats of ${pool ?? ""} ${keyOf(range)} by ${step}`,
    read: (signal) => berth.stats({ pool, ...windowOf(range), step }, { signal }),
    everyMs: Math.min(20_000, Math.max(5_000, stepSeconds * 1_000)),
  };
};

/** Which pools kept requests waiting. All entries of the time are read for it. */
export const poolStatsOf = (range: ChartRange): Question<PoolStats> => ({
  key: `stats by pool ${keyOf(range)}`,
  read: (signal) => berth.poolStats(windowOf(range), { signal }),
  everyMs: 30_000,
});

function keyOf({ lengthSeconds, since, until }: ChartRange): string {
  const window = since === undefined ? `over ${lengthSeconds}` : `since ${since}`;
  return `${window} until ${until ?? "now"}`;
}

function windowOf(range: ChartRange) {
  const { from, to } = timesNow(range, serverNowMs() / 1_000);
  return { window: `${to - from}s`, until: new Date(to * 1_000).toISOString() };
}

export type Upkeep = Stats["total"]["upkeep"];

/** The cleanings of each pool in the last day. */
export const upkeepOf = (pools: readonly string[]): Question<ReadonlyMap<string, Upkeep>> => ({
  key: `cleanings of ${pools.join()}`,
  read: async (signal) => {
    const day = { window: "24h", step: "24h" };
    const all = await Promise.all(pools.map((pool) => berth.stats({ pool, ...day }, { signal })));
    return new Map(pools.flatMap((pool, at) => (all[at] ? [[pool, all[at].total.upkeep]] : [])));
  },
  everyMs: 60_000,
});

const daySeconds = 86_400;

/** Seven days as one step until now; `back` 1 is the week before, until a full hour. */
export const weekOf = (pool: string | undefined, back: number): Question<Stats> => {
  const hourMs = 3_600_000;
  const hour = Math.floor(serverNowMs() / hourMs) * 3_600;
  const until = back === 0 ? null : hour - back * 7 * daySeconds;
  const range = { lengthSeconds: 7 * daySeconds, stepSeconds: 7 * daySeconds, until };
  return { ...statsOf(pool, range), everyMs: hourMs };
};

/** New configurations, as the audit has them. Only operators may read it. */
export const configurationsOf = (
  pool: string | undefined,
  mayRead: boolean,
): Question<AuditEntry[]> => ({
  key: `configurations of ${pool ?? ""} ${mayRead}`,
  read: async (signal) => {
    if (!mayRead) return [];
    const { items } = await berth.audit({ way: "config", pool, limit: 50 }, { signal });
    return items;
  },
  touchedBy: about("pool-defined", "pool-removed"),
});

/** The range that fits the data. It changes slowly, and is much to read. */
export const fitOf = (pool: string | undefined): Question<ChartRange> => ({
  key: `fit of ${pool ?? ""}`,
  read: async (signal) => {
    const roughly = fittingRange(await statsOf(pool, wholeDay).read(signal));
    const closer = closerLook(roughly);
    return closer === undefined ? roughly : fittingRange(await statsOf(pool, closer).read(signal));
  },
  everyMs: 300_000,
});

export const accuracy: Question<EstimateAccuracy> = {
  key: "accuracy",
  read: (signal) => berth.estimates({ signal }),
  everyMs: 30_000,
};

/** The shares change with every grant and release. */
export const allSpaces: Question<Space[]> = {
  key: "spaces",
  read: (signal) => berth.everySpace({ signal }),
  touchedBy: about("lease-", "claim-", "request-", "pool-"),
  everyMs: 30_000,
};

export const auditOf = (filter: AuditFilter): Question<AuditPage> => ({
  key: `audit ${JSON.stringify(filter)}`,
  read: (signal) => berth.audit(filter, { signal }),
  touchedBy: always,
  // On a busy server the list would move under the eyes of the reader.
  pauseMs: 5_000,
  everyMs: 30_000,
});

export const past = (filter: HistoryFilter): Question<PageOf<HistoryEntry>> => ({
  key: `past ${JSON.stringify(filter)}`,
  read: (signal) => berth.history(filter, { signal }),
  touchedBy: about("lease-ended", "claim-ended", "request-left"),
  everyMs: 30_000,
});

/** The history is written a moment after the end: until it has the lease, it is read often. */
const untilRecordedMs = 2_000;

/** What became of one that has ended. Of an id that nobody knows there is hardly ever a record. */
export const pastOf = (
  id: string,
  { isUnknown }: { isUnknown: boolean },
): Question<PageOf<HistoryEntry>> => ({
  key: `past of ${id} ${isUnknown}`,
  read: (signal) => berth.history({ id }, { signal }),
  touchedBy: (event) => event["id"] === id,
  everyMs: (data) => (data?.items.length || isUnknown ? undefined : untilRecordedMs),
});
