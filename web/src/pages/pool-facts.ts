/** The overview's numbers of a pool. */
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool, WaitingRequest } from "../../../src/api/schemas.ts";
import {
  clusterStates,
  hibernatedState,
  unreachableState,
} from "../../../src/core/model/lifecycle.ts";
import { briefDuration } from "../../../src/core/model/time.ts";
import { type PoolTroubles, waitsTooLong } from "../data/pool-troubles.ts";
import { clockTime } from "../parts/clock-time.ts";
import { grouped } from "../parts/numbers.ts";
import { legendWord } from "../parts/state-look.ts";
import { limitIn } from "./queue-facts.ts";

/** The states for the bar: a limit and an amount are only used or free. */
export function statesOf(pool: Pool): Pool["states"] {
  const { held, free } = countsOf(pool);
  const isCounted = pool.limit === undefined && pool.usage === undefined;
  return isCounted ? pool.states : { busy: held, free };
}

/** `240 of 384 vcpus, 2,016 of 2,304 memory`: a shared pool. Empty for any other. */
export function amountsOf({ usage = [] }: Pool): string {
  return usage
    .map(({ dimension, used, capacity }) => `${grouped(used)} of ${grouped(capacity)} ${dimension}`)
    .join(", ");
}

/** Neither in use nor free. */
function notReadyOf({ total, free, held }: Pool): number {
  return Math.max(0, total - free - held);
}

/** Of these: drained, dirty, being cleaned, quarantined. What cools down is back by itself; a cluster that sleeps is stock. */
export function outOf(pool: Pool): number {
  const others = clustersNotReady([pool]).count + hibernatedIn([pool]) + coolingIn([pool]);
  return Math.max(0, notReadyOf(pool) - others);
}

/** The requests that wait for these pools, each once: those of a limit are those of the pools below it, and some of these may not be listed. */
export function waitingIn(pools: readonly Pool[]): number {
  const own = pools.reduce((sum, { waiting }) => sum + waiting, 0);
  return pools.reduce((sum, limit) => {
    if (limit.limit === undefined) return sum;
    const below = pools.filter((pool) => pool !== limit && isBelow(pool, limit.name));
    const listed = below.reduce((all, pool) => all + pool.waiting, limit.waiting);
    return sum + Math.max(0, countsOf(limit).waiting - listed);
  }, own);
}

function isBelow({ flow }: Pool, limit: string): boolean {
  return flow.limits.some(({ pool }) => pool === limit);
}

/** Clusters that nobody holds and that can be woken: stock, as planned. */
export function hibernatedIn(pools: readonly Pool[]): number {
  return pools.reduce((sum, { template, states }) => {
    return sum + ((template && states[hibernatedState]) || 0);
  }, 0);
}

/** Clusters that are made, woken, stopped, destroyed, broken or unreachable, and how many of each: `2 creating, 1 resuming`. */
export function clustersNotReady(pools: readonly Pool[]): {
  readonly count: number;
  readonly words: string;
} {
  const states = [...clusterStates, unreachableState].filter((state) => state !== hibernatedState);
  const counts = states.map((state) => {
    const own = pools.map(({ template, states }) => (template && states[state]) || 0);
    return [state, own.reduce((sum, count) => sum + count, 0)] as const;
  });
  const some = counts.filter(([, count]) => count > 0);
  return {
    count: some.reduce((sum, [, count]) => sum + count, 0),
    words: some.map(([state, count]) => `${grouped(count)} ${legendWord(state)}`).join(", "),
  };
}

/** Nobody uses it or waits for it, and nothing is wrong with it. */
export function isIdle(pool: Pool, troubles: PoolTroubles): boolean {
  const { held, waiting } = countsOf(pool);
  const out = outOf(pool) + coolingIn([pool]);
  return held === 0 && waiting === 0 && out === 0 && !troubles.has(pool.name);
}

/** Those that become free by themselves. */
export function coolingIn(pools: readonly Pool[]): number {
  return pools.reduce((sum, { states }) => sum + (states["cooling"] ?? 0), 0);
}

/** `and 57 cooling`: what is beside a number, and not in it. Empty if there are none. */
export function andMore(count: number, what: string): string {
  return count === 0 ? "" : `and ${grouped(count)} ${what}`;
}

