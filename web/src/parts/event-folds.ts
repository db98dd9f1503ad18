/** What happens all the time, several at once in a row: a busy server has thirty events a second. */
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { listOf, text } from "../../../src/core/explain/event-facts.ts";
import { toneOf } from "../../../src/core/explain/event-tone.ts";
import { after, stateWords } from "./event-facts.ts";
import { isCleaning, isWork, saysMore, verbOf } from "./event-verbs.ts";
import { percent } from "./numbers.ts";

/** Events of one kind and about one time; the newest first. Most have only one. */
export interface Fold {
  /** Stays the same while more of them happen. */
  readonly key: string;
  readonly events: readonly FeedEvent[];
}

/** Fewer are shown one by one. */
const foldedMin = 3;
/** About as long as people need to read a row. */
const spanMs = 5_000;
/** What is worth a look happens less often. */
const lateSpanMs = 30_000;

/** The newest first, as the events are. What is red is never folded. */
export function foldsOf(events: readonly FeedEvent[]): Fold[] {
  const folds = new Map<string, FeedEvent[]>();
  const works = clusterWorks(events);
  for (const event of events) {
    if (works.events.has(event)) continue;
    const kind = kindOf(event);
    const isLate = Object.hasOwn(lateKinds, kind ?? "");
    const span = Math.floor(Date.parse(event.at) / (isLate ? lateSpanMs : spanMs));
    const key = kind === undefined ? String(event.seq) : `${kind} ${span}`;
    const found = folds.get(key);
    if (found === undefined) folds.set(key, [event]);
    else found.push(event);
  }
  const rows = [...folds].flatMap(([key, all]): Fold[] => {
    if (all.length >= foldedMin) return [{ key, events: all }];
    return all.map((event) => ({ key: String(event.seq), events: [event] }));
  });
  return [...trafficTogether(rows), ...works.folds].sort(newestFirst);
}

/**
 * The rows of a list that goes on before its oldest event. A group of its oldest seconds would count
 * a part of what happened, and ever less while newer events push the oldest out: these seconds are
 * left out, unless there is nothing else.
 */
export function wholeFoldsOf(events: readonly FeedEvent[]): Fold[] {
  const folds = foldsOf(events);
  const oldestMs = Date.parse(events.at(-1)?.at ?? "");
  const cutMs = folds.reduce((latest, fold) => {
    const { startMs, endMs } = spanOf(fold);
    return startMs <= oldestMs ? Math.max(latest, endMs) : latest;
  }, oldestMs);
  const whole = folds.filter(({ events: [newest] }) => Date.parse(newest?.at ?? "") >= cutMs);
  return whole.length === 0 ? folds : whole;
}

/** The time of which a group has all events; of what is no group, or a step of a cluster, none. */
function spanOf({ key, events }: Fold): { readonly startMs: number; readonly endMs: number } {
  const [kind = "", span] = key.split(" ");
  const ms = Object.hasOwn(lateKinds, kind) ? lateSpanMs : spanMs;
  const startMs =
    events.length === 1 || kind === "cluster" ? Number.POSITIVE_INFINITY : Number(span) * ms;
  return { startMs, endMs: startMs + ms };
}

/** What lending does all the time: several kinds at one time are one row, or the news would drown between them. */
const traffic = new Set([
  "granted",
  "cleaning",
  "released",
  "given",
  "queued",
  "rested",
  "autoReleased",
]);

function trafficTogether(rows: readonly Fold[]): Fold[] {
  const together = new Map<string, Fold>();
  for (const row of rows) {
    const [kind = "", span] = row.key.split(" ");
    const isTraffic = row.events.length > 1 && traffic.has(kind);
    const key = isTraffic ? `traffic ${span}` : row.key;
    const events = [...(together.get(key)?.events ?? []), ...row.events];
    together.set(key, { key, events });
  }
  return [...together.values()].map(({ key, events }) => ({
    key,
    events: events.toSorted((a, b) => b.seq - a.seq),
  }));
}

