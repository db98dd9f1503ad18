/**
 * Preemption: a pool with `preempt` takes leases back for a request that waits, with notice.
 *
 * For whom: the first request of its queues, or one within its own quota that waits because other
 * spaces of its cohort have borrowed it. From whom: leases of a lower priority, and for a request
 * within its quota also leases of spaces that hold more than theirs. Of these first the lowest
 * priority, then the youngest. All claims of such a lease are in pools with `preempt`.
 *
 * Only if the request could then be granted, and never more leases than that needs. Resources that
 * return anyway count: those of leases under notice, cooling ones, and dirty ones. The priority of a
 * request that rose by waiting does not count, or two jobs would take turns in ending each other.
 */
import { isReadyToLend } from "../gates/gates.ts";
import { descendants, limitOf, limitsFor } from "../gates/limits.ts";
import { isCounted } from "../gates/quotas.ts";
import { heldIn, quotaKey, usedBy } from "../model/cohort.ts";
import { coolingState, dirtyState } from "../model/lifecycle.ts";
import {
  askedOf,
  bestAlternative,
  costOf,
  isHeldBackByQuota,
  quotaShortage,
} from "../model/quota.ts";
import { isMatch } from "../model/selection.ts";
import type { Quota, Space } from "../model/space.ts";
import {
  type ExclusiveNeed,
  type ExclusiveResource,
  type Lease,
  type Need,
  type Pool,
  queueAt,
  type Request,
  type State,
} from "../model/state.ts";
import { after, never } from "../model/time.ts";
import { assign } from "../queue/assign.ts";
import { emit, type Turn } from "./turn.ts";

/** Of one queue, and of the leases of one pool. This bounds the cost of a decision. */
const requestsMax = 20;
const candidatesMax = 500;

export const defaultNoticeMs = 60_000;

/** Called after `settle`, so that only requests that cannot be granted now wait. */
export function preempt(turn: Turn): void {
  for (const pool of turn.preempting) {
    if (pool.waiting === 0 || pool.suspended !== null) continue;
    for (const bucket of pool.buckets.values()) {
      const walk = bucket.queue.walk();
      for (let count = 0; count < requestsMax; count++) {
        const request = walk.next();
        if (request === undefined) break;
        const shortage = quotaShortage(request.space, bestAlternative(request));
        preemptFor(turn, request);
        // Behind the first request that its own quota does not hold back, nobody is next.
        if (shortage === undefined) break;
      }
    }
  }
  turn.preempting.clear();
}

function preemptFor(turn: Turn, request: Request): void {
  const needs = bestAlternative(request);
  if (!isNext(request, needs) || !isReadyToLend({ needs, rank: request, now: turn.now })) return;
  const who = { state: turn.state, request, needs: needs.filter(isExclusive) };
  for (const lease of leasesToEnd(who)) {
    const reason = { by: "berth", why: whyFor(request, lease) };
    const endsBy = after(turn.now, noticeMsOf(lease));
    emit(turn, { type: "notice-given", id: lease.id, endsBy, reason });
  }
}

function isExclusive(need: Need): need is ExclusiveNeed {
  return need.sharing === "exclusive";
}

/** Whether what becomes free is for this request: nobody ahead of it can be granted before it. */
function isNext(request: Request, needs: readonly Need[]): boolean {
  return needs.every((need) => {
    if (need.sharing === "shared" || need.purpose !== "use") return false;
    const walk = queueAt(need).walk();
    for (let count = 0; count < requestsMax; count++) {
      const ahead = walk.next();
      if (ahead === request) return true;
      if (ahead === undefined) return false;
      if (!isHeldBackByQuota(ahead, need.pool)) return false;
    }
    return false;
  });
}

/** The request, and the state that says what the spaces hold. */
interface Claimant {
  readonly state: State;
  readonly request: Request;
  readonly needs: readonly ExclusiveNeed[];
}

/** The leases to end, or none if that would not suffice or is not needed. */
function leasesToEnd(who: Claimant): Lease[] {
  const gone = new Set<Lease>();
  if (couldGrant(who, gone)) return [];
  const chosen: Lease[] = [];
  for (const lease of candidates(who)) {
    if (lease.priority >= who.request.ownPriority && !isBorrowed(who, lease, gone)) continue;
    gone.add(lease);
    chosen.push(lease);
    if (couldGrant(who, gone)) break;
  }
  if (!couldGrant(who, gone)) return [];
  // The first ones may have become unnecessary. The oldest of the highest priority is spared first.
  for (const lease of chosen.toReversed()) {
    gone.delete(lease);
    if (!couldGrant(who, gone)) gone.add(lease);
  }
  return chosen.filter((lease) => gone.has(lease));
}

