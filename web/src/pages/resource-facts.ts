/** What the actions on a resource depend on. */
import type { Resource } from "../../../src/api/schemas.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { factsOf, listOf, text } from "../../../src/core/explain/event-facts.ts";
import { type Group, groupedBy } from "./grouping.ts";

/** The server refuses to change the state of a cluster, and of a resource that is held. */
export function canBeFreed(resource: Resource): boolean {
  const { drained, state, cluster } = resource;
  return !isHeld(resource) && !drained && cluster !== true && state !== "free";
}

/** Only a resource that a cleaner has given up has one for sure: others would stay dirty. */
export function canBeCleaned(resource: Resource): boolean {
  return canBeFreed(resource) && resource.state === "quarantined" && resource.failures > 0;
}

/** Of the output of a cleaner the line that says most: the last one. */
export function lastLine(note: string): string {
  return note.trimEnd().split("\n").at(-1)?.trim() ?? "";
}

export function isHeld({ lease, shares = [] }: Resource): boolean {
  return lease !== null || shares.length > 0;
}

/** A shorter cleaning worries nobody, however short the others are. */
export const longCleaningMs = 30_000;

/** How many times as long as usual a cleaning takes before it counts as long. */
const longTimes = 3;

/** How long a cleaning usually takes, in seconds, if this one takes much longer; undefined: it does not, or nobody knows. */
export function usualIfLong(
  { state, changedAt }: Pick<Resource, "state" | "changedAt">,
  times: { readonly p50: number; readonly p90: number } | null | undefined,
  nowMs: number,
): number | undefined {
  if (state !== "cleaning" || times === null || times === undefined) return undefined;
  const tookMs = nowMs - Date.parse(changedAt);
  return tookMs >= Math.max(longCleaningMs, times.p90 * 1_000 * longTimes) ? times.p50 : undefined;
}

/** The part of its fullest dimension that is in use, from 0 to 1; undefined: it has one holder at a time. */
export function usedPart({ usage }: Pick<Resource, "usage">): number | undefined {
  if (usage === undefined || usage.length === 0) return undefined;
  return Math.max(...usage.map(({ used, capacity }) => used / Math.max(1e-9, capacity)));
}

/** What happens to the holders if the resource is drained. */
export function effectOfDrain({ name, lease, shares = [] }: Resource): string {
  if (lease !== null) {
    return `${lease.holder} keeps ${name} until it releases it. Then it is not lent again until somebody undrains it.`;
  }
  if (shares.length === 0) return `${name} is not lent again until somebody undrains it.`;
  const leases =
    shares.length === 1
      ? `The lease on ${name} keeps`
      : `The ${shares.length} leases on ${name} keep`;
  const until =
    shares.length === 1
      ? "what it holds until it releases it"
      : "what they hold until they release it";
  return `${leases} ${until}. It gets no new ones until somebody undrains it.`;
}

/** `By ann: new disk`; nothing if it is not drained, or if the reader may not know by whom. */
export function drainWords({ drainedBy }: Pick<Resource, "drainedBy">): string {
  if (drainedBy === undefined) return "";
  const { by, why } = drainedBy;
  return `By ${by}${why === "" ? "" : `: ${why}`}`;
}

/** Who put a resource into quarantine: somebody by hand, or a cleaner that gave it back so. */
export interface Quarantine {
  readonly at: string;
  readonly by: string;
  readonly why: string;
  /** The lease of the cleaner. */
  readonly lease?: string;
}

/** Of the events of the resource, newest first; undefined: they do not say. */
export function quarantineOf(name: string, events: readonly FeedEvent[]): Quarantine | undefined {
  for (const event of events) {
    const { at, type } = event;
    if (type === "resource-changed" && event["state"] === "quarantined") {
      const { by, why } = factsOf(event["reason"]);
      return { at, by: text(by), why: text(why) };
    }
    const back = [...listOf(event["back"]), factsOf(event["back"])];
    if (!back.some(({ resource, state }) => resource === name && state === "quarantined")) continue;
    const lease = text(event["id"]);
    return { at, by: text(event["holder"]) || lease, why: "", lease };
  }
  return undefined;
}

const sameSaidMin = 2;

/** What is said of a resource that is out of service: why it was drained, and its note. */
export function saidOf(resource: Pick<Resource, "note" | "drainedBy">): string {
  return [drainWords(resource), resource.note.trim()].filter((text) => text !== "").join("; ");
}

/**
 * Resources of which the same is said together, and the others in a group without a name. The group with the first
 * resource comes first: the oldest trouble must not sink below fresh ones.
 */
export function groupsBySaid<T extends Pick<Resource, "note" | "drainedBy">>(
  resources: readonly T[],
): Group<T>[] {
  const isShared = ({ name, rows: [first, ...more] }: Group<T>) => {
    const isSaid = first !== undefined && saidOf(first) === name && !name.includes("\n");
    return isSaid && more.length + 1 >= sameSaidMin;
  };
  const shared = groupedBy(resources, saidOf).filter(isShared);
  const inShared = new Set(shared.flatMap(({ rows }) => rows));
  const others = resources.filter((resource) => !inShared.has(resource));
  const all = others.length === 0 ? shared : [...shared, { name: "", rows: others }];
  const first = ({ rows: [row] }: Group<T>) => (row === undefined ? 0 : resources.indexOf(row));
  return all.sort((a, b) => first(a) - first(b));
}
