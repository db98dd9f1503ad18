/** What somebody outside says of a pool, and who waits for such a word. */

import { creditsOf, lackingCredit, needsAdmission } from "../gates/credits.ts";
import type { Command } from "../model/command.ts";
import type { PoolName } from "../model/ids.ts";
import { done, type Outcome, refused } from "../model/outcome.ts";
import type { Pool, State } from "../model/state.ts";
import { after, type Instant } from "../model/time.ts";
import { poolNotFound } from "./acquire.ts";
import { overtakenMax, willLackOnlyCredit } from "./grant.ts";
import { serveAll } from "./return-resource.ts";
import { emit, type Turn } from "./turn.ts";

type Admit = Extract<Command, { type: "admit" }>;
type Withhold = Extract<Command, { type: "withhold" }>;

/** There is room for so many more, for a while. */
export function admit(turn: Turn, { pool: name, grants, forMs }: Admit): Outcome {
  const pool = turn.state.pools.get(name);
  if (pool === undefined || pool.retired) return refused(poolNotFound(turn.state, name));
  if (!needsAdmission(pool)) return done; // It has been configured otherwise meanwhile.
  emit(turn, { type: "pool-admitted", pool: name, grants, until: after(turn.now, forMs) });
  serveAll(turn, new Set([pool]));
  return done;
}

/** There is none, or nobody can tell. Said once, however often it is found. */
export function withhold(turn: Turn, { pool: name, why }: Withhold): Outcome {
  const pool = turn.state.pools.get(name);
  if (pool === undefined || pool.retired) return refused(poolNotFound(turn.state, name));
  if (needsAdmission(pool) && pool.admission.why !== why) {
    emit(turn, { type: "pool-withheld", pool: name, why });
  }
  return done;
}

/**
 * How many credits the first in line of each pool lacks, where nothing else holds it back, or nothing
 * that will when its turn comes. Whoever gives credits has no other reason to look whether there is room.
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
    const count = lackingIn(pool, now, aheadMs);
    if (count > 0) found.set(name, count);
  }
  return found;
}

function lackingIn(pool: Pool, now: Instant, aheadMs: number): number {
  for (const { queue } of pool.buckets.values()) {
    let looked = 0;
    for (const request of queue) {
      if (looked === overtakenMax) break;
      looked += 1;
      for (const way of request.alternatives) {
        const count = lackingCredit(way, now).get(pool);
        if (count === undefined) continue;
        if (willLackOnlyCredit(way, request, now, aheadMs)) return count;
      }
    }
  }
  const { unmetDemand } = pool;
  const isWished =
    unmetDemand !== null && unmetDemand.until > now && unmetDemand.count > creditsOf(pool, now);
  return isWished ? unmetDemand.count : 0;
}