/** The same for events about one resource, of which only the steps of a cluster are put together. */
export function stepsOf(events: readonly FeedEvent[]): Fold[] {
  const works = clusterWorks(events);
  const others = events.filter((event) => !works.events.has(event));
  const alone = others.map((event) => ({ key: String(event.seq), events: [event] }));
  return [...works.folds, ...alone].sort(newestFirst);
}

function newestFirst(a: Fold, b: Fold): number {
  return (b.events[0]?.seq ?? 0) - (a.events[0]?.seq ?? 0);
}

/**
 * One step of a cluster is several events: it is to be made, a worker begins, its driver reports, and the worker ends.
 */
function clusterWorks(events: readonly FeedEvent[]): {
  readonly folds: readonly Fold[];
  readonly events: ReadonlySet<FeedEvent>;
} {
  const chains: FeedEvent[][] = [];
  const open = new Map<string, FeedEvent[]>();
  const works = new Set(events.flatMap((event) => (isWork(event) ? text(event["id"]) : [])));
  for (const event of events) {
    const name = clusterOf(event, works);
    if (name === undefined) continue;
    const chain = open.get(name) ?? [];
    if (chain.length === 0) chains.push(chain);
    chain.push(event);
    open.set(name, chain);
    if (isStep(event)) open.delete(name);
  }
  const folds = chains.flatMap((chain): Fold[] => {
    const oldest = chain.at(-1);
    if (oldest === undefined || chain.length < 2) return [];
    return [{ key: `cluster ${oldest.seq}`, events: chain }];
  });
  return { folds, events: new Set(folds.flatMap((fold) => fold.events)) };
}

/** The cluster that the event is a part of the work on; undefined: of none, or it is news. `works` are the leases of workers. */
function clusterOf(event: FeedEvent, works: ReadonlySet<string>): string | undefined {
  if (["late", "bad"].includes(toneOf(event))) return undefined;
  if (event.type === "lease-ended" && works.has(text(event["id"]))) {
    return text(listOf(event["back"])[0]?.["resource"]);
  }
  if (event.type === "lease-granted") {
    return isWork(event) ? text(listOf(event["claims"])[0]?.["resource"]) : undefined;
  }
  return isStep(event) || isClusterReport(event) ? text(event["resource"]) : undefined;
}

function isClusterReport({ type }: FeedEvent): boolean {
  return type === "cluster-reported";
}

/** The first event of a step. */
function isStep({ type, cluster }: FeedEvent): boolean {
  return type === "cluster-moved" || (type === "resource-added" && cluster !== undefined);
}

/** Of a step, in words that stay true when the cluster has gone on. */
const ends = new Map([
  ["free", "became free"],
  ["hibernated", "was hibernated"],
  ["tombstone", "was destroyed"],
]);

/** `ocp-4 is made for ocp; reports 30 %`, and once it is done: `ocp-4 was made for ocp; it became free`. */
function clusterWords(name: string, events: readonly FeedEvent[]): string {
  const step = events.find(isStep);
  const end = events.find(({ type }) => type === "lease-ended");
  if (end !== undefined) {
    const why = after(step?.["why"]);
    const state = text(listOf(end["back"])[0]?.["state"]);
    const then = ends.get(state) ?? `is ${stateWords(state)}`;
    if (step?.type !== "resource-added") return `${name} ${then}${why}`;
    return `${name} was made for ${text(step["pool"])}${why}; it ${then}`;
  }
  const report = events.find((event) => isClusterReport(event) && saysMore(event));
  // What it reports in words is in the events of the row, and often on the page already.
  const progress = report?.["progress"];
  const done = typeof progress === "number" ? `reports ${percent(progress)}` : undefined;
  const parts = [step && verbOf(step), done ?? (report && verbOf(report))].filter(Boolean);
  return `${name} ${parts.length === 0 ? "is worked on" : parts.join("; ")}`;
}

