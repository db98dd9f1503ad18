/** A pool with the counts of the lists on its page: figures and lists that are read apart may differ. */
import type { Pool, Resource, WaitingRequest } from "../../../src/api/schemas.ts";
import { cleaningState, clusterStates, freeState } from "../../../src/core/model/lifecycle.ts";

export interface Lists {
  /** Undefined: not read yet, or not all of it may be seen. */
  readonly queue: readonly WaitingRequest[] | undefined;
  readonly resources: readonly Resource[] | undefined;
  /** All pools: the use of a limit stands beside that of those who share it. */
  readonly pools?: readonly Pool[] | undefined;
}

export function listedPool(read: Pool, lists: Lists, nowMs: number): Pool {
  const { queue, resources, pools = [] } = lists;
  const waits = queue === undefined ? undefined : waitsIn(queue, nowMs);
  const pool = withListedLimits(read, pools);
  const { limit } = pool;
  if (limit !== undefined) return { ...pool, limit: { ...limit, ...waits } };
  return { ...pool, ...waits, ...(resources && ofResources(pool, resources)) };
}

function withListedLimits(pool: Pool, pools: readonly Pool[]): Pool {
  const listed = pools.find(({ name }) => name === pool.name);
  if (listed === undefined) return pool;
  const flow = { ...pool.flow, limits: listed.flow.limits };
  return { ...pool, flow, ...(listed.limit && { limit: listed.limit }) };
}

/** A shared pool is counted in amounts. */
function ofResources({ usage }: Pool, resources: readonly Resource[]) {
  return usage === undefined ? countsIn(resources) : { usage: usageIn(resources, usage) };
}

function waitsIn(queue: readonly WaitingRequest[], nowMs: number) {
  const oldest = Math.min(...queue.map(({ queuedAt }) => Date.parse(queuedAt)));
  const oldestWaitSeconds = queue.length === 0 ? null : Math.max(0, nowMs - oldest) / 1_000;
  return { waiting: queue.length, oldestWaitSeconds };
}

function countsIn(resources: readonly Resource[]) {
  const states: Record<string, number> = {};
  for (const { state } of resources) states[state] = (states[state] ?? 0) + 1;
  return {
    states,
    total: resources.length,
    free: states[freeState] ?? 0,
    held: resources.filter(isHeld).length,
  };
}

/** By a holder, and not by a worker that cleans it, makes it or destroys it. */
function isHeld({ lease, state, cluster = false }: Resource): boolean {
  const isWork = state === cleaningState || (cluster && clusterStates.includes(state));
  return lease !== null && !isWork;
}

function usageIn(resources: readonly Resource[], known: NonNullable<Pool["usage"]>) {
  return known.map(({ dimension }) => {
    const own = resources.flatMap(({ usage = [] }) =>
      usage.filter((one) => one.dimension === dimension),
    );
    const sum = (of: (one: (typeof own)[number]) => number) =>
      own.reduce((total, one) => total + of(one), 0);
    return { dimension, used: sum(({ used }) => used), capacity: sum(({ capacity }) => capacity) };
  });
}
