/** The answers of an external check, and the pools that need an answer. */

import { creditsOf, missingCredits, needsAdmission } from "../gates/credits.ts";
import { lacksOnlyCredits } from "../gates/gates.ts";
import type { Command } from "../model/command.ts";
import type { PoolName } from "../model/ids.ts";
import { done, type Outcome, refused } from "../model/outcome.ts";
import type { Need, Pool, Request, State } from "../model/state.ts";
import { after, type Instant } from "../model/time.ts";
import { isAvailable } from "../queue/available.ts";
import { overtakenMax } from "../queue/leftover.ts";
import { poolNotFound } from "./not-found.ts";
import { emit, type Turn } from "./turn.ts";

type Admit = Extract<Command, { type: "admit" }>;
type Withhold = Extract<Command, { type: "withhold" }>;

/** The check found room for `grants` more claims, valid for `forMs`. */
export function admit(turn: Turn, { pool: name, grants, forMs }: Admit): Outcome {
  const pool = turn.state.pools.get(name);
  if (pool === undefined || pool.retired) return refused(poolNotFound(turn.state, name));
  if (!needsAdmission(pool)) return done; // The configuration has changed since the check started.
  emit(turn, { type: "pool-admitted", pool: name, grants, until: after(turn.now, forMs) });
  return done;
}

/** The check found no room, or failed. The same answer again makes no event. */
export function withhold(turn: Turn, { pool: name, why }: Withhold): Outcome {
  const pool = turn.state.pools.get(name);
  if (pool === undefined || pool.retired) return refused(poolNotFound(turn.state, name));
  if (needsAdmission(pool) && pool.admission.why !== why) {
    emit(turn, { type: "pool-withheld", pool: name, why });
  }
  return done;
}

/**
 * For each pool, the credits that its first request lacks, if it lacks nothing else or will lack
 * nothing else when its turn comes. The check need not run for any other pool.
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
 * Requests that share a pace or a limit take it in the decision that frees it. A request that has
 * no credits at that time would always be overtaken, so it needs them ahead of its turn.
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