/** The lowest priority first, then the youngest. */
function candidates({ request, needs }: Claimant): Lease[] {
  const found = new Set<Lease>();
  for (const pool of poolsToEndIn(request, needs)) {
    for (const resource of pool.members) {
      const claim = resource.sharing === "exclusive" ? resource.claim : null;
      if (claim !== null && claim.purpose === "use" && canEnd(claim.lease)) found.add(claim.lease);
    }
  }
  const sorted = [...found].sort((a, b) => {
    return a.priority - b.priority || b.grantedAt - a.grantedAt || fenceOf(b) - fenceOf(a);
  });
  return sorted.slice(0, candidatesMax);
}

function fenceOf({ claims }: Lease): number {
  return claims[0]?.fence ?? 0;
}

/** The pools that the request needs, and those that share a limit or a quota with them. */
function poolsToEndIn({ space }: Request, needs: readonly ExclusiveNeed[]): Set<Pool> {
  const pools = new Set<Pool>();
  const quotas = space?.policy.quotas ?? [];
  for (const { pool } of needs) {
    addBelow(pool, pools);
    for (const limit of limitsFor(pool)) addBelow(limit, pools);
    for (let up: Pool | null = pool; up !== null; up = up.parent) {
      const { name } = up;
      if (quotas.some((quota) => quota.pool === name)) addBelow(up, pools);
    }
  }
  return pools;
}

function addBelow(pool: Pool, pools: Set<Pool>): void {
  if (isPreemptible(pool)) pools.add(pool);
  for (const child of pool.children) addBelow(child, pools);
}

/** A used cluster is destroyed, so that nobody gains by its end. */
function isPreemptible({ policy, clusters }: Pool): boolean {
  return policy.preempt === true && policy.placement === undefined && clusters === null;
}

/** Whether a lease can be ended with notice: its holder sends heartbeats and knows of it. */
function canEnd({ revoked, notice, delivered, ask, expiresAt, claims }: Lease): boolean {
  if (revoked !== null || notice !== null || !delivered || ask.byName === true) return false;
  if (expiresAt === never) return false;
  return claims.every(({ resource, purpose }) => {
    return purpose === "use" && isPreemptible(resource.pool);
  });
}

/** Whether the lease is a part of what its space has borrowed and the request may have back. */
function isBorrowed({ state, request, needs }: Claimant, lease: Lease, gone: Gone): boolean {
  const { space } = request;
  const name = lease.ask.space;
  const borrower = name === undefined ? undefined : state.spaces.get(name);
  if (space === null || space.cohort === null || borrower === undefined) return false;
  if (borrower === space || borrower.cohort !== space.cohort) return false;
  return space.policy.quotas.some((quota) => {
    const asked = askedOf(quota, needs);
    if (asked === 0 || heldWithout(state, space, quota, gone) + asked > quota.max) return false;
    const other = borrower.policy.quotas.find((one) => quotaKey(one) === quotaKey(quota));
    if (other === undefined || countIn([lease], quota, borrower) === 0) return false;
    return heldWithout(state, borrower, other, gone) > other.max;
  });
}

type Gone = ReadonlySet<Lease>;

/** Whether the request could be granted once these leases and those under notice have ended. */
function couldGrant({ state, request, needs }: Claimant, gone: Gone): boolean {
  return (
    needs.every((need) => hasEnough(need, gone)) &&
    allowsLimits(needs, gone) &&
    allowsQuotas(state, request, needs, gone)
  );
}

/** Whether enough resources are idle, or return by themselves, or are those of ended leases. */
function hasEnough({ pool, state, selections, count }: ExclusiveNeed, gone: Gone): boolean {
  const coming: ExclusiveResource[] = [];
  for (const resource of pool.members) {
    if (resource.sharing === "exclusive" && isComing(resource, state, gone)) coming.push(resource);
  }
  if (coming.length < count) return false;
  if (selections === null) return true;
  return (
    assign(selections, (selection) => coming.filter((one) => isMatch(one, selection))) !== undefined
  );
}

