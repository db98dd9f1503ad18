/** The overview's numbers of a pool; the same as in `berth status`. */
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import { longWaitFrom } from "../../../src/core/explain/long-wait.ts";
import { clockTime } from "../parts/clock-time.ts";
import { grouped } from "../parts/numbers.ts";

/** The states for the bar: a limit and an amount are only used or free. */
export function statesOf(pool: Pool): Pool["states"] {
  const { held, free } = countsOf(pool);
  const isCounted = pool.limit === undefined && pool.usage === undefined;
  return isCounted ? pool.states : { busy: held, free };
}

/** Neither in use nor free: drained, dirty, being cleaned, quarantined, cooling. */
export function outOf(pool: Pool): number {
  return Math.max(0, pool.total - pool.free - pool.held);
}

/** How many of these are cooling, and so become free by themselves. Empty if there are none. */
export function coolingAside(pools: readonly Pool[]): string {
  const cooling = pools.reduce((sum, { states }) => sum + (states["cooling"] ?? 0), 0);
  return cooling === 0 ? "" : `${grouped(cooling)} cooling`;
}

/** A wait is too long by the rule of `/v1/attention`. */
export function waitsTooLong(pool: Pool): boolean {
  const { oldestWaitSeconds, meanHoldSeconds, usualWaitSeconds } = pool;
  if (oldestWaitSeconds === null) return false;
  const inMs = (seconds: number | null) => (seconds === null ? null : seconds * 1_000);
  return oldestWaitSeconds * 1_000 > longWaitFrom(inMs(meanHoldSeconds), inMs(usualWaitSeconds));
}

/** What keeps requests waiting, in a word or two, and the whole sentence. */
export interface WaitsFor {
  readonly word: string;
  readonly why: string;
}

/** Undefined if no request waits. The reason of each request is in the queue. */
export function waitsFor(pool: Pool, nowMs: number): WaitsFor | undefined {
  if (countsOf(pool).waiting === 0) return undefined;
  return suspendedFor(pool) ?? gateOf(pool, nowMs) ?? shortageOf(pool);
}

function suspendedFor({ suspended }: Pool): WaitsFor | undefined {
  return suspended === null ? undefined : { word: "suspended", why: suspended.why };
}

/** Free resources that a rule does not let go. */
function gateOf({ name, flow, admission }: Pool, nowMs: number): WaitsFor | undefined {
  const full = flow.limits.find(({ used, limit }) => used >= limit);
  if (full !== undefined) {
    const why = `${full.used} of the limit of ${full.limit} of ${full.pool} are in use`;
    return { word: full.pool === name ? "limit" : `limit of ${full.pool}`, why };
  }
  if (admission !== null && !isAdmitted(admission, nowMs)) {
    const word = admission.found === "unknown" ? "check fails" : "admission";
    return { word, why: admission.why ?? "The check has admitted no request yet" };
  }
  const { nextGrantAt, nextGrantBy } = flow;
  if (nextGrantAt === null || Date.parse(nextGrantAt) <= nowMs) return undefined;
  const by = nextGrantBy === null || nextGrantBy === name ? "pace" : `pace of ${nextGrantBy}`;
  return { word: by, why: `The next grant is at ${clockTime(nextGrantAt)}` };
}

function isAdmitted({ credits, until }: NonNullable<Pool["admission"]>, nowMs: number): boolean {
  return credits > 0 && until !== null && Date.parse(until) > nowMs;
}

function shortageOf(pool: Pool): WaitsFor {
  if (pool.usage !== undefined) {
    return { word: "room", why: "What the first request needs fits on no resource now" };
  }
  if (pool.template !== undefined) {
    return { word: "cluster", why: "A cluster is being made, woken, or released" };
  }
  if (countsOf(pool).free === 0) return { word: "release", why: "All of them are in use" };
  return {
    word: "its turn",
    why: "What is free is kept for an earlier request, does not match, or exceeds a quota",
  };
}

export function hasProblem(pool: Pool): boolean {
  const { states, suspended } = pool;
  return suspended !== null || waitsTooLong(pool) || (states["quarantined"] ?? 0) > 0;
}

const orders: Readonly<Record<string, (pool: Pool) => number>> = {
  trouble: (pool) => (hasProblem(pool) ? 1e9 : 0) + (countsOf(pool).oldestWaitSeconds ?? -1),
  usage: (pool) => countsOf(pool).held / Math.max(1, countsOf(pool).total),
  size: (pool) => countsOf(pool).held,
  free: (pool) => countsOf(pool).free,
  out: outOf,
  waiting: (pool) => countsOf(pool).waiting,
  oldest: (pool) => countsOf(pool).oldestWaitSeconds ?? -1,
};

/** Largest number first; equal pools, and pools without an order, by name. */
export function sortedBy(pools: readonly Pool[], sort: string): readonly Pool[] {
  const measure = orders[sort] ?? (() => 0);
  return pools.toSorted((a, b) => measure(b) - measure(a) || (a.name < b.name ? -1 : 1));
}
