/**
 * Paces the grants of a pool with the generic cell rate algorithm in whole milliseconds. Only
 * grants use up ticks, so a request that leaves the queue costs nothing, and an idle pool saves at
 * most the burst. Events of grants record the whole state, so a restart allows no extra grant.
 *
 * A grant waits for the paces of its pools and of all their ancestors, and uses a tick of each.
 *
 * The jitter delays a grant inside its own interval and does not shift later intervals, so the
 * long-term rate stays the same. The jitter is a hash of the pool and of the previous grant's id,
 * so the same history has the same times, and a log is enough to check them.
 */

import type { Paced } from "../model/event.ts";
import { must, type PaceState, type Pool } from "../model/state.ts";
import {
  after,
  briefDuration,
  earliest,
  type Instant,
  never,
  roughDuration,
} from "../model/time.ts";
import { isPresent, presentText } from "../queue/available.ts";
import { type Gate, hasHappened, type Obstacle, type Opening, type Use } from "./gate.ts";
import { ancestors, descendants } from "./limits.ts";
import { adaptiveOf, intervalOf, minuteMs, rateOf, startsCounted, windowEndsAt } from "./rate.ts";

export const paceGate: Gate = {
  name: "pace",
  guards(pool) {
    for (const up of ancestors(pool)) if (isPaced(up)) return true;
    return false;
  },
  closedBy({ needs, now, by = now }) {
    for (const need of needs) {
      const closed = closedFor(need, by);
      if (closed !== null) return closed;
    }
    return null;
  },
  charge: chargePaces,
  *charged(state, { paced = [] }, at) {
    for (const { pool: name, baseAt, ticks, everyMs, share = 0 } of paced) {
      const pool = must(state.pools.get(name), name);
      const pace = { baseAt, ticks, everyMs, share };
      yield [pool, { pace, adaptive: startsCounted(pool, ticks, at) }];
    }
  },
  opensAt(pool, now) {
    const opens = isPaced(pool) && isWaitedFor(pool) ? nextGrantAt(pool) : never;
    return [opens, windowEndsAt(pool)].filter((at) => at > now).reduce(earliest, never);
  },
  closedUntil(pool, now) {
    const by = lastToOpen(pool, now);
    return by && { by, until: nextGrantAt(by) };
  },
  explain({ rank, now }, need) {
    const closed = closedFor(need, now);
    if (closed === null || !isPresent(need, rank)) return null;
    const paced = closed === need.pool ? "paced" : `paced by ${closed.name}`;
    return paceObstacle(closed, `${presentText(need)}, ${paced}:`, now);
  },
  openedIn(opening) {
    const pool = lastOpened(opening);
    if (pool === null) return null;
    return reducedFrom(pool, pool.pace.everyMs) === null ? "paced" : "limit_reduced";
  },
};

function paceObstacle(closed: Pool, what: string, now: Instant): Obstacle {
  // The interval from now on, as in the view of the pool: the one since the last grant may be another.
  const everyMs = intervalMs(closed);
  const every = briefDuration(everyMs);
  const next = roughDuration(Math.ceil((nextGrantAt(closed) - now) / 1_000) * 1_000);
  const usual = reducedFrom(closed, everyMs);
  if (usual === null) {
    return {
      code: "paced",
      what: `${what} one every ${every}, the next in ${next}`,
      shared: closed,
    };
  }
  const instead = `instead of every ${briefDuration(usual)} since it was throttled`;
  const text = `${what} one every ${every} ${instead}, the next in ${next}`;
  return { code: "limit_reduced", what: text, shared: closed };
}

/** The interval between grants of a pool from now on; 0 if it has no pace. */
export function intervalMs(pool: Pool): number {
  const rate = rateOf(pool);
  if (rate !== null) return intervalOf(rate);
  const { pace } = pool.policy;
  if (pace === undefined) return 0;
  return pace.everyMs === "auto" ? autoMs(pool) : pace.everyMs;
}

function isPaced(pool: Pool): boolean {
  return pool.policy.pace !== undefined || pool.pin !== null || adaptiveOf(pool) !== undefined;
}

/** The configured starts per minute; null if none is configured. */
export function configuredRate(pool: Pool): number | null {
  const every = pool.policy.pace?.everyMs;
  const ms = every === "auto" ? autoMs(pool) : (every ?? 0);
  return ms > 0 ? minuteMs / ms : null;
}

/** The interval without the reports of throttling; null if they have not made this one longer. */
function reducedFrom(pool: Pool, everyMs: number): number | null {
  const policy = adaptiveOf(pool);
  const usual = policy && intervalOf(Math.min(policy.max, configuredRate(pool) ?? policy.max));
  const isReduced = usual !== undefined && pool.pin === null && policy?.mode === "auto";
  return isReduced && usual < everyMs ? usual : null;
}

/** The measured mean is used only from this number of holds. */
export const holdsMin = 5;
/**
 * Jobs that fail in their first minute lower the mean, so the measured interval may be at most this
 * many times shorter.
 */
