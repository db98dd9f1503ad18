import {
  type AskedItem,
  type HistoryEntry,
  isExpiry,
  type OpenEntry,
  type PoolSize,
} from "./entry.ts";
import { type Percentiles, percentilesOf } from "./percentiles.ts";
import { type DimensionUse, Use, type UsedClaim } from "./use.ts";

/**
 * Statistics of a period. Counts are of claims, as in the history. Cleaning is upkeep: it is counted
 * apart and is no request, wait, hold or use.
 */
export interface StatsPart {
  readonly asked: number;
  readonly granted: number;
  readonly ended: number;
  /** Ended because no heartbeat arrived, or at the end of a lifetime. */
  readonly expired: number;
  /** Left the queue without a grant. */
  readonly left: number;
  /** All waiting in this period together, also of those that have left the queue or still wait. */
  readonly waitedMs: number;
  /** Of claims that were granted in this period. */
  readonly waitMs: Percentiles | null;
  /** Of claims that ended in this period. */
  readonly holdMs: Percentiles | null;
  readonly endedPerHour: number;
  /**
   * The share of the time of all resources in which they were held; null if there were none. For a
   * shared pool, the share of its capacity that was lent, in the dimension that was used most.
   */
  readonly utilisation: number | null;
  /** The share of each dimension of shared pools that was lent, by name. */
  readonly dimensions: readonly DimensionUse[];
  readonly upkeep: UpkeepPart;
}

export interface UpkeepPart {
  /** Resources that were cleaned. */
  readonly cleaned: number;
  /** Cleanings that failed, or whose cleaner was lost. */
  readonly failed: number;
  /** The durations of cleanings that ended in this period and did not fail. */
  readonly cleaningMs: Percentiles | null;
}

export interface Stats {
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
  readonly total: StatsPart;
  readonly steps: readonly (StatsPart & { readonly at: number })[];
}

export interface StatsRange {
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
}

/** The input: entries that ended after `from`, open entries and the sizes of the pools. */
export interface StatsSource {
  readonly ended: Iterable<HistoryEntry>;
  readonly open: Iterable<OpenEntry>;
  readonly sizes: Iterable<PoolSize>;
}

export function statsOf({ from, to, stepMs }: StatsRange, source: StatsSource): Stats {
  const total = new Tally(from, to);
  const steps: Tally[] = [];
  for (let at = from; at < to; at += stepMs) steps.push(new Tally(at, Math.min(at + stepMs, to)));
  const indexOf = (at: number) => (at < from || at >= to ? -1 : Math.floor((at - from) / stepMs));
  const each = (at: number, count: (tally: Tally) => void) => {
    const step = steps[indexOf(at)];
    if (step === undefined) return;
    count(step);
    count(total);
  };
  const during = (start: number, end: number, count: (tally: Tally) => void) => {
    if (end <= from || start >= to || end <= start) return;
    count(total);
    const last = Math.min(steps.length - 1, Math.floor((end - 1 - from) / stepMs));
    for (let at = Math.max(0, indexOf(Math.max(start, from))); at <= last; at++) {
      const step = steps[at];
      if (step !== undefined) count(step);
    }
  };
  const shared = new Set<string>();
  for (const span of spansOf(source.sizes, to)) {
    if (span.size.capacity !== undefined) shared.add(span.size.pool);
    during(span.start, span.end, (tally) => tally.use.grow(tally.within(span), span.size));
  }
  const held: Hold = (claim, start, end) => {
    // An older Berth recorded no amounts, and a claim is no measure of the use of a shared pool.
    if (claim.amount === null && shared.has(claim.pool)) return;
    during(start, end, (tally) => tally.use.hold(tally.within({ start, end }), claim));
  };
  const waited: Wait = ({ start, end, count }) => {
    during(start, end, (tally) => tally.wait({ start, end, count }));
  };
  for (const entry of source.ended) countEnded(entry, { each, held, waited });
  for (const entry of source.open) countOpen(entry, { each, held, waited }, to);
  const parts = steps.map((tally) => ({ at: tally.from, ...tally.part() }));
  return { from, to, stepMs, total: total.part(), steps: parts };
}

/**
 * The statistics of each pool over one period, in one pass. Pools that neither had a resource nor were asked
 * for are left out.
 */
export function statsByPool({ from, to }: StatsRange, source: StatsSource): Map<string, StatsPart> {
  const tallies = new Map<string, Tally>();
  const tallyOf = (pool: string) => {
    const found = tallies.get(pool) ?? new Tally(from, to);
    tallies.set(pool, found);
    return found;
  };
  const eachOf =
    (pool: string): Each =>
    (at, count) => {
      if (at >= from && at < to) count(tallyOf(pool));
    };
  const shared = new Set<string>();
  const held: Hold = (claim, start, end) => {
    if (claim.amount === null && shared.has(claim.pool)) return;
    const tally = tallyOf(claim.pool);
    tally.use.hold(tally.within({ start, end }), claim);
  };
  for (const span of spansOf(source.sizes, to)) {
    if (span.size.capacity !== undefined) shared.add(span.size.pool);
    const tally = tallyOf(span.size.pool);
    tally.use.grow(tally.within(span), span.size);
  }
  const countIn = (pool: string): Count => ({
    ...{ each: eachOf(pool), held },
    waited: (wait) => {
      if (wait.end > from && wait.start < to) tallyOf(pool).wait(wait);
    },
  });
  for (const entry of source.ended) countEnded(entry, countIn(entry.pool));
  for (const entry of source.open) {
    for (const pool of poolsIn(entry)) {
      const own = {
        ...entry,
        items: entry.items.filter(of(pool)),
        claims: entry.claims.filter(of(pool)),
      };
      countOpen(own, countIn(pool), to);
    }
  }
  return new Map(Array.from(tallies, ([pool, tally]) => [pool, tally.part()]));
}

