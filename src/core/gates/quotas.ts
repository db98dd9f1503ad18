/**
 * The quotas of the requester's space. A space may not hold more than its quota; a quota that becomes
 * smaller takes nothing from a holder. A request that only its quota delays keeps nothing from the
 * requests of other spaces (`queue/leftover.ts`).
 */
import { quotaKey } from "../model/cohort.ts";
import type { ResourceName, SpaceName } from "../model/ids.ts";
import { cleaningState } from "../model/lifecycle.ts";
import { type QuotaShortage, quotaShortage, quotaTooSmall } from "../model/quota.ts";
import { type Quota, type Space, spaceCohort } from "../model/space.ts";
import type { Claim, Pool } from "../model/state.ts";
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
    return { code: "quota_reached", what: quotaText(rank.space, shortage) };
  },
  openedIn: (opening) => (wasReached(opening) ? "quota_reached" : null),
};

/** `payments holds 2 of its quota of 2 aws-account (ci/1, ci/2), 1 needed` */
export function quotaText(space: Space, shortage: QuotaShortage): string {
  const { quota, held, asked, max, loan, cohort } = shortage;
  const unit = quota === undefined ? "cost" : (quota.dimension ?? quota.pool);
  const where = quota?.dimension === undefined ? "" : ` of ${quota.pool}`;
  const holds = `${space.name} holds ${held} of its quota of ${max} ${unit}${where}`;
  const text = `${holds}${holdersText(space, quota)}, ${asked} needed`;
  if (quota === undefined || cohort === undefined || loan === undefined) return text;
  const { used = 0, capacity = 0 } = cohort.quotas.get(quotaKey(quota)) ?? {};
  const rest = `${capacity - used} of the ${capacity} of the cohort ${cohort.name}`;
  if (loan === "lent") return `${text}, and the cohort ${cohort.name} uses ${used} of ${capacity}`;
  if (loan === "kept") return `${text}; ${rest} are left, for requests within their quotas`;
  return quota.borrow === undefined ? text : `${text}; it may borrow ${quota.borrow}`;
}

const holdersShown = 3;

/** Who in the space holds what the quota limits: `(ci/1, ci/2 and others)`. */
function holdersText({ leases }: Space, quota: Quota | undefined): string {
  const holders: string[] = [];
  for (const { ask, claims } of leases) {
    if (!claims.some((claim) => isCounted(claim, quota))) continue;
    if (holders.length === holdersShown) return ` (${holders.join(", ")} and others)`;
    holders.push(ask.holder);
  }
  return holders.length === 0 ? "" : ` (${holders.join(", ")})`;
}

/** Whether a claim counts against the quota; undefined: the quota of costs. */
export function isCounted({ resource, purpose }: Claim, quota: Quota | undefined): boolean {
  if (purpose !== "use") return false;
  if (quota === undefined) return (resource.pool.policy.cost ?? 0) > 0;
  for (let up: Pool | null = resource.pool; up !== null; up = up.parent) {
    if (up.name === quota.pool) return true;
  }
  return false;
}

/** Whether a lease of the same space or cohort ended in this decision, and freed what the quota limits. */
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
    if (!isShared(state.ended.get(event.id)?.space ?? state.leases.get(event.id)?.ask.space))
      return false;
    const back = event.type === "lease-ended" ? event.back : [event.back];
    return back.some(({ resource, state: to }) => to !== cleaningState && isLimited(resource));
  });

  /** Whether the lease was one of the same space, or of its cohort. */
  function isShared(name: SpaceName | undefined): boolean {
    if (name === undefined || space === null) return false;
    return (
      name === space.name || (space.cohort !== null && spaceCohort(state, name) === space.cohort)
    );
  }
}
