import type { Group } from "../../core/model/command.ts";
import {
  type Asked,
  type AskedItem,
  type HistoryEntry,
  isExpiry,
  type OpenClaim,
  type OpenEntry,
} from "../history/entry.ts";
import { rank, sorted } from "../history/percentiles.ts";

/**
 * The facts of a request that do not depend on the broker: its time, its items and its hold time.
 */
export interface Demand {
  readonly id: string;
  readonly holder: string;
  readonly items: readonly AskedItem[];
  readonly group?: Group;
  readonly priority: number;
  /** Absent: as all other requests without one. */
  readonly space?: string;
  readonly askedAt: number;
  /** Orders requests of the same millisecond. */
  readonly order: number;
  /** The request leaves the queue if it is not granted for this long; null: it waits for ever. */
  readonly patienceMs: number | null;
  readonly ends: readonly DemandEnd[];
  /** The recorded names of claims that have another name in the replay. */
  readonly recordedClaims?: ReadonlyMap<string, string>;
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
  /** The holder died, so the lease expired; or its lifetime was over. */
  readonly forced: boolean;
  /** An operator revoked the lease, and its holder confirmed it. */
  readonly revoked?: true;
  /** The state that the holder released it to; absent: by the rules of the pool. */
  readonly state?: string;
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
    if (entry.purpose !== "use") continue;
    if (entry.askedAt >= to || entry.endedAt <= from) continue;
    push(entries, entry.id, entry);
    if (entry.grantedAt !== null) push(holds, entry.pool, entry.endedAt - entry.grantedAt);
  }
  const medians = new Map<string, number>();
  for (const [pool, values] of holds) medians.set(pool, rank(sorted(values), 0.5));
  const demand: Demand[] = [];
  for (const entry of recording.open) {
    if (entry.askedAt >= to || entry.items.every(({ purpose }) => purpose !== undefined)) continue;
    demand.push(fromOpen(entry, entries.get(entry.id) ?? [], medians, { from, to }));
    entries.delete(entry.id);
  }
  for (const parts of entries.values()) demand.push(fromEnded(parts, medians, from));
  return demand.sort(bySeniority);
}

/** Leases held at the start come first, then requests in order. */
export function bySeniority(a: Demand, b: Demand): number {
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
  const { id, holder, space, priority, askedAt, askedSeq: order, grantedAt, endedAt } = first;
  const common = { id, holder, space, priority, askedAt, order };
  const asked = askedOf(first, parts);
  if (grantedAt === null) {
    const holdMs = Math.max(...parts.map(({ pool }) => medians.get(pool) ?? 0));
    const ends = [{ claim: null, afterMs: holdMs, forced: false }];
    return { ...common, ...asked, patienceMs: endedAt - askedAt, ends };
  }
  const lastAt = Math.max(...parts.map((part) => part.endedAt));
  const heldBefore = grantedAt < from;
  const heldFrom = Math.max(grantedAt, from);
  const held = heldBefore ? stillHeld(asked, parts) : asked;
  const ends = endsOf(parts, { lastAt, heldFrom, heldBefore }).map((end) => {
    return { ...end, claim: claimIn(held, end.claim) };
  });
  const since = heldBefore ? { heldSince: grantedAt } : undefined;
  return { ...common, ...wantedIn(held), patienceMs: null, ends, ...since };
}

/** Claims that ended before the lease end one by one; the others end at once, with the lease. */
function endsOf(
  parts: readonly HistoryEntry[],
  at: { readonly lastAt: number; readonly heldFrom: number; readonly heldBefore: boolean },
): DemandEnd[] {
  const { lastAt, heldFrom, heldBefore } = at;
  const ends = parts.map(({ claim, endedAt, how }) => ({
    claim,
    // The server ends a claim at its maximum hold time. Without this limit, the holder would have
    // kept the claim as long as the rest of the lease.
    endsAt: how === "hold" && !heldBefore ? lastAt : endedAt,
  }));
  const early = ends.filter(({ endsAt }) => endsAt < lastAt);
  const last = parts.filter(({ endedAt }) => endedAt === lastAt).map(({ how }) => how);
  const revoked = last.includes("revoked") ? { revoked: true as const } : undefined;
  return [
    ...early.map(({ claim, endsAt }) => {
      return { claim, afterMs: endsAt - heldFrom, forced: false };
    }),
    { claim: null, afterMs: lastAt - heldFrom, forced: last.some(isExpiry), ...revoked },
  ];
}

