/**
 * The quotas of the requester's space. A space may not hold more than its quota; a quota that becomes
 * smaller takes nothing from a holder. A request that only its quota delays keeps nothing from the
 * requests of other spaces (`queue/leftover.ts`).
 */
import type { ResourceName } from "../model/ids.ts";
import { cleaningState } from "../model/lifecycle.ts";
import { type QuotaShortage, quotaShortage, quotaTooSmall } from "../model/quota.ts";
import type { Pool, Request } from "../model/state.ts";
import type { Gate, Opening } from "./gate.ts";

export const quotaGate: Gate = {
  name: "quotas",
  /** Quotas belong to spaces and not to pools: `gates.ts` asks this gate for every space with one. */
  guards: () => false,
  closedBy({ needs, rank }) {
    return quotaShortage(rank.space, needs) === undefined ? null : (needs[0]?.pool ?? null);
  },
  neverPasses(needs, space) {
    const shortage = quotaTooSmall(space, needs);
    if (shortage === undefined || space === null) return undefined;
    const { quota, asked, max } = shortage;
    const pool = quota?.pool ?? (needs[0] as { pool: Pool }).pool.name;
    const dimension = quota === undefined ? "cost" : quota.dimension;
    const what = dimension === undefined ? undefined : { dimension };
    return { code: "quota_too_small", space: space.name, pool, asked, max, ...what };
  },
  /** A release of the same space opens a quota, and touches every pool in which the space waits. */
  opensAt: null,
  closedUntil: null,
  explain({ needs, rank }) {
    const shortage = quotaShortage(rank.space, needs);
    if (shortage === undefined || rank.space === null) return null;
    // Also if nothing is free: whatever becomes free goes to other spaces.
    return { code: "quota_reached", what: quotaText(rank.space.name, shortage) };
  },
  openedIn: (opening) => (wasReached(opening) ? "quota_reached" : null),
};

/** `payments holds 2 of its quota of 2 aws-account, 1 needed` */
export function quotaText(space: string, { quota, held, asked, max }: QuotaShortage): string {
  const unit = quota === undefined ? "cost" : (quota.dimension ?? quota.pool);
  const where = quota?.dimension === undefined ? "" : ` of ${quota.pool}`;
  return `${space} holds ${held} of its quota of ${max} ${unit}${where}, ${asked} needed`;
}

/** Whether a lease of the same space ended in this decision, and freed what the quota limits. */
function wasReached({ state, events, request, needs }: Opening): boolean {
  const { space } = request;
  if (space === null || space.policy.quotas.length + (space.policy.costMax ?? 0) === 0)
    return false;
  const limited = new Set(needs.map(({ pool }) => pool));
  const isLimited = (resource: ResourceName) => {
    const pool = state.resources.get(resource)?.pool;
    return pool !== undefined && (space.policy.costMax !== undefined || limited.has(pool));
  };
  return events.some((event) => {
    if (event.type !== "lease-ended" && event.type !== "claim-ended") return false;
    if (state.ended.get(event.id)?.space !== space.name && !isHeldBy(event.id, request))
      return false;
    const back = event.type === "lease-ended" ? event.back : [event.back];
    return back.some(({ resource, state: to }) => to !== cleaningState && isLimited(resource));
  });

  function isHeldBy(id: Request["id"], { ask }: Request): boolean {
    return state.leases.get(id)?.ask.space === ask.space;
  }
}
