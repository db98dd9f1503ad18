/** Explains why a request waits for a cluster: which one is made for it, or why none is. */
import { clustersIn, snapshotOf } from "../clusters/snapshot.ts";
import { limitText, type Made, usualMs, workText } from "../clusters/work-texts.ts";
import type { Obstacle } from "../gates/gate.ts";
import { isPhase } from "../model/cluster.ts";
import { creatingState, freeState, resumingState } from "../model/lifecycle.ts";
import { matchingIdle, type Selection } from "../model/selection.ts";
import { type ExclusiveNeed, queueAt, type Request } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { needAt } from "../queue/needs.ts";

/** Null if enough clusters are ready, so that only the queue is in the way. */
export function clusterObstacle(
  need: ExclusiveNeed,
  request: Request,
  now: Instant,
): Obstacle | null {
  const selection = (need.selections ?? []).find((one) => readyFor(need, one) < one.count);
  if (selection === undefined) return null;
  const { pool } = need;
  const missing = aheadOf(request, need, selection) + selection.count - readyFor(need, selection);
  const coming = comingFor(need, selection, now);
  // The last one that the requests up to this one need.
  const awaited = coming[missing - 1];
  if (awaited !== undefined) {
    const code = awaited.state === resumingState ? "cluster_resuming" : "cluster_creating";
    return { code, what: capital(workText(awaited, now)) };
  }
  const limit = limitText(pool, now);
  if (limit !== null) return { code: "cluster_limit", what: limit };
  const what = `No cluster of ${pool.name} is ready, and none is being made for this request`;
  return { code: "no_free", what };
}

function readyFor({ pool }: ExclusiveNeed, selection: Selection): number {
  const bucket = pool.buckets.get(freeState);
  return bucket === undefined ? 0 : [...matchingIdle(bucket, selection)].length;
}

/** The maximum number of requests ahead that are counted. */
const readMax = 1_000;

function aheadOf(request: Request, need: ExclusiveNeed, { key }: Selection): number {
  let [count, read] = [0, 0];
  for (const ahead of queueAt(need)) {
    if (ahead === request || read++ >= readMax) break;
    const theirs = needAt(ahead, need);
    if (theirs?.sharing !== "exclusive") continue;
    for (const one of theirs.selections ?? []) if (one.key === key) count += one.count;
  }
  return count;
}

/** The clusters that will be ready, the first one first. */
function comingFor({ pool }: ExclusiveNeed, { parametersKey }: Selection, now: Instant): Made[] {
  const usable = new Set(
    snapshotOf(pool, now)
      .clusters.filter(({ role }) => role === "creating" || role === "resuming")
      .map(({ name }) => name),
  );
  const coming = clustersIn(pool).filter(({ name, cluster }) => {
    return usable.has(name) && cluster.parametersKey === parametersKey;
  });
  return coming.sort((a, b) => readyAt(a) - readyAt(b));
}

/** A cluster whose phase has no known duration comes after all others of that phase. */
export function readyAt({ state, cluster, pool }: Made): number {
  const phase = isPhase(state) ? state : creatingState;
  const unknownMs = phase === creatingState ? 3_600_000 : 900_000;
  return cluster.since + (usualMs(pool, phase) ?? unknownMs);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
