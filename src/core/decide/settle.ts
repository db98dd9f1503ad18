/**
 * How every decision ends: pools that were touched get their dynamic resources made and deleted, and
 * what has come free is lent. So between commands nobody waits whose turn it is and whose needs are
 * there.
 */
import type { Pool } from "../model/state.ts";
import { serve } from "./serve.ts";
import { emit, type Turn } from "./turn.ts";
import { upkeep } from "./upkeep.ts";

/** To be called again wherever the rest of a decision must find everything settled. */
export function settle(turn: Turn): void {
  const { touched } = turn;
  while (touched.size > 0) {
    // Whatever upkeep touches joins the set while it is walked over, and has its turn too.
    for (const pool of touched) {
      upkeep(turn, pool);
      removeIfDeserted(turn, pool);
    }
    // Whatever grants touch waits for the next round, because it may need upkeep as well.
    for (const pool of [...touched]) if (touched.has(pool)) serve(turn, pool);
  }
}

/** A pool that the file no longer has goes with its last resource and its last waiting request. */
function removeIfDeserted(turn: Turn, pool: Pool): void {
  if (!pool.retired || pool.members.size > 0 || pool.waiting > 0) return;
  if (turn.state.pools.get(pool.name) !== pool) return;
  emit(turn, { type: "pool-removed", pool: pool.name });
}
