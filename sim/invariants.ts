/** What must be true of a state between any two commands. Costs O(state): for tests only. */

import { isDue } from "../src/core/apply/indexes.ts";
import { type FrozenState, freeze, thaw } from "../src/core/apply/snapshot.ts";
import { relatedPools } from "../src/core/clusters/demand.ts";
import { planPool } from "../src/core/clusters/plan.ts";
import { snapshotOf } from "../src/core/clusters/snapshot.ts";
import { fits } from "../src/core/decide/settle.ts";
import { passesGates } from "../src/core/gates/gates.ts";
import { cohortOf, descendants } from "../src/core/gates/limits.ts";
import { quotaKey, quotedOf } from "../src/core/model/cohort.ts";
import type { Item } from "../src/core/model/command.ts";
import { isFrozen } from "../src/core/model/hub.ts";
import { freeState } from "../src/core/model/lifecycle.ts";
import { isHeldBackByQuota } from "../src/core/model/quota.ts";
import { largestPartOf, type Space } from "../src/core/model/space.ts";
import {
  type Bucket,
  claimsOn,
  type ExclusiveResource,
  isHeld,
  isHeldForUse,
  isShared,
  type Pool,
  queueAt,
  type Request,
  type Resource,
  type SharedResource,
  type State,
  shownState,
} from "../src/core/model/state.ts";
import { type Instant, never } from "../src/core/model/time.ts";
import { stateDifference } from "./state-difference.ts";
import { assertInvariant } from "./violation.ts";

export function checkState(state: State, now: Instant): void {
  for (const space of state.spaces.values()) checkShare(space);
  checkHolders(state);
  checkAhead(state);
  checkDeadlines(state);
  for (const pool of state.pools.values()) checkPool(state, pool);
  for (const pool of state.pools.values()) checkPlan(pool, now);
  checkCohorts(state);
  checkWaiting(state, now);
}

/** The checks that can fail because time passes. */
export function checkWaiting(state: State, now: Instant): void {
  for (const request of state.requests.values()) checkNothingIdle(request, now);
  for (const pool of state.pools.values()) {
    if (pool.waiting === 0 || isShared(pool)) continue;
    for (const bucket of pool.buckets.values()) checkWanted(bucket, now);
  }
}

/** A grant reaches only requests in the queues, so no others may go ahead of the shares. */
function checkAhead(state: State): void {
  for (const { id, isStarved, inLine } of state.requests.values()) {
    assertInvariant(inLine || !isStarved, () => `${id} goes ahead and stands in no queue`);
  }
}

function checkHolders(state: State): void {
  const fences = new Set<number>();
  for (const lease of state.leases.values()) {
    for (const claim of lease.claims) {
      assertInvariant(
        [...claimsOn(claim.resource)].includes(claim),
        () => `${claim.resource.name} is claimed by ${lease.id} and another`,
      );
      assertInvariant(
        !fences.has(claim.fence) && claim.fence <= state.fence,
        () => `the fence ${claim.fence} is not unique`,
      );
      fences.add(claim.fence);
    }
  }
  for (const resource of state.resources.values()) {
    for (const claim of claimsOn(resource)) {
      const known = state.leases.get(claim.lease.id)?.claims.includes(claim) === true;
      assertInvariant(
        known,
        () => `${resource.name} is held by ${claim.lease.id}, which is no lease`,
      );
    }
  }
  for (const [key, id] of state.keys) {
    const known = state.requests.get(id) ?? state.leases.get(id);
    const ended = state.ended.get(id);
    assertInvariant(
      known?.ask.key === key || ended?.key === key,
      () => `the key ${key} leads to ${id}, which has another`,
    );
  }
}

/** The sums of each cohort equal those of its spaces. */
function checkCohorts(state: State): void {
  for (const { name, quotas } of state.cohorts.values()) {
    for (const [key, { used, reserved }] of quotas) {
      const sums = { used: 0, reserved: 0 };
      for (const space of state.spaces.values()) {
        const quota = space.policy.quotas.find((one) => quotaKey(one) === key);
        if (space.cohort?.name !== name || quota === undefined) continue;
        const quoted = quotedOf(state, space, quota);
        sums.used += quoted.used;
        sums.reserved += quoted.reserved;
      }
      assertInvariant(
        sums.used === used && sums.reserved === reserved,
        () =>
          `the cohort ${name} counts ${used} and ${reserved} of ${key}, not ${sums.used} and ${sums.reserved}`,
      );
    }
  }
}

