/** Everything that the page asks the server, each with the events after which it asks again. */
import type {
  Explanation,
  Lease,
  Pool,
  Resource,
  SearchResult,
  Trends,
  WaitingRequest,
} from "../../../src/api/schemas.ts";
import type { Granted, Waiting } from "../../../src/client/calls.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { berth } from "./berth.ts";
import type { Question } from "./query.ts";

const always = () => true;
const never = () => false;
/** For what heartbeats move on, which are no events. */
const heartbeatsMs = 10_000;

const about =
  (...prefixes: readonly string[]) =>
  ({ type }: FeedEvent) =>
    prefixes.some((prefix) => type.startsWith(prefix));

export const allPools: Question<Pool[]> = {
  key: "pools",
  read: (signal) => berth.everyPool({ signal }),
  touchedBy: always,
  everyMs: 30_000,
};

export const allTrends: Question<Trends> = {
  key: "trends",
  read: (signal) => berth.trends({ signal }),
  touchedBy: never,
  everyMs: 20_000,
};

export const onePool = (name: string): Question<Pool> => ({
  key: `pool ${name}`,
  read: (signal) => berth.pool(name, { signal }),
  touchedBy: always,
  everyMs: 30_000,
});

export const resourcesOf = (pool: string): Question<Resource[]> => ({
  key: `resources of ${pool}`,
  read: (signal) => berth.everyResource({ pool }, { signal }),
  touchedBy: about("resource-", "lease-", "claim-", "pool-"),
});

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

/** Those in each of the states, in the order of the states. */
export const inStates = (states: readonly string[]): Question<Resource[][]> => ({
  key: `in states ${states.join()}`,
  read: (signal) => Promise.all(states.map((state) => berth.everyResource({ state }, { signal }))),
  touchedBy: about("resource-", "lease-", "claim-"),
});

export const oneResource = (name: string): Question<Resource> => ({
  key: `resource ${name}`,
  read: (signal) => berth.resource(name, { signal }),
  touchedBy: about("resource-", "lease-", "claim-"),
});

/** A request and the lease that it becomes have one id, and one page. */
export const standing = (id: string): Question<Granted | Waiting> => ({
  key: `standing ${id}`,
  read: (signal) => berth.request({ id, token: "" }, { signal }),
  touchedBy: (event) => event["id"] === id || event.type === "lease-ended",
  everyMs: heartbeatsMs,
});

export const explanation = (id: string): Question<Explanation> => ({
  key: `explain ${id}`,
  read: (signal) => berth.explain(id, { signal }),
  touchedBy: always,
  everyMs: heartbeatsMs,
});

export const found = (text: string): Question<SearchResult> => ({
  key: `search ${text}`,
  read: (signal) =>
    text === "" ? Promise.resolve({ items: [], more: false }) : berth.search(text, { signal }),
  touchedBy: never,
});
