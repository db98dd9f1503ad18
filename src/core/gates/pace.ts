/**
 * How far apart a pool's grants are: the generic cell rate algorithm in whole milliseconds. Grants
 * are paced, not requests, so whoever leaves the line has used nothing up, and a quiet time saves up
 * no more than the burst. All that it remembers is told by the grants, so a restart opens nothing.
 *
 * A grant keeps the paces of its pools and of all that these draw on, and pays at every one of them.
 *
 * The jitter puts a grant off within its own interval and leaves the time line alone: it makes the
 * pool neither faster nor slower in the long run. It is a hash of the pool and of the id of the grant
 * before, so the same history has the same times and a log is enough to check them.
 */

import type { Paced } from "../model/event.ts";
import { cleaningState, type Need, type Pool } from "../model/state.ts";
import { after, type Instant } from "../model/time.ts";
import { adaptiveOf, intervalOf, minuteMs, rateOf } from "./rate.ts";

/** How far apart the grants of a pool are from now on; 0: it has no pace. */
export function intervalMs(pool: Pool): number {
  const rate = rateOf(pool);
  if (rate !== null) return intervalOf(rate);
  const { pace } = pool.policy;
  if (pace === undefined) return 0;
  return pace.everyMs === "auto" ? autoMs(pool) : pace.everyMs;
}

export function isPaced(pool: Pool): boolean {
  return pool.policy.pace !== undefined || pool.pin !== null || adaptiveOf(pool) !== undefined;
}

/** The starts per minute that the configuration sets, where it does. */
export function configuredRate(pool: Pool): number | null {
  const every = pool.policy.pace?.everyMs;
  const ms = every === "auto" ? autoMs(pool) : (every ?? 0);
  return ms > 0 ? minuteMs / ms : null;
}

/** What the interval would be but for reports of throttling; null: they have not made it longer. */
export function reducedFrom(pool: Pool): number | null {
  const policy = adaptiveOf(pool);
  const usual = policy && intervalOf(Math.min(policy.max, configuredRate(pool) ?? policy.max));
  const isReduced = usual !== undefined && pool.pin === null && policy?.mode === "auto";
  return isReduced && usual < pool.pace.everyMs ? usual : null;
}

/** Fewer holds than this say nothing about the next one. */
export const holdsMin = 5;
/** A few that fail in their first minute must not open the gate to all the others. */
const autoSpeedUpMax = 4;

/** What fills the pool evenly: as it was measured lately, where that is less than is allowed. */
function autoMs(pool: Pool): number {
  const { holdMs } = pool.policy;
  const { count, meanMs } = pool.holds;
  const leastMs = (holdMs ?? 0) / autoSpeedUpMax;
  const hold = count < holdsMin ? (holdMs ?? 0) : Math.max(meanMs, leastMs);
  return Math.ceil(hold / Math.max(1, heldMax(pool)));
}

/** How many may be held at one time. What draws on it may have far more than its limit allows. */
function heldMax({ policy: { limit }, size, children }: Pool): number {
  if (limit === undefined) return size;
  return children.size > 0 ? limit : Math.min(limit, size);
}

/** When the next grant may come. */
export function opensAt({ pace, policy }: Pool): Instant {
  const { burst, jitter } = policy.pace ?? plain;
  const { baseAt, ticks, everyMs, share } = pace;
  return after(baseAt, (ticks - burst + 1) * everyMs + putOffMs(share, jitter, everyMs));
}

const plain = { burst: 1, jitter: 0 };

function putOffMs(share: number, jitter: number, everyMs: number): number {
  return Math.floor(share * jitter * everyMs);
}

/** What a pace has to do with of a need. */
type Start = Pick<Need, "pool" | "into" | "count">;

export function isOpen(start: Start, now: Instant): boolean {
  return closedFor(start, now) === null;
}

/** Cleaning is no start: it is not paced, and costs the pool no tick. */
export function closedFor({ pool, into }: Start, now: Instant): Pool | null {
  return into === cleaningState ? null : closedBy(pool, now);
}

/** Of this pool and those that it draws on, the one whose pace opens last; null: all are open. */
export function closedBy(pool: Pool, now: Instant): Pool | null {
  let last: Pool | null = null;
  let lastAt = now;
  for (let up: Pool | null = pool; up !== null; up = up.parent) {
    if (!isPaced(up) || opensAt(up) <= lastAt) continue;
    last = up;
    lastAt = opensAt(up);
  }
  return last;
}

/** What a grant does to the paces of its pools and of what they draw on, for its event. */
export function pacedBy(
  needs: readonly Start[],
  id: string,
  now: Instant,
): { readonly paced: readonly Paced[] } | undefined {
  const starts = new Map<Pool, number>();
  for (const { pool, into, count } of needs) {
    if (into === cleaningState) continue;
    for (let up: Pool | null = pool; up !== null; up = up.parent) {
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
  const onTime = after(now, -putOffMs(pace.share, jitter, pace.everyMs));
  return {
    pool: pool.name,
    baseAt: after(onTime, Math.max(0, slotAt - onTime)),
    ticks,
    everyMs: intervalMs(pool),
    ...(jitter === 0 ? undefined : { share: shareOf(pool.name, id) }),
  };
}

/** From 0 to 1, by FNV-1a; the id first, since what comes last is hardly mixed in. */
export function shareOf(pool: string, id: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${id}/${pool}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return Math.round(((hash >>> 0) / 0xffffffff) * 10_000) / 10_000;
}

export function movePace(pool: Pool, { baseAt, ticks, everyMs, share = 0 }: Paced): void {
  pool.pace = { baseAt, ticks, everyMs, share };
}

/** A new pace counts from the last grant: nobody waits for the end of an interval that is no more. */
export function repace(pool: Pool): void {
  const every = pool.policy.pace?.everyMs;
  if (typeof every === "number" && rateOf(pool) === null)
    pool.pace = { ...pool.pace, everyMs: every };
}