/** Every lease and request has a deadline, so that nothing stays for ever by accident. */
function checkDeadlines(state: State): void {
  const timed = [...state.leases.values(), ...state.requests.values()];
  for (const one of timed) {
    // A lease without a token has no deadline if its pool has no timeout for it.
    if (one.kind === "lease" && one.ask.ttlMs === null && one.expiresAt === never) continue;
    const { id, heapIndex, dueAt } = one;
    const lease = one.kind === "request" ? one.ask.replaces?.lease : undefined;
    if (lease !== undefined) {
      // Its lease keeps it in the queue, and ends it.
      const isKept = state.leases.get(lease)?.replacements.includes(id) === true;
      assertInvariant(isKept, () => `${id} waits for the lease ${lease}, which is gone`);
      continue;
    }
    assertInvariant(heapIndex >= 0 && Number.isFinite(dueAt), () => `${id} has no deadline`);
  }
  for (const resource of state.resources.values()) {
    const { name, state: shown, heapIndex } = resource;
    assertInvariant(
      awaitsSomething(resource) === heapIndex >= 0,
      () => `${name} is ${shown} with a deadline at ${heapIndex}`,
    );
  }
}

/** It is cooling, or it is dynamic and has a deadline. */
function awaitsSomething(resource: Resource): boolean {
  const { dynamic, leaving, expiresAt } = resource;
  if (isHeld(resource)) return false;
  if (resource.sharing === "exclusive" && resource.cluster !== null) {
    const { deadlineAt, hold } = resource.cluster;
    const hasEnd = deadlineAt !== never && !isFrozen(resource);
    return resource.restsUntil !== never || hasEnd || hold !== null;
  }
  if (resource.state === "cooling") return true;
  return dynamic && (resource.state === "toBeDeleted" || (!leaving && expiresAt !== never));
}

/** Shares are kept up to date and not counted anew, because a space may hold of many pools. */
function checkShare(space: Space): void {
  const share = largestPartOf(space) / space.policy.weight;
  assertInvariant(
    space.share === share,
    () => `${space.name} has the share ${space.share} instead of ${share}`,
  );
}

function checkPlan(pool: Pool, now: Instant): void {
  if (pool.clusters === null || pool.suspended !== null) return;
  // A deadline may have passed since the last decision.
  const related = relatedPools(pool);
  if (related.some((kin) => isDue(kin, now))) return;
  if (related.some(({ members }) => [...members].some((one) => isDue(one, now)))) return;
  const [left] = planPool(snapshotOf(pool, now));
  assertInvariant(left === undefined, () => `the plan of ${pool.name} has more to ${left?.do}`);
}

function checkPool(state: State, pool: Pool): void {
  const shown = new Map<string, number>();
  let size = 0;
  for (const resource of pool.members) {
    assertInvariant(
      state.resources.get(resource.name) === resource,
      () => `${resource.name} does not belong to ${pool.name}`,
    );
    shown.set(shownState(resource), (shown.get(shownState(resource)) ?? 0) + 1);
    if (!resource.retired) size += 1;
    const { drained, retired, restsUntil } = resource;
    const open = !drained && !retired && restsUntil === never;
    if (resource.sharing === "shared") checkShared(resource, open && resource.state === freeState);
    else checkBucketOf(resource, open && resource.claim === null && !isFrozen(resource));
  }
  checkCounts(pool);
  checkTree(state, pool);
  checkUsed(pool);
  assertInvariant(size === pool.size, () => `${pool.name} counts ${pool.size}, has ${size}`);
  for (const [name, count] of pool.shown) {
    assertInvariant(
      count === (shown.get(name) ?? 0),
      () => `${pool.name} counts ${count} ${name}, has ${shown.get(name)}`,
    );
  }
  for (const bucket of pool.buckets.values()) checkBucket(state, bucket);
  const waiting = [...pool.buckets.values()].reduce((sum, { queue }) => sum + queue.size, 0);
  assertInvariant(
    waiting === pool.waiting,
    () => `${pool.name} counts ${pool.waiting} of ${waiting} waiters`,
  );
}

function checkBucketOf({ pool, name, state, bucket }: ExclusiveResource, usable: boolean): void {
  const right = usable ? pool.buckets.get(state) : null;
  assertInvariant(bucket === (right ?? null), () => `${name} is in the wrong bucket`);
  assertInvariant(!usable || right !== undefined, () => `${name} is in no bucket`);
}

/**
 * The used amount equals the sum of the claims, and a part has an owner exactly while it is held.
 */
function checkShared(resource: SharedResource, usable: boolean): void {
  const { name, pool } = resource;
  assertInvariant(resource.listed === usable, () => `${name} is listed as if it were otherwise`);
  assertInvariant(
    [...pool.shared].includes(resource) === usable,
    () => `${name} stands wrongly in the index of ${pool.name}`,
  );
  const claims = [...resource.claims];
  for (const level of resource.levels) {
    const lent = claims.reduce((sum, { amount }) => sum + (amount[level.name] ?? 0), 0);
    assertInvariant(
      lent === level.used,
      () => `${name} counts ${level.used} ${level.name}, lent ${lent}`,
    );
  }
  for (const part of [...resource.parts.values()].flat()) {
    assertInvariant(
      part.resources.has(resource) && part.uses > 0 === (part.owner !== null) && part.uses >= 0,
      () => `${part.name} of ${name} has lost its owner`,
    );
  }
}

