/**
 * Whether needs can be met: with the queue ignored (`isPresent`), and at a rank (`isAvailable`).
 * Gates are separate (`gates`).
 */
import type { Rank } from "../model/rank.ts";
import { selectionText } from "../model/selection.ts";
import { idleCount, type Need, type Place } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { canPlace, type DecisionBudget } from "../shared/place.ts";
import { Leftover } from "./leftover.ts";

/** Whether enough are free, with the queue ignored. */
export function isPresent(need: Need, rank: Rank): boolean {
  if (need.sharing === "shared") return canPlace(need, rank);
  if (need.selections === null) return need.count <= idleCount(need.pool, need.state);
  const bucket = need.pool.buckets.get(need.state);
  return bucket !== undefined && new Leftover(bucket).has(need);
}

/** The same as text, for the explanation of a wait. */
export function presentText(need: Need): string {
  const { pool, state } = need;
  if (need.sharing === "shared") return `${pool.name} has enough free`;
  if (need.selections !== null) {
    const texts = need.selections.map((selection) => selectionText(selection) || "any");
    return `${pool.name} (${texts.join(", ")}) has enough ${state}`;
  }
  return `${idleCount(pool, state)} of ${pool.size} ${pool.name} ${state}`;
}

/**
 * Whether a need is available at this rank. Ignores the gates. `ofDecision` is what all searches of a decision may
 * use together.
 */
export function isAvailable(
  need: Need,
  rank: Rank,
  now: Instant,
  ofDecision?: DecisionBudget,
): boolean {
  if (need.sharing === "shared") return canPlace(need, rank, ofDecision);
  const bucket = need.pool.buckets.get(need.state);
  if (bucket === undefined || bucket.idle.size < need.count) return false;
  if (need.selections === null && bucket.queue.size === 0) return true;
  return Leftover.at(bucket, rank, now).has(need);
}

/** The number of idle resources that are not kept for requests ahead of this rank. */
export function availableTo(place: Place, rank: Rank, now: Instant): number {
  const bucket = place.pool.buckets.get(place.state);
  return bucket === undefined ? 0 : Math.max(0, Leftover.at(bucket, rank, now).count);
}