function isComing(resource: ExclusiveResource, wanted: string, gone: Gone): boolean {
  const { drained, retired, claim, state } = resource;
  if (drained || retired) return false;
  if (claim === null) return state === wanted || state === coolingState || state === dirtyState;
  return claim.purpose !== "use" || isEnding(claim.lease, gone);
}

function isEnding(lease: Lease, gone: Gone): boolean {
  return lease.revoked !== null || lease.notice !== null || gone.has(lease);
}

function allowsLimits(needs: readonly ExclusiveNeed[], gone: Gone): boolean {
  const uses = new Map<Pool, number>();
  for (const { pool, count } of needs) {
    for (const limit of limitsFor(pool)) uses.set(limit, (uses.get(limit) ?? 0) + count);
  }
  for (const [limit, count] of uses) {
    if (limit.used - endingBelow(limit, gone) + count > limitOf(limit)) return false;
  }
  return true;
}

function endingBelow(limit: Pool, gone: Gone): number {
  let count = 0;
  for (const { members } of descendants(limit)) {
    for (const resource of members) {
      const claim = resource.sharing === "exclusive" ? resource.claim : null;
      if (claim !== null && claim.purpose === "use" && isEnding(claim.lease, gone)) count += 1;
    }
  }
  return count;
}

/** A request that others end their leases for must be within its own quota: it borrows nothing. */
function allowsQuotas(
  state: State,
  { space }: Request,
  needs: readonly ExclusiveNeed[],
  gone: Gone,
): boolean {
  if (space === null) return true;
  const { quotas, costMax } = space.policy;
  for (const quota of quotas) {
    const asked = askedOf(quota, needs);
    if (asked === 0) continue;
    const held = heldWithout(state, space, quota, gone);
    if (held + asked > quota.max) return false;
    if (!allowsCohort(state, space, quota, held + asked, gone)) return false;
  }
  return costMax === undefined || space.cost - costOfEnding(space, gone) + costOf(needs) <= costMax;
}

function allowsCohort(state: State, own: Space, quota: Quota, held: number, gone: Gone): boolean {
  const { cohort } = own;
  const all = cohort?.quotas.get(quotaKey(quota));
  if (cohort === null || all === undefined) return true;
  let used = usedBy(quota, held);
  for (const space of state.spaces.values()) {
    if (space === own || space.cohort !== cohort) continue;
    const other = space.policy.quotas.find((one) => quotaKey(one) === quotaKey(quota));
    if (other !== undefined) used += usedBy(other, heldWithout(state, space, other, gone));
  }
  return used <= all.capacity;
}

/** What a space holds of a quota when these leases and those under notice have ended. */
function heldWithout({ pools }: State, space: Space, quota: Quota, gone: Gone): number {
  const pool = pools.get(quota.pool);
  if (pool === undefined) return 0;
  const ending = [...space.leases].filter((lease) => isEnding(lease, gone));
  return heldIn(space, pool, quota) - countIn(ending, quota, space);
}

function countIn(leases: readonly Lease[], quota: Quota, space: Space): number {
  let sum = 0;
  for (const { claims, ask } of leases) {
    if (ask.space !== space.name) continue;
    for (const claim of claims) {
      if (!isCounted(claim, quota)) continue;
      sum += quota.dimension === undefined ? 1 : (claim.amount?.[quota.dimension] ?? 0);
    }
  }
  return sum;
}

function costOfEnding({ leases }: Space, gone: Gone): number {
  let sum = 0;
  for (const lease of leases) {
    if (!isEnding(lease, gone)) continue;
    for (const { resource, purpose } of lease.claims) {
      if (purpose === "use") sum += resource.pool.policy.cost ?? 0;
    }
  }
  return sum;
}

/** The longest notice of its pools. */
function noticeMsOf({ claims }: Lease): number {
  return Math.max(
    ...claims.map(({ resource }) => resource.pool.policy.noticeMs ?? defaultNoticeMs),
  );
}

/** Names the other job only within the same space. */
function whyFor({ ask, ownPriority, space }: Request, lease: Lease): string {
  const pools = [...new Set(lease.claims.map(({ resource }) => resource.pool.name))].join(", ");
  const isOurs = ask.space === lease.ask.space;
  const who = isOurs ? ask.holder : "a request of another space";
  return lease.priority < ownPriority || space === null
    ? `${who} with priority ${ownPriority} needs ${pools}`
    : `${who} needs ${pools} within its own quota`;
}
