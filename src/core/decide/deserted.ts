import type { Pool } from "../model/state.ts";
import { emit, type Turn } from "./turn.ts";

/** A pool that the file no longer has goes with its last resource and its last waiter. */
export function removeIfDeserted(turn: Turn, pool: Pool): void {
  if (!pool.retired || pool.members.size > 0 || pool.waiting > 0) return;
  if (turn.state.pools.get(pool.name) !== pool) return;
  emit(turn, { type: "pool-removed", pool: pool.name });
}