/** What keeps requests waiting, in a word or two, and the whole sentence. */
export interface WaitsFor {
  readonly word: string;
  /** How it is set, or how far it is used; absent: there is nothing to add. */
  readonly detail?: string;
  /** The pool whose limit it is, if it is another one. */
  readonly limit?: string;
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

/** A rule that does not let go what is free. Where nothing is, requests wait for that first. */
function gateOf(pool: Pool, nowMs: number): WaitsFor | undefined {
  const { name, flow, admission } = pool;
  const isEmpty = pool.limit === undefined && countsOf(pool).free === 0;
  if (isEmpty && admission?.found !== "unknown") return undefined;
  const full = flow.limits.find(({ used, limit }) => used >= limit);
  if (full !== undefined) {
    const why = `${full.used} of the limit of ${full.limit} of ${full.pool} are in use`;
    const word = full.pool === name ? "limit" : `limit of ${full.pool}`;
    const limit = full.pool === name ? {} : { limit: full.pool };
    return { word, ...limit, detail: `${full.used} of ${full.limit}`, why };
  }
  if (admission !== null && !isAdmitted(admission, nowMs)) {
    const word = admission.found === "unknown" ? "check fails" : "admission";
    return {
      ...{ word, why: admission.why ?? "The check has admitted no request yet" },
      ...(admission.found === "none" && { detail: "no capacity" }),
    };
  }
  const { nextGrantAt, nextGrantBy } = flow;
  if (nextGrantAt === null || Date.parse(nextGrantAt) <= nowMs) return undefined;
  const by = nextGrantBy === null || nextGrantBy === name ? "pace" : `pace of ${nextGrantBy}`;
  return { word: by, why: `The next grant is at ${clockTime(nextGrantAt)}`, ...paceDetail(flow) };
}

function paceDetail({ everySeconds }: Pool["flow"]) {
  return everySeconds === null
    ? undefined
    : { detail: `one every ${briefDuration(everySeconds * 1_000)}` };
}

function isAdmitted({ credits, until }: NonNullable<Pool["admission"]>, nowMs: number): boolean {
  return credits > 0 && until !== null && Date.parse(until) > nowMs;
}

function shortageOf(pool: Pool): WaitsFor {
  if (pool.usage !== undefined) {
    return { word: "capacity", why: "What the first request needs fits on no resource now" };
  }
  if (pool.template !== undefined && pool.free === 0) {
    return { word: "cluster", why: "A cluster is being made, woken, or released" };
  }
  const { free, held } = countsOf(pool);
  if (free > 0) return notOfThePool;
  return held > 0 ? { word: "release", why: "All of them are in use" } : unusedShortageOf(pool);
}

/** Nobody holds any of them, and none is free. */
function unusedShortageOf({ states }: Pool): WaitsFor {
  if ((states["cooling"] ?? 0) > 0)
    return { word: "cooldown", why: "They cool down after a lease" };
  if ((states["dirty"] ?? 0) + (states["cleaning"] ?? 0) > 0) {
    return { word: "cleaning", why: "They are cleaned after a lease" };
  }
  return { word: "repair", why: "All of them are out of service" };
}

/** What is free is not for those who wait. Each request knows why; the pool does not. */
export const notOfThePool: WaitsFor = {
  word: "see queue",
  why: "What is free is reserved for an earlier request, does not match, or exceeds a quota; or they wait for another pool too",
};

const reasonWords: Readonly<Record<string, string>> = {
  quota_reached: "quota",
  kept_for_others: "reserved",
  behind_others: "earlier requests",
  not_enough_free: "more of it",
  group_incomplete: "its group",
  none_usable: "a match",
  no_free: "release",
  admission: "admission",
  cluster_creating: "cluster",
  cluster_resuming: "cluster",
  cluster_limit: "cluster",
  limit_reached: "limit",
};

/** The same for a pool whose requests are held back by something else: the reason of one of them. */
export function waitsForReason(
  { code, pool, message: why }: WaitingRequest["reason"],
  { name, flow }: Pick<Pool, "name" | "flow">,
): WaitsFor {
  if (pool !== null && pool !== name) return { word: pool, detail: "first", why };
  if (code === "paced" || code === "limit_reduced")
    return { word: "pace", why, ...paceDetail(flow) };
  const limit = limitIn({ code, message: why });
  if (limit !== undefined && limit !== name) return { word: `limit of ${limit}`, limit, why };
  const word = reasonWords[code];
  return word === undefined ? { ...notOfThePool, why } : { word, why };
}

/** A shorter wait passes by itself, in seconds. With it rows would move all the time. */
const noticedWait = 15;

/** Longer than any wait, in seconds. */
const anyWait = 1e9;

/**
 * By the people who are hurt: pools that keep requests waiting, by the longest wait, and of these first
 * those where it is longer than usual; then what else needs attention. Equal ones stay in the order of their names.
 */
function troubleOf(pool: Pool, troubles: PoolTroubles): number {
  const wait = countsOf(pool).oldestWaitSeconds ?? 0;
  if (wait < noticedWait) return troubles.has(pool.name) ? 1 : 0;
  return waitsTooLong(pool.name, troubles) ? anyWait + wait : wait;
}

/** What the order does, for those who ask. */
export const troubleFirstWords = `Waits longer than usual first, then others from ${noticedWait}s on, each by length`;

const orders: Readonly<Record<string, (pool: Pool, troubles: PoolTroubles) => number>> = {
  trouble: troubleOf,
  usage: (pool) => countsOf(pool).held / Math.max(1, countsOf(pool).total),
  size: (pool) => countsOf(pool).held,
  free: (pool) => countsOf(pool).free,
  out: outOf,
  waiting: (pool) => countsOf(pool).waiting,
  oldest: (pool) => countsOf(pool).oldestWaitSeconds ?? -1,
};

/** What counts in an order; 0 for an order that there is not. */
export function measureOf(pool: Pool, sort: string, troubles: PoolTroubles): number {
  return Object.hasOwn(orders, sort) ? (orders[sort]?.(pool, troubles) ?? 0) : 0;
}

/** Largest number first; equal pools, and pools without an order, by name. */
export function sortedBy<T extends Pool>(
  pools: readonly T[],
  measure: (pool: Pool) => number,
): readonly T[] {
  return pools.toSorted((a, b) => measure(b) - measure(a) || (a.name < b.name ? -1 : 1));
}
