import type { AskedItem, HistoryEntry, OpenEntry } from "../history/entry.ts";
import { rank, sorted } from "../history/percentiles.ts";

/** Somebody who asked, with what is theirs and not the broker's: when, for what, for how long. */
export interface Demand {
  readonly id: string;
  readonly holder: string;
  readonly items: readonly AskedItem[];
  readonly priority: number;
  readonly askedAt: number;
  /** Orders those who asked in the same millisecond. */
  readonly order: number;
  /** Leaves the queue if nothing was granted for so long; null: waits for ever. */
  readonly patienceMs: number | null;
  readonly ends: readonly DemandEnd[];
  /** Since when it was held, where that is before the time that is looked at; then it comes first. */
  readonly heldSince?: number;
}

export interface DemandEnd {
  /** Null: all of the lease. */
  readonly claim: string | null;
  /** From the grant. */
  readonly afterMs: number;
  /** Not given back but taken: it expired, or an operator ended it. */
  readonly forced: boolean;
}

export interface Recording {
  readonly ended: Iterable<HistoryEntry>;
  readonly open: Iterable<OpenEntry>;
}

/**
 * What was asked for between two times, from what became of it. Who gave up is given the pool's
 * median hold, in case another configuration would have served them; who still holds or waits at the
 * end is given as much, or what is known to be more.
 */
export function demandOf(recording: Recording, from: number, to: number): Demand[] {
  const entries = new Map<string, HistoryEntry[]>();
  const holds = new Map<string, number[]>();
  for (const entry of recording.ended) {
    if (entry.askedAt >= to || entry.endedAt <= from) continue;
    push(entries, entry.id, entry);
    if (entry.grantedAt !== null) push(holds, entry.pool, entry.endedAt - entry.grantedAt);
  }
  const medians = new Map<string, number>();
  for (const [pool, values] of holds) medians.set(pool, rank(sorted(values), 0.5));
  const demand: Demand[] = [];
  for (const entry of recording.open) {
    if (entry.askedAt >= to) continue;
    demand.push(fromOpen(entry, entries.get(entry.id) ?? [], medians, { from, to }));
    entries.delete(entry.id);
  }
  for (const parts of entries.values()) demand.push(fromEnded(parts, medians, from));
  return demand.sort(bySeniority);
}

/** Who held at the start comes first, then those who asked, in order. */
function bySeniority(a: Demand, b: Demand): number {
  const held = Number(b.heldSince !== undefined) - Number(a.heldSince !== undefined);
  return held || a.askedAt - b.askedAt || a.order - b.order;
}

function fromEnded(
  parts: readonly HistoryEntry[],
  medians: ReadonlyMap<string, number>,
  from: number,
): Demand {
  const [first] = parts;
  if (first === undefined) throw new Error("Cannot make a demand of nothing");
  const { id, holder, priority, askedAt, askedSeq: order, grantedAt, endedAt } = first;
  const common = { id, holder, priority, askedAt, order };
  if (grantedAt === null) {
    const holdMs = Math.max(...parts.map(({ pool }) => medians.get(pool) ?? 0));
    const items = parts.map(({ pool, count }) => ({ pool, count }));
    const ends = [{ claim: null, afterMs: holdMs, forced: false }];
    return { ...common, items, patienceMs: endedAt - askedAt, ends };
  }
  const lastAt = Math.max(...parts.map((part) => part.endedAt));
  const heldBefore = grantedAt < from;
  const heldFrom = Math.max(grantedAt, from);
  const ends = parts.map(({ claim, endedAt: at, how }) => ({
    claim: parts.length === 1 ? null : claim,
    // What the server gives back by itself, its holder would have kept as long as the rest.
    afterMs: (how === "hold" && !heldBefore ? lastAt : at) - heldFrom,
    forced: how === "expired" || how === "lifetime" || how === "revoked",
  }));
  const since = heldBefore ? { heldSince: grantedAt } : undefined;
  return { ...common, items: itemsOf(parts), patienceMs: null, ends, ...since };
}

function fromOpen(
  entry: OpenEntry,
  ended: readonly HistoryEntry[],
  medians: ReadonlyMap<string, number>,
  { from, to }: { from: number; to: number },
): Demand {
  const { id, holder, priority, askedAt, askedSeq: order, grantedAt } = entry;
  const since = grantedAt !== null && grantedAt < from ? { heldSince: grantedAt } : undefined;
  const heldFrom = Math.max(grantedAt ?? to, from);
  const parts = [...ended, ...entry.claims];
  const items = grantedAt === null ? entry.items : itemsOf(parts);
  const ends = ended.map(({ claim, endedAt }) => {
    return { claim, afterMs: endedAt - heldFrom, forced: false };
  });
  const usualMs = Math.max(...items.map(({ pool }) => medians.get(pool) ?? 0));
  const afterMs = Math.max(usualMs, to - heldFrom + 1);
  return {
    ...{ id, holder, priority, askedAt, order, items, patienceMs: null, ...since },
    ends: [...ends, { claim: null, afterMs, forced: false }],
  };
}

function itemsOf(parts: readonly { readonly claim: string | null; readonly pool: string }[]) {
  const counts = new Map<string, number>();
  const inOrder = [...parts].sort((a, b) => Number(a.claim) - Number(b.claim));
  for (const { pool } of inOrder) counts.set(pool, (counts.get(pool) ?? 0) + 1);
  return [...counts].map(([pool, count]) => ({ pool, count }));
}

function push<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
