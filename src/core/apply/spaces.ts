/** Keeps the spaces: who has requests and leases, what each holds, and its share. */
import { cohortsOf } from "../model/cohort.ts";
import type { BrokerEvent, EventOf } from "../model/event.ts";
import type { SpaceName } from "../model/ids.ts";
import {
  claimsKey,
  type Elsewhere,
  largestPartOf,
  newSpace,
  partOf,
  type Space,
  spaceCohort,
  spacePolicyOf,
} from "../model/space.ts";
import type { Claim, ExclusiveResource, Pool, State } from "../model/state.ts";
import { countCohortsAnew, followCohort } from "./cohorts.ts";
import { edit } from "./edit.ts";
import { scheduleRise } from "./priorities.ts";
import { mayStarveAgain } from "./starved.ts";

/** The space of a new request or lease; null if the server knows no spaces. */
export function enterSpace(state: State, name: SpaceName | undefined): Space | null {
  if (name === undefined) return null;
  let space = state.spaces.get(name);
  if (space === undefined) {
    space = newSpace(state, name);
    edit(state.spaces).set(name, space);
  }
  edit(space).users += 1;
  return space;
}

/** A request or lease has ended. A space without any is forgotten: it has no debt and no credit. */
export function leaveSpace(state: State, name: SpaceName | undefined): void {
  const space = name === undefined ? undefined : state.spaces.get(name);
  if (space === undefined) return;
  edit(space).users -= 1;
  if (space.users === 0) edit(state.spaces).delete(space.name);
}

/**
 * Adds a claim to what its space holds, or removes it. Cleaning is no use. A cluster is charged until
 * it is destroyed, which is long after its claim (`chargeCluster`).
 */
export function countHeld(state: State, claim: Claim, by: 1 | -1): void {
  if (isCluster(claim)) return;
  const { space: name } = claim.lease.ask;
  const space = name === undefined ? undefined : state.spaces.get(name);
  if (space === undefined) return;
  const { pool } = claim.resource;
  const before = largestPartAbove(space, pool);
  addClaim(space, claim, by);
  followHeld(space, pool, before);
  followCohort(state, space);
}

/** What it holds of the pool and of those above it has changed, and of no other. */
function followHeld(space: Space, pool: Pool, before: number): void {
  const now = largestPartAbove(space, pool);
  if (now >= space.largestPart) setLargestPart(space, now);
  else if (before === space.largestPart) setLargestPart(space, largestPartOf(space));
}

function largestPartAbove(space: Space, pool: Pool): number {
  let largest = 0;
  for (let up: Pool | null = pool; up !== null; up = up.parent)
    largest = Math.max(largest, partOf(space, up));
  return largest;
}

function addClaim(space: Space, claim: Claim, by: 1 | -1): void {
  if (claim.purpose !== "use") return;
  const { pool } = claim.resource;
  for (let up: Pool | null = pool; up !== null; up = up.parent)
    addHeld(space, up, claim.amount, by);
  edit(space).cost += by * (pool.policy.cost ?? 0);
}

/** Charges the space of a cluster, or no longer. The charge keeps the space. */
export function chargeCluster(state: State, resource: ExclusiveResource, by: 1 | -1): void {
  const name = resource.cluster?.space ?? undefined;
  const space = by === 1 ? enterSpace(state, name) : state.spaces.get(name as SpaceName);
  if (space === null || space === undefined) return;
  const before = largestPartAbove(space, resource.pool);
  addCluster(space, resource, by);
  followHeld(space, resource.pool, before);
  followCohort(state, space);
  if (by === -1) leaveSpace(state, name);
}

function addCluster(space: Space, { cluster, pool }: ExclusiveResource, by: 1 | -1): void {
  for (let up: Pool | null = pool; up !== null; up = up.parent) addHeld(space, up, null, by);
  edit(space).cost += by * (cluster?.price ?? 0);
}