const kinds: Readonly<Record<string, (count: string) => string>> = {
  granted: (count) => `${count} leases granted`,
  cleaning: (count) => `${count} cleanings begun`,
  released: (count) => `${count} leases released`,
  given: (count) => `${count} resources released before the rest of their lease`,
  queued: (count) => `${count} requests queued`,
  rested: (count) => `${count} cooldowns over`,
  starved: (count) => `${count} waiting requests go first: their spaces got nothing`,
  aged: (count) => `${count} waiting requests got a higher priority`,
  autoReleased: (count) => `${count} resources auto-released`,
};

/** Of those that are worth a look. Equal ones together leave the others in sight. */
const lateKinds: Readonly<Record<string, (count: string) => string>> = {
  expired: (count) => `${count} leases expired`,
  lifetime: (count) => `${count} leases reached their max lifetime`,
  abandoned: (count) => `${count} requests left the queue: their clients no longer ask`,
  reserved: (count) => `${count} requests have waited long: hosts are reserved for them`,
  unreserved: (count) => `${count} requests have waited long: no host can be reserved for them yet`,
  throttled: (count) => `${count} reports of throttling by providers`,
  lowered: (count) => `${count} rates lowered: holders reported throttling`,
};

/** Undefined: each is news. */
function lateKindOf(event: FeedEvent): string | undefined {
  switch (event.type) {
    case "lease-ended":
    case "request-left": {
      const why = text(event["why"]);
      return Object.hasOwn(lateKinds, why) ? why : undefined;
    }
    case "room-kept":
      return listOf(event["rooms"]).length === 0 ? "unreserved" : "reserved";
    case "pool-signalled":
      return "throttled";
    case "rate-changed":
      return "lowered";
    default:
      return undefined;
  }
}

/** Of one resource of a lease. */
const claimEnds: Readonly<Record<string, string>> = { released: "given", hold: "autoReleased" };

/** Undefined: each is news. */
function kindOf(event: FeedEvent): string | undefined {
  const tone = toneOf(event);
  if (tone === "bad") return undefined;
  if (tone === "late") return lateKindOf(event);
  switch (event.type) {
    case "lease-granted":
      return isCleaning(event) ? "cleaning" : "granted";
    case "lease-ended":
      return event["why"] === "released" ? "released" : undefined;
    case "claim-ended":
      return claimEnds[text(event["why"])];
    case "priority-changed":
      if (event["starved"] === true) return "starved";
      return event["aged"] === true ? "aged" : undefined;
    case "request-queued":
      return "queued";
    case "resource-rested":
      return "rested";
    default:
      return undefined;
  }
}

type PoolsOf = (event: FeedEvent) => readonly string[];

/** `12 leases granted in aws-slot`, or in how many pools. */
export function foldWords({ events }: Fold, poolsOf: PoolsOf): string {
  const step = events.find((event) => isStep(event) || isClusterReport(event));
  if (step !== undefined) return clusterWords(text(step["resource"]), events);
  const ofKind = Object.groupBy(events, (event) => kindOf(event) ?? "");
  const what = Object.entries(ofKind)
    .sort(([, a = []], [, b = []]) => b.length - a.length)
    .map(([kind, all = []]) => {
      const words = kinds[kind] ?? lateKinds[kind];
      return words?.(String(all.length)) ?? `${all.length} events`;
    })
    .join(", ");
  const counts = new Map<string, number>();
  for (const pool of events.flatMap(poolsOf)) counts.set(pool, (counts.get(pool) ?? 0) + 1);
  const [most, ...others] = [...counts].sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
  if (most === undefined) return what;
  const [pool, count] = most;
  if (others.length === 0) return `${what} in ${pool}`;
  // The largest of many small parts says nothing.
  const named = count === 1 || count * 3 < events.length ? "" : `, ${count} of them in ${pool}`;
  return `${what} in ${counts.size} pools${named}`;
}
