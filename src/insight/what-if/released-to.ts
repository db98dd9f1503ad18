import { dirtyState } from "../../core/model/lifecycle.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import type { CleaningTimes } from "./cleaning-times.ts";
import type { Demand, DemandEnd } from "./demand.ts";

/**
 * Holders may release a resource as dirty although its pool would free it, as the clients of Boskos
 * do. Such a release is part of the demand; where the pool's own rule makes it dirty, that rule
 * decides again.
 */
export function releasedTo(
  inForce: readonly PoolSpec[],
  times: CleaningTimes,
): (demand: Demand) => Demand {
  const freed = new Set(
    inForce.filter(({ policy }) => policy.onRelease !== dirtyState).map(({ name }): string => name),
  );
  return (demand) => {
    const { id, items, ends, recordedClaims } = demand;
    if (!items.some(({ pool }) => freed.has(pool))) return demand;
    const stated = (end: DemandEnd): DemandEnd => {
      const claim = end.claim ?? "1";
      const left = times.after(id, recordedClaims?.get(claim) ?? claim) !== undefined;
      return left && !end.forced && end.revoked === undefined ? { ...end, state: dirtyState } : end;
    };
    return { ...demand, ends: ends.map(stated) };
  };
}
