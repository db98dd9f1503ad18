/** What a pool of clusters does now and next, in words, for operators. */
import { isUsable } from "../clusters/plan.ts";
import { clustersIn, snapshotOf } from "../clusters/snapshot.ts";
import { busyText, limitText, type Made, workText } from "../clusters/work-texts.ts";
import { isDoomed, isPhase } from "../model/cluster.ts";
import { brokenState } from "../model/lifecycle.ts";
import type { Pool } from "../model/state.ts";
import { type Instant, roughDuration } from "../model/time.ts";

export interface ClusterPlanView {
  /** How many clusters that nobody holds the pool keeps, and how many of them are awake. */
  readonly size: number;
  readonly running: number;
  readonly auto: boolean;
  readonly max: number | null;
  readonly concurrent: number | null;
  /** How many clusters the waiting requests need. */
  readonly demand: number;
  /** How many were made from an older revision of the template. */
  readonly stale: number;
  /** What happens now, and what comes next. */
  readonly underWay: readonly string[];
  readonly nextSteps: readonly string[];
}

/** The longest list of steps. */
const stepsMax = 20;

/** Null for a pool without clusters. */
export function clusterPlanView(
  pool: Pool,
  now: Instant,
  shows: Shows = showsAll,
): ClusterPlanView | null {
  if (pool.clusters === null) return null;
  const policy = pool.policy.cluster;
  const { running, clusters, accepted } = snapshotOf(pool, now);
  return {
    size: policy?.size ?? 0,
    running,
    auto: policy?.running === "auto",
    max: policy?.max ?? null,
    concurrent: policy?.concurrent ?? null,
    demand: sumOf(accepted.values()),
    stale: clusters.filter((one) => one.isStale && isUsable(one)).length,
    underWay: underWay(pool, now, shows).slice(0, stepsMax),
    nextSteps: nextSteps(pool, now).slice(0, stepsMax),
  };
}

/** What the reader may know of a cluster, other than that it exists, and its state. */
export interface Shows {
  /** What its driver reports. */
  readonly details: (cluster: Made) => boolean;
  /** Who keeps it, and why. */
  readonly operators: (cluster: Made) => boolean;
}

const showsAll: Shows = { details: () => true, operators: () => true };

/** What workers do now, and the clusters that somebody keeps or has lost. */
export function underWay(pool: Pool, now: Instant, shows: Shows = showsAll): string[] {
  const all = clustersIn(pool);
  const working = all.filter(({ state, claim }) => isPhase(state) && claim?.purpose !== "use");
  const held = all.flatMap((one) => {
    const { hold } = one.cluster;
    if (hold === null) return [];
    const time = `for ${roughDuration(hold.until - now)}`;
    if (!shows.operators(one)) return [`keeps ${one.name} ${time}`];
    return [`keeps ${one.name} for ${hold.by} ${time}: ${hold.why}`];
  });
  const lost = all.flatMap((one) => {
    if (one.claim === null || one.cluster.lost === null) return [];
    return [`${one.name} is lost${shows.details(one) ? `: ${one.cluster.lost}` : ""}`];
  });
  return [...working.map((one) => workText(one, now, shows.details(one))), ...lost, ...held];
}

/** What the plan does as soon as it can, and what it waits for. */
export function nextSteps(pool: Pool, now: Instant): string[] {
  return [...waitingSteps(pool, now), ...doomedSteps(pool)];
}

/** What the plan would create if it could, and what it replaces later. */
function waitingSteps(pool: Pool, now: Instant): string[] {
  const { size, stock, demand, clusters, closed, lacking } = snapshotOf(pool, now);
  if (closed !== null) return [closed];
  let missing = lacking;
  for (const kind of new Set([stock, ...demand.keys()])) {
    const usable = clusters.filter((one) => one.kind === kind && isUsable(one)).length;
    missing += Math.max(0, (kind === stock ? size : 0) + (demand.get(kind) ?? 0) - usable);
  }
  const stale = clusters.filter((one) => one.isStale && isUsable(one)).length;
  const limit = limitText(pool, now) ?? "other pools need the places";
  return [
    ...(missing === 0 ? [] : [`creates ${missing} more later: ${limit}`]),
    ...(stale === 0 ? [] : [`replaces ${countText(stale, "outdated cluster")}, one at a time`]),
  ];
}

function doomedSteps(pool: Pool): string[] {
  const doomed = clustersIn(pool).filter(({ state, claim, cluster }) => {
    return isDoomed(state) && claim === null && cluster.hold === null;
  });
  if (doomed.length === 0) return [];
  const { concurrent } = pool.policy.cluster ?? {};
  const why = (concurrent === undefined ? null : busyText(pool, concurrent)) ?? "soon";
  const broken = doomed.filter(({ state }) => state === brokenState).length;
  const of = broken === 0 ? "" : ` (${broken} broken)`;
  return [`destroys ${countText(doomed.length, "cluster")}${of} later: ${why}`];
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function sumOf(counts: Iterable<number>): number {
  let sum = 0;
  for (const count of counts) sum += count;
  return sum;
}