const of = (pool: string) => (one: { readonly pool: string }) => one.pool === pool;

function poolsIn({ items, claims }: OpenEntry): ReadonlySet<string> {
  return new Set([...items, ...claims].map(({ pool }) => pool));
}

type Each = (at: number, count: (tally: Tally) => void) => void;
type Hold = (claim: UsedClaim, start: number, end: number) => void;
type Wait = (wait: Waited) => void;

interface Waited {
  readonly start: number;
  readonly end: number;
  readonly count: number;
}

/** Where an entry is counted: at moments, and over the times of its hold and its wait. */
interface Count {
  readonly each: Each;
  readonly held: Hold;
  readonly waited: Wait;
}

function countEnded(entry: HistoryEntry, { each, held, waited }: Count): void {
  const { askedAt, grantedAt, endedAt, how, count } = entry;
  if (entry.purpose === "provision") return;
  if (entry.purpose === "clean") return countCleaning(entry, each);
  waited({ start: askedAt, end: grantedAt ?? endedAt, count });
  each(askedAt, (tally) => {
    tally.asked += count;
  });
  if (grantedAt === null) {
    each(endedAt, (tally) => {
      tally.left += count;
    });
    return;
  }
  each(grantedAt, (tally) => tally.waits.push(grantedAt - askedAt));
  each(endedAt, (tally) => {
    tally.holds.push(endedAt - grantedAt);
    if (isExpiry(how)) tally.expired += 1;
  });
  held(entry, grantedAt, endedAt);
}

/** A cleaner that is stopped has neither cleaned nor failed. */
function countCleaning({ grantedAt, endedAt, how }: HistoryEntry, each: Each): void {
  if (grantedAt === null || how === "stopped") return;
  // An older Berth recorded `released`, whether or not the cleaning had failed.
  if (how === "cleaned" || how === "released") {
    each(endedAt, (tally) => tally.cleanings.push(endedAt - grantedAt));
  } else {
    each(endedAt, (tally) => {
      tally.failedCleanings += 1;
    });
  }
}

function countOpen(
  { askedAt, grantedAt, claims: all, items }: OpenEntry,
  { each, held, waited }: Count,
  to: number,
): void {
  const claims = all.filter(isUse);
  const asked = items.filter(isUse).reduce((sum, item) => sum + item.count, 0);
  const count = grantedAt === null ? asked : claims.length;
  each(askedAt, (tally) => {
    tally.asked += count;
  });
  waited({ start: askedAt, end: grantedAt ?? to, count });
  if (grantedAt === null) return;
  for (const { pool, amount = null } of claims) {
    each(grantedAt, (tally) => tally.waits.push(grantedAt - askedAt));
    held({ pool, amount }, grantedAt, to);
  }
}

function isUse({ purpose }: Pick<AskedItem, "purpose">): boolean {
  return purpose === undefined;
}

/** The periods of constant size of each pool. Sizes are in order of time within a pool. */
function* spansOf(sizes: Iterable<PoolSize>, to: number) {
  const last = new Map<string, PoolSize>();
  for (const size of sizes) {
    const before = last.get(size.pool);
    if (before !== undefined) yield { start: before.at, end: size.at, size: before };
    last.set(size.pool, size);
  }
  for (const size of last.values()) yield { start: size.at, end: to, size };
}

class Tally {
  readonly from: number;
  readonly #to: number;
  readonly waits: number[] = [];
  readonly holds: number[] = [];
  readonly cleanings: number[] = [];
  failedCleanings = 0;
  asked = 0;
  waitedMs = 0;
  expired = 0;
  left = 0;
  readonly use = new Use();

  constructor(from: number, to: number) {
    this.from = from;
    this.#to = to;
  }

  part(): StatsPart {
    const { asked, waitedMs, expired, left, waits, holds } = this;
    return {
      asked,
      waitedMs,
      granted: waits.length,
      ended: holds.length,
      expired,
      left,
      waitMs: percentilesOf(waits),
      holdMs: percentilesOf(holds),
      // A server that has just started has a period of no length.
      endedPerHour: (holds.length * 3_600_000) / Math.max(1, this.#to - this.from),
      utilisation: this.use.utilisation,
      dimensions: this.use.dimensions,
      upkeep: {
        cleaned: this.cleanings.length,
        failed: this.failedCleanings,
        cleaningMs: percentilesOf(this.cleanings),
      },
    };
  }

  wait({ count, ...span }: Waited): void {
    this.waitedMs += this.within(span) * count;
  }

  /** The length of the part of a span that lies in this period. */
  within({ start, end }: { readonly start: number; readonly end: number }): number {
    return Math.max(0, Math.min(end, this.#to) - Math.max(start, this.from));
  }
}
