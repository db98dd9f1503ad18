import type { AskedItem, HistoryEntry, OpenEntry } from "../history/entry.ts";
import { rank, sorted } from "../history/percentiles.ts";

/**
 * The facts of a request that do not depend on the broker: its time, its items and its hold time.
 */
export interface Demand {
  readonly id: string;
  readonly holder: string;
  readonly items: readonly AskedItem[];
  readonly priority: number;
  readonly askedAt: number;
  /** Orders requests of the same millisecond. */
  readonly order: number;
  /** The request leaves the queue if it is not granted for this long; null: it waits for ever. */
  readonly patienceMs: number | null;
  readonly ends: readonly DemandEnd[];
  /**
   * Since when the lease was held, if it was granted before the period. It is then granted first.
   */
  readonly heldSince?: number;
}

export interface DemandEnd {
  /** Null: the whole lease. */
  readonly claim: string | null;
  /** Counted from the grant. */
  readonly afterMs: number;
  /** The lease was not released but expired, or an operator ended it. */
  readonly forced: boolean;
}

export interface Recording {
  readonly ended: Iterable<HistoryEntry>;
  readonly open: Iterable<OpenEntry>;
}

/**
 * Derives the requests of a period from the history. A request that left without a grant gets the
 * median hold of its pool, because another configuration might have granted it. A request that
 * still holds or waits at the end gets the same, or more if it is known to last longer.
 */
export function demandOf(recording: Recording, from: number, to: number): Demand[] {
  const entries = new Map<string, HistoryEntry[]>();
  const holds = new Map<string, number[]>();
  for (const entry of recording.ended) {
    if (entry.purpose === "clean") continue;
    if (entry.askedAt >= to || entry.endedAt <= from) continue;
    push(entries, entry.id, entry);
    if (entry.grantedAt !== null) push(holds, entry.pool, entry.endedAt - entry.grantedAt);
  }
  const medians = new Map<string, number>();
  for (const [pool, values] of holds) medians.set(pool, rank(sorted(values), 0.5));
  const demand: Demand[] = [];
  for (const entry of recording.open) {
    if (entry.askedAt >= to || entry.items.every(({ purpose }) => purpose === "clean")) continue;
    demand.push(fromOpen(entry, entries.get(entry.id) ?? [], medians, { from, to }));
    entries.delete(entry.id);
  }
  for (const parts of entries.values()) demand.push(fromEnded(parts, medians, from));
  return demand.sort(bySeniority);
}

/** Leases held at the start come first, then requests in order. */
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
  if (first === undefined) throw new Error("Cannot derive a demand: there are no entries");
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
    // The server ends a claim at its maximum hold time. Without this limit, the holder would have
    // kept the claim as long as the rest of the lease.
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