function checkCounts(pool: Pool): void {
  const counts = { held: 0, dynamic: 0, leaving: 0 };
  for (const resource of pool.members) {
    if (isHeldForUse(resource)) counts.held += 1;
    if (resource.dynamic) counts.dynamic += 1;
    if (resource.leaving) counts.leaving += 1;
  }
  for (const [what, count] of Object.entries(counts)) {
    const counted = pool[what as keyof typeof counts];
    assertInvariant(
      count === counted,
      () => `${pool.name} counts ${counted} ${what}, has ${count}`,
    );
  }
}

/** The policy names the parent; a snapshot contains nothing else about it. */
function checkTree({ pools }: State, { name, parent, policy }: Pool): void {
  const named = policy.parent === undefined ? undefined : pools.get(policy.parent);
  assertInvariant(
    parent === (named ?? null),
    () => `${name} has the parent ${parent?.name}, not the one of its policy`,
  );
}

/** The count of a limit equals the number of claims below it. */
function checkUsed(pool: Pool): void {
  let used = 0;
  for (const { members } of descendants(pool)) {
    for (const resource of members) {
      if (resource.sharing === "exclusive" && resource.cluster !== null) used += 1;
      else if (resource.state !== "cleaning") used += [...claimsOn(resource)].length;
    }
  }
  assertInvariant(used === pool.used, () => `${pool.name} counts ${pool.used} claims, has ${used}`);
}

function checkBucket(state: State, { pool, state: name, idle, queue }: Bucket): void {
  const label = `the bucket ${name} of ${pool.name}`;
  assertInvariant([...idle].length === idle.size, () => `${label} has a wrong count`);
  const line = [...queue];
  const waiting = [...state.requests.values()].filter(
    ({ needs, inLine }) =>
      inLine && needs.some((need) => need.pool === pool && need.state === name),
  );
  assertInvariant(
    line.length === waiting.length && waiting.every((request) => line.includes(request)),
    () => `the queue of ${label} differs from the waiting requests`,
  );
}

/** A request that is first in all its queues waits only for what is not available. */
function checkNothingIdle(request: Request, now: Instant): void {
  if (!request.inLine) return;
  if (!request.needs.every((need) => queueAt(need).at(0) === request)) return;
  // A deadline may have passed since the last decision; the next tick handles it.
  if (request.needs.some(({ pool }) => [...cohortOf(pool)].some((kin) => isDue(kin, now)))) return;
  assertInvariant(
    !request.alternatives.some((needs) => fits(needs, request, now)),
    () => `${request.id} waits although all of it is available`,
  );
}

/**
 * A request for one pool waits only while too few resources that it wants are idle and not wanted by
 * requests ahead. Compares labels and names itself, without the core's index of matches.
 */
function checkWanted({ pool, idle, queue }: Bucket, now: Instant): void {
  if ([...cohortOf(pool)].some((kin) => isDue(kin, now))) return;
  const taken = new Set<ExclusiveResource>();
  const heldBack = new Set<unknown>();
  for (const request of queue) {
    // Its quota holds it back. If it is for one pool, the requests of its space wait behind it.
    if (heldBack.has(request.space)) continue;
    if (isHeldBackByQuota(request, pool)) {
      if (request.alternatives.every(({ length }) => length === 1)) heldBack.add(request.space);
      continue;
    }
    const [item, ...others] = request.ask.items;
    const isSimple = others.length === 0 && item?.anyOf === undefined && request.gang === null;
    // The patience of other requests is not checked here.
    if (item === undefined || !isSimple) return;
    const wanted = [...idle].filter((resource) => isWanted(resource, item));
    // Which cluster a request wants is checked by the ledger of the clusters.
    if (pool.clusters !== null) return;
    const left = wanted.filter((resource) => !taken.has(resource));
    assertInvariant(
      left.length < item.count || !passesGates(request.needs, request, now),
      () => `${request.id} waits although ${left[0]?.name} is idle and matches`,
    );
    for (const resource of wanted) taken.add(resource);
  }
}

function isWanted({ name, labels }: ExclusiveResource, { resource, selector = {} }: Item): boolean {
  if (resource !== undefined && resource !== name) return false;
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** Everything that survives a restart, as text, to compare it with the state later. */
export function fingerprint(state: State): string {
  return JSON.stringify(freeze(state));
}

export function checkSnapshot(state: State): void {
  const thawed = thaw(JSON.parse(JSON.stringify(freeze(state))) as FrozenState);
  const difference = stateDifference(thawed, state);
  assertInvariant(
    difference === undefined,
    () => `a snapshot thaws to another state: ${difference}`,
  );
}