function fromOpen(
  entry: OpenEntry,
  ended: readonly HistoryEntry[],
  medians: ReadonlyMap<string, number>,
  { from, to }: { from: number; to: number },
): Demand {
  const { id, holder, space, priority, askedAt, askedSeq: order, grantedAt } = entry;
  const since = grantedAt !== null && grantedAt < from ? { heldSince: grantedAt } : undefined;
  const heldFrom = Math.max(grantedAt ?? to, from);
  const parts = [...ended, ...entry.claims];
  const asked = { items: entry.items, ...groupIn(entry.group) };
  const held = since === undefined ? asked : stillHeld(asked, parts);
  const { items } = held;
  const ends = ended.map(({ claim, endedAt }) => {
    return { claim: claimIn(held, claim), afterMs: endedAt - heldFrom, forced: false };
  });
  const usualMs = Math.max(...items.map(({ pool }) => medians.get(pool) ?? 0));
  const afterMs = Math.max(usualMs, to - heldFrom + 1);
  return {
    ...{ id, holder, space, priority, askedAt, order, ...wantedIn(held), patienceMs: null },
    ...since,
    ends: [...ends, { claim: null, afterMs, forced: false }],
  };
}

/** The items and the group of a request; claims have another name if only some are still held. */
interface Wanted extends Asked {
  readonly renamed?: ReadonlyMap<string | null, string>;
}

type Part = HistoryEntry | OpenClaim;

function groupIn(group: Group | undefined): { readonly group: Group } | undefined {
  return group === undefined ? undefined : { group };
}

function wantedIn({ items, group, renamed }: Wanted) {
  const recordedClaims = new Map(
    Array.from(renamed ?? [], ([recorded, name]) => [name, recorded ?? name]),
  );
  return { items, ...groupIn(group), ...(renamed === undefined ? undefined : { recordedClaims }) };
}

/** The name that the replay gives to a recorded claim. */
function claimIn({ renamed }: Wanted, claim: string | null): string | null {
  return renamed === undefined ? claim : (renamed.get(claim) ?? claim);
}

/** A request whose entries have no more than pools and counts has one claim for each of them. */
function askedOf({ asked }: HistoryEntry, parts: readonly HistoryEntry[]): Wanted {
  if (asked !== null) return asked;
  const counts = new Map<string, number>();
  for (const { pool, count } of inOrder(parts)) counts.set(pool, (counts.get(pool) ?? 0) + count);
  return { items: [...counts].map(([pool, count]) => ({ pool, count })) };
}

/**
 * A lease that was granted before the period asks for the resources that it still holds, because
 * other requests may select these by label or name. The rest of its group has been granted too, so it does not wait for it.
 */
function stillHeld({ items, group }: Wanted, parts: readonly Part[]): Wanted {
  const byPool = Map.groupBy(inOrder(parts), ({ pool }) => pool);
  const singles = Array.from(byPool.values()).flat();
  const renamed = new Map(singles.map(({ claim }, index) => [claim, String(index + 1)]));
  const held = singles.map((part) => heldItem(items, part));
  const alone = group === undefined ? undefined : { ...group, size: 1 };
  return { items: held, ...groupIn(alone), renamed };
}

/** Claims are numbered by pool, and within a pool in the order of the items. */
function heldItem(items: readonly AskedItem[], { pool, claim, resource, amount }: Part): AskedItem {
  const named = resource === null ? undefined : { resource };
  if (amount === null || amount === undefined) return { pool, count: 1, ...named };
  const all = items.flatMap((item) => Array(item.count).fill(item) as AskedItem[]);
  const asked = all[Number(claim) - 1]?.amount ?? {};
  // The request names parts (such as networks) by kind; the claim has them by name.
  return { pool, count: 1, amount: { ...asked, ...amount }, ...named };
}

function inOrder<Item extends Part>(parts: readonly Item[]): Item[] {
  return [...parts].sort((a, b) => Number(a.claim) - Number(b.claim));
}

function push<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