function addHeld(space: Space, pool: Pool, amounts: Claim["amount"], by: 1 | -1): void {
  let holdings = space.held.get(pool);
  if (holdings === undefined) {
    holdings = new Map();
    edit(space.held).set(pool, holdings);
  }
  add(edit(holdings), claimsKey, by);
  for (const [key, amount] of Object.entries(amounts ?? {})) {
    add(edit(holdings), key, by * amount);
  }
  if (holdings.size > 0) return;
  edit(space.held).delete(pool);
  mayStarveAgain(space);
}

function add(sums: Map<string, number>, key: string, by: number): void {
  const sum = (sums.get(key) ?? 0) + by;
  if (sum === 0) sums.delete(key);
  else sums.set(key, sum);
}

/** Lines are sorted by the shares of their spaces. */
function setLargestPart(space: Space, part: number): void {
  edit(space).largestPart = part;
  const share = part / space.policy.weight;
  if (share === space.share) return;
  edit(space).share = share;
  for (const line of space.lines) line.queue.sortAgain(line);
}

/** In a copy of some of the pools: `cost` is the sum over all pools. */
export function countElsewhere(space: Space, { largestPart, cost }: Elsewhere): void {
  edit(space).elsewhere = { largestPart, cost: cost - space.cost };
  edit(space).cost = cost;
  setLargestPart(space, largestPartOf(space));
}

/** Updates the shares after an event that may change how much there is. */
export function followSizes(state: State, event: BrokerEvent): void {
  switch (event.type) {
    case "cluster-abandoned":
    case "resource-added":
    case "resource-adopted":
    case "resource-kept":
    case "resource-moved":
    case "resource-removed":
    case "resource-resized":
    case "resource-retired":
      return shareAnew(state);
    case "pool-defined":
    case "pool-removed":
      countAnew(state);
      return shareAnew(state);
    default:
      return;
  }
}

function shareAnew(state: State): void {
  for (const space of state.spaces.values()) setLargestPart(space, largestPartOf(space));
}

/** The pools above a pool, or its cost, may be others now. */
function countAnew(state: State): void {
  for (const space of state.spaces.values()) {
    edit(space.held).clear();
    edit(space).cost = space.elsewhere.cost;
  }
  for (const { claims, ask } of state.leases.values()) {
    const space = ask.space === undefined ? undefined : state.spaces.get(ask.space);
    for (const claim of claims)
      if (space !== undefined && !isCluster(claim)) addClaim(space, claim, 1);
  }
  for (const pool of state.pools.values()) {
    pool.cache.starving = null; // Of a pool that is not below it any more, nothing is held.
    if (pool.clusters === null) continue;
    for (const resource of pool.members) {
      if (resource.sharing === "shared" || resource.cluster === null) continue;
      const space = resource.cluster.space && state.spaces.get(resource.cluster.space);
      if (space) addCluster(space, resource, 1);
    }
  }
  countCohortsAnew(state);
}

function isCluster({ amount, resource }: Claim): boolean {
  return amount === null && (resource as ExclusiveResource).cluster !== null;
}

export function spacesDefined(state: State, { spaces, others }: EventOf<"spaces-defined">): void {
  const writable = edit(state);
  writable.spacePolicies = new Map(spaces.map(({ name, policy }) => [name, policy]));
  writable.otherSpaces = others;
  writable.cohorts = cohortsOf(state.spacePolicies.values());
  for (const space of state.spaces.values()) {
    edit(space).policy = spacePolicyOf(state, space.name);
    edit(space).cohort = spaceCohort(state, space.name);
    // One that had no cohort shares these with others.
    edit(space).quoted = new Map();
    edit(space).wanted = new Map();
    setLargestPart(space, space.largestPart);
  }
  countCohortsAnew(state);
  // The bound of a space on priorities is also one on their ageing.
  for (const request of state.requests.values()) scheduleRise(state, request);
}
