/** What a check outside says of a pool, and which pools wait for such an answer. */

import { creditsOf, missingCredits, needsAdmission } from "../gates/credits.ts";
import { lacksOnlyCredits } from "../gates/gates.ts";
import type { Command } from "../model/command.ts";
import type { PoolName } from "../model/ids.ts";
import { done, type Outcome, refused } from "../model/outcome.ts";
import type { Need, Pool, Request, State } from "../model/state.ts";
import { after, type Instant } from "../model/time.ts";
import { isAvailable, overtakenMax } from "../queue/needs.ts";
import { poolNotFound } from "./not-found.ts";
import { emit, type Turn } from "./turn.ts";

type Admit = Extract<Command, { type: "admit" }>;
type Withhold = Extract<Command, { type: "withhold" }>;

/** The check found room for some more claims, for a while. */
export function admit(turn: Turn, { pool: name, grants, forMs }: Admit): Outcome {
  const pool = turn.state.pools.get(name);
  if (pool === undefined || pool.retired) return refused(poolNotFound(turn.state, name));
  if (!needsAdmission(pool)) return done; // It has been configured otherwise meanwhile.
  emit(turn, { type: "pool-admitted", pool: name, grants, until: after(turn.now, forMs) });
  return done;
}

/** The check found none, or failed. Only a new answer makes an event. */
export function withhold(turn: Turn, { pool: name, why }: Withhold): Outcome {
  const pool = turn.state.pools.get(name);
  if (pool === undefined || pool.retired) return refused(poolNotFound(turn.state, name));
  if (needsAdmission(pool) && pool.admission.why !== why) {
    emit(turn, { type: "pool-withheld", pool: name, why });
  }
  return done;
}

/**
 * How many credits the first request of each pool lacks that lacks nothing else, or will lack nothing
 * else once its turn has come. A check has no other reason to look whether there is room.
 */
export function awaitingAdmission(
  state: State,
  now: Instant,
  aheadMs: number,
  names: Iterable<PoolName> = state.pools.keys(),
): Map<PoolName, number> {
  const found = new Map<PoolName, number>();
  for (const name of names) {
    const pool = state.pools.get(name);
    if (pool === undefined || pool.retired || !needsAdmission(pool)) continue;
    const count = creditsWanted(pool, now, aheadMs);
    if (count > 0) found.set(name, count);
  }
  return found;
}

function creditsWanted(pool: Pool, now: Instant, aheadMs: number): number {
  for (const { queue } of pool.buckets.values()) {
    let looked = 0;
    for (const request of queue) {
      if (looked === overtakenMax) break;
      looked += 1;
      for (const needs of request.alternatives) {
        const count = missingCredits(needs, now).get(pool);
        if (count !== undefined && willLackOnlyCredits(needs, request, now, aheadMs)) return count;
      }
    }
  }
  const { unmetDemand } = pool;
  const isUnmet =
    unmetDemand !== null && unmetDemand.until > now && unmetDemand.count > creditsOf(pool, now);
  return isUnmet ? unmetDemand.count : 0;
}

/**
 * Others that share a pace or a limit take it in the very decision in which it comes free: a request
 * without credits by then would be passed by every time. So it asks for them ahead of its turn.
 */
function willLackOnlyCredits(
  needs: readonly Need[],
  request: Request,
  now: Instant,
  aheadMs: number,
): boolean {
  const attempt = { needs, rank: request, now, by: after(now, aheadMs) };
  return lacksOnlyCredits(attempt) && needs.every((need) => isAvailable(need, request, now));
}