const autoSpeedUpMax = 4;

/**
 * The interval that fills the pool evenly. Uses the measured hold time, once there are enough
 * holds, else the configured one.
 */
function autoMs(pool: Pool): number {
  const { holdMs } = pool.policy;
  const { count, meanMs } = pool.holds;
  const leastMs = (holdMs ?? 0) / autoSpeedUpMax;
  const hold = count < holdsMin ? (holdMs ?? 0) : Math.max(meanMs, leastMs);
  return Math.ceil(hold / Math.max(1, heldMax(pool)));
}

/**
 * The number of claims that can be held at once. The pools below may have more resources than the
 * limit allows.
 */
function heldMax({ policy: { limit }, size, children }: Pool): number {
  if (limit === undefined) return size;
  return children.size > 0 ? limit : Math.min(limit, size);
}

/** When the pool's own pace allows the next grant, without its ancestors. */
export function nextGrantAt({ pace, policy }: Pool): Instant {
  const { burst, jitter } = policy.pace ?? plain;
  const { baseAt, ticks, everyMs, share } = pace;
  return after(baseAt, (ticks - burst + 1) * everyMs + jitterMs(share, jitter, everyMs));
}

const plain = { burst: 1, jitter: 0 };

function jitterMs(share: number, jitter: number, everyMs: number): number {
  return Math.floor(share * jitter * everyMs);
}

/** Cleaning is not paced and uses no tick. */
function closedFor({ pool, purpose }: Use, now: Instant): Pool | null {
  return purpose === "use" ? lastToOpen(pool, now) : null;
}

/** Of the pool and its ancestors, the pool whose pace opens last; null if all are open. */
function lastToOpen(pool: Pool, now: Instant): Pool | null {
  let last: Pool | null = null;
  let lastAt = now;
  for (const up of ancestors(pool)) {
    if (!isPaced(up) || nextGrantAt(up) <= lastAt) continue;
    last = up;
    lastAt = nextGrantAt(up);
  }
  return last;
}

/** Whether a request waits for the pool or for a descendant, which also waits for this pace. */
function isWaitedFor(pool: Pool): boolean {
  for (const { waiting } of descendants(pool)) if (waiting > 0) return true;
  return false;
}

function chargePaces(
  uses: readonly Use[],
  id: string,
  now: Instant,
): { readonly paced: readonly Paced[] } | undefined {
  const starts = new Map<Pool, number>();
  for (const { pool, purpose, count } of uses) {
    if (purpose !== "use") continue;
    for (const up of ancestors(pool)) {
      if (isPaced(up)) starts.set(up, (starts.get(up) ?? 0) + count);
    }
  }
  if (starts.size === 0) return undefined;
  return { paced: Array.from(starts, ([pool, count]) => pacedPool(pool, id, count, now)) };
}

function pacedPool(pool: Pool, id: string, ticks: number, now: Instant): Paced {
  const { jitter } = pool.policy.pace ?? plain;
  const { pace } = pool;
  const slotAt = after(pace.baseAt, pace.ticks * pace.everyMs);
  const everyMs = intervalMs(pool);
  // The jitter of a longer interval, before a reload or a higher rate, would open the next one early.
  const onTime = after(now, -jitterMs(pace.share, jitter, Math.min(pace.everyMs, everyMs)));
  return {
    pool: pool.name,
    baseAt: after(onTime, Math.max(0, slotAt - onTime)),
    ticks,
    everyMs,
    ...(jitter === 0 ? undefined : { share: shareOf(pool.name, id) }),
  };
}

/**
 * A number from 0 to 1, by FNV-1a. The id comes first, because FNV-1a hardly mixes the last bytes.
 */
export function shareOf(pool: string, id: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${id}/${pool}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return Math.round(((hash >>> 0) / 0xffffffff) * 10_000) / 10_000;
}

/** A new pace counts from the last grant, so no request waits for the end of an old interval. */
export function paceAfterReload(pool: Pool): PaceState {
  const every = pool.policy.pace?.everyMs;
  return typeof every === "number" && rateOf(pool) === null
    ? { ...pool.pace, everyMs: every }
    : pool.pace;
}

/**
 * Returns the pool whose pace opened last, if it opened in this decision and while the request
 * waited; or a pool whose rate changed. If the pace opened earlier, the request waited behind
 * others, not for the pace.
 */
function lastOpened({ events, request, needs }: Opening): Pool | null {
  let last: Pool | null = null;
  let lastAt = request.queuedAt;
  for (const { pool, purpose } of needs) {
    if (purpose !== "use") continue;
    for (const up of ancestors(pool)) {
      if (hasHappened(events, "rate-changed", up)) return up;
      if (!isPaced(up) || nextGrantAt(up) <= lastAt) continue;
      if (!hasHappened(events, "pool-attended", up)) continue;
      last = up;
      lastAt = nextGrantAt(up);
    }
  }
  return last;
}
