import type { FrozenState } from "../../core/apply/snapshot.ts";

/**
 * The same state after one more report of throttling: each rate that finds itself is lower by its cut
 * factor. The argument itself if there is no such rate.
 */
export function afterACut(frozen: FrozenState): FrozenState {
  const pools = frozen.pools.map((pool) => {
    const { policy, rate: known } = pool;
    const limits = policy.adaptive;
    if (limits?.mode !== "auto" || known === undefined || known.pin !== null) return pool;
    const { adaptive } = known;
    if (adaptive === null || adaptive.rate <= limits.min) return pool;
    const rate = Math.max(limits.min, adaptive.rate * limits.factor);
    return { ...pool, rate: { ...known, adaptive: { ...adaptive, rate } } };
  });
  return pools.every((pool, at) => pool === frozen.pools[at]) ? frozen : { ...frozen, pools };
}
