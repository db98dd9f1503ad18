/** The holds of a resource as blocks on a timeline. A shared resource has several at a time. */
import type { HistoryEntry } from "../../../src/api/history-schemas.ts";
import type { Resource } from "../../../src/api/schemas.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { type Facts, factsOf, listOf, text } from "../../../src/core/explain/event-facts.ts";

export interface Hold {
  readonly id: string;
  readonly holder: string;
  readonly startMs: number;
  readonly endMs: number;
  /** `held`: it goes on. */
  readonly how: string;
  readonly purpose: "use" | "clean" | "provision";
  /** Of a shared resource, by dimension. */
  readonly amount?: Readonly<Record<string, number>> | null;
}

/** Past holds, and those that go on. */
export function holdsOf(
  { lease, shares, state }: Pick<Resource, "lease" | "shares" | "state">,
  entries: readonly HistoryEntry[],
  nowMs: number,
): Hold[] {
  const current = lease === null ? (shares ?? []) : [lease];
  const purpose = state === "cleaning" ? "clean" : "use";
  return [
    ...current.map(({ id, holder, since, ...rest }) => {
      return {
        ...rest,
        id,
        holder,
        startMs: Date.parse(since),
        endMs: nowMs,
        how: "held",
        purpose,
      } as const;
    }),
    ...entries.flatMap(({ grantedAt, endedAt, ...entry }) => {
      if (grantedAt === null) return [];
      return [{ ...entry, startMs: Date.parse(grantedAt), endMs: Date.parse(endedAt) }];
    }),
  ];
}

export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** A resource, and the events about it, which are newest first. */
type Known = Pick<Resource, "name" | "state" | "drained" | "changedAt">;

/** When the resource was in quarantine. Each event that gives it a state ends one or begins one. */
export function quarantinesOf(
  resource: Known,
  events: readonly FeedEvent[],
  nowMs: number,
): Span[] {
  const isQuarantined = (event: FeedEvent) => {
    const state = stateAfter(event, resource.name);
    return state === undefined ? undefined : state === "quarantined";
  };
  const isNow = resource.state === "quarantined";
  return spansOf(events, isQuarantined, { isNow, changedAt: resource.changedAt, nowMs });
}

/** When it was drained. A holder may have kept it for a part of that time. */
export function drainsOf(resource: Known, events: readonly FeedEvent[], nowMs: number): Span[] {
  const isDrained = ({ resource: name, drained }: FeedEvent) =>
    name === resource.name && typeof drained === "boolean" ? drained : undefined;
  const { drained: isNow, changedAt } = resource;
  return spansOf(events, isDrained, { isNow, changedAt, nowMs });
}

interface Until {
  readonly isNow: boolean;
  readonly changedAt: string;
  readonly nowMs: number;
}

/** The times in which something was so, as far back as the events go. `isSo` is undefined: the event does not change it. */
function spansOf(
  events: readonly FeedEvent[],
  isSo: (event: FeedEvent) => boolean | undefined,
  { isNow, changedAt, nowMs }: Until,
): Span[] {
  const spans: Span[] = [];
  let startMs: number | undefined;
  for (const event of events.toReversed()) {
    const next = isSo(event);
    if (next === undefined) continue;
    const atMs = Date.parse(event.at);
    if (next) startMs ??= atMs;
    else if (startMs !== undefined) {
      spans.push({ startMs, endMs: atMs });
      startMs = undefined;
    }
  }
  const changedMs = Date.parse(changedAt);
  if (isNow) return [...spans, { startMs: startMs ?? changedMs, endMs: nowMs }];
  // The event that ended it is not here yet.
  return startMs === undefined ? spans : [...spans, { startMs, endMs: changedMs }];
}

/** The state that an event gives to a resource; undefined: it does not change it. */
function stateAfter(event: FeedEvent, name: string): string | undefined {
  const isOurs = ({ resource }: Facts) => resource === name;
  if (event.type === "lease-granted" && listOf(event["claims"]).some(isOurs)) return "busy";
  const back = [...listOf(event["back"]), factsOf(event["back"])].find(isOurs);
  const state = back?.["state"] ?? (isOurs(event) ? event["state"] : undefined);
  return state === undefined ? undefined : text(state);
}

/**
 * Puts the holds into as few rows as possible, so that those of one row do not overlap. With more
 * than `rowsMax` at a time, the others are drawn over each other in the last row.
 */
export function rowsOf(holds: readonly Hold[], rowsMax: number): Hold[][] {
  const rows: Hold[][] = [];
  for (const hold of holds.toSorted((a, b) => a.startMs - b.startMs)) {
    const fits = rows.find((row) => (row.at(-1)?.endMs ?? 0) <= hold.startMs);
    const row = fits ?? (rows.length < rowsMax ? [] : rows.at(-1));
    if (row === undefined) continue;
    if (row.length === 0) rows.push(row);
    row.push(hold);
  }
  return rows;
}

/** The time in which at least one of them went on. */
export function coveredMs(holds: readonly Hold[], fromMs: number): number {
  let [covered, until] = [0, fromMs];
  for (const { startMs, endMs } of holds.toSorted((a, b) => a.startMs - b.startMs)) {
    covered += Math.max(0, endMs - Math.max(until, startMs));
    until = Math.max(until, endMs);
  }
  return covered;
}

export interface MeanUse {
  readonly dimension: string;
  /** Of what there is now, from 0 to 1. */
  readonly share: number;
}

/** Of which dimension of a shared resource most was in use, on average, and how much; undefined: nothing is known. */
export function meanUseOf(
  holds: readonly Hold[],
  usage: Resource["usage"] = [],
  { startMs, endMs }: Span,
): MeanUse | undefined {
  if (endMs <= startMs) return undefined;
  const used = (dimension: string) =>
    holds.reduce((sum, { amount, ...hold }) => {
      const ms = Math.min(hold.endMs, endMs) - Math.max(hold.startMs, startMs);
      return sum + Math.max(0, ms) * (amount?.[dimension] ?? 0);
    }, 0);
  return usage
    .filter(({ capacity }) => capacity > 0)
    .map(({ dimension, capacity }) => {
      return { dimension, share: used(dimension) / (capacity * (endMs - startMs)) };
    })
    .toSorted((a, b) => b.share - a.share)[0];
}

const hourMs = 3_600_000;
/** As far back as the page asks. */
const longestMs = 7 * 24 * hourMs;
/** Shorter than this, nothing can be seen. */
const shortestMs = 60_000;

/**
 * How far back all holds are seen: since it was added, or since the first hold if that is not known. A time in
 * which it did not exist would count as one in which nobody held it.
 */
export function fittingMs(
  holds: readonly Hold[],
  addedMs: number | undefined,
  nowMs: number,
): number {
  const firstMs = Math.min(...holds.map(({ startMs }) => startMs));
  const sinceMs = addedMs ?? (Number.isFinite(firstMs) ? firstMs : nowMs - hourMs);
  return Math.min(longestMs, Math.max(shortestMs, nowMs - sinceMs));
}
