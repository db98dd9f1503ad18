/**
 * A space is a tenant: its requests and leases, its policy, and how much of everything it holds.
 * Without authentication there are no spaces, and none of this costs anything.
 */
import type { Cohort, Quoted } from "./cohort.ts";
import type { PoolName, SpaceName } from "./ids.ts";
import type { Line } from "./line-tree.ts";
import type { Lease, Pool, State } from "./state.ts";
import type { Instant } from "./time.ts";

/** A limit on what a space may hold at one time. */
export interface Quota {
  /** The claims on this pool and its descendants count. */
  readonly pool: PoolName;
  /** Of a shared pool: the dimension that is limited. Absent: the number of claims. */
  readonly dimension?: string;
  readonly max: number;
  /** In a cohort: how much more it may hold at most. Absent: as much as the others lend. */
  readonly borrow?: number;
  /** In a cohort: how much of it others may use at most. Absent: all of it. */
  readonly lend?: number;
}

export interface SpacePolicy {
  /** A space with weight 2 gets twice the share of a space with weight 1. */
  readonly weight: number;
  /** Patterns of the pools that it may use; absent: all. */
  readonly pools?: readonly string[];
  readonly quotas: readonly Quota[];
  /** The spaces of a cohort lend each other what they do not use of their quotas, except costs. */
  readonly cohort?: string;
  /** The sum of the costs of its claims. */
  readonly costMax?: number;
  /** How many of its requests may wait. */
  readonly waitingMax?: number;
  /** Higher priorities are lowered to this. */
  readonly priorityMax?: number;
  /** Longer lifetimes are shortened to this. */
  readonly lifetimeMs?: number;
}

export const defaultSpacePolicy: SpacePolicy = { weight: 1, quotas: [] };

/** The configuration of all spaces. */
export interface SpacesSpec {
  readonly spaces: readonly { readonly name: SpaceName; readonly policy: SpacePolicy }[];
  /** The policy of every other space; null: other spaces are refused. */
  readonly others: SpacePolicy | null;
}

export const anySpace: SpacesSpec = { spaces: [], others: defaultSpacePolicy };

/** The amounts that a space holds of one pool: by dimension, and under `claims` their number. */
export type Holdings = ReadonlyMap<string, number>;

/** The key of the number of claims. No dimension has this name, because names have no space. */
export const claimsKey = "number of claims";

/** What a space holds of pools that a state does not have. */
export interface Elsewhere {
  readonly largestPart: number;
  readonly cost: number;
}

const nowhere: Elsewhere = { largestPart: 0, cost: 0 };

/**
 * When a space last had its turn in a pool: it got something, or a request of it went ahead of the
 * shares. One over several pools may wait for another pool, so it is counted on its own.
 */
export interface Turns {
  readonly alone?: Instant;
  readonly several?: Instant;
}

/** How long a space gets nothing of a pool before it starves there. Each turn costs an event. */
export function starvesAfterMs({ patienceMs }: { readonly patienceMs: number }): number {
  return Math.max(patienceMs, 1_000);
}

export interface Space {
  readonly kind: "space";
  readonly name: SpaceName;
  readonly policy: SpacePolicy;
  /** What it holds of each pool, and of the pools above it. Without cleaning. */
  readonly held: ReadonlyMap<Pool, Holdings>;
  /** Its last turns in each pool. Only while requests of it wait. */
  readonly turns: ReadonlyMap<Pool, Turns>;
  /** Its leases, oldest first. */
  readonly leases: ReadonlySet<Lease>;
  /** Only in a copy of some of the pools, for a forecast. It counts as if they were here. */
  readonly elsewhere: Elsewhere;
  /** The sum of the costs of its claims. */
  readonly cost: number;
  /** The largest part that it holds of any pool or dimension: its dominant share. */
  readonly largestPart: number;
  /** The same, divided by its weight: the space with the lowest one goes first. */
  readonly share: number;
  /** The number of its requests and leases. */
  readonly users: number;
  /** The number of its waiting requests. */
  readonly waiting: number;
  /** Its lines in the queues, one for each priority. */
  readonly lines: ReadonlySet<Line>;
  /** The cohort whose quotas it shares; null if none. */
  readonly cohort: Cohort | null;
  /** By `quotaKey`, its part of the sums of its cohort. */
  readonly quoted: ReadonlyMap<string, Quoted>;
  /** By `quotaKey`, how many of its requests in the queues want how much. */
  readonly wanted: ReadonlyMap<string, ReadonlyMap<number, number>>;
}

const nothing: ReadonlyMap<never, never> = new Map<never, never>();
const none: ReadonlySet<never> = new Set();
const empty = { held: nothing, turns: nothing, leases: none, lines: none };

/**
 * A space is often made for its only lease and forgotten after it, so what it rarely has is not made:
 * without a cohort it counts nothing for one.
 */
export function newSpace(state: Policies, name: SpaceName): Space {
  const cohort = spaceCohort(state, name);
  const counted = () => (cohort === null ? nothing : new Map());
  const own = {
    held: new Map(),
    turns: new Map(),
    leases: new Set<Lease>(),
    lines: new Set<Line>(),
  };
  return makeSpace(state, { name, cohort, quoted: counted(), wanted: counted() }, own);
}

/** A space that has nothing, to be read only. */
function visitingSpace(state: Policies, name: SpaceName): Space {
  const cohort = spaceCohort(state, name);
  return makeSpace(state, { name, cohort, quoted: nothing, wanted: nothing }, empty);
}

function makeSpace(
  state: Policies,
  { name, cohort, quoted, wanted }: Pick<Space, "name" | "cohort" | "quoted" | "wanted">,
  { held, turns, leases, lines }: Pick<Space, "held" | "turns" | "leases" | "lines">,
): Space {
  return {
    ...{ kind: "space", name, policy: spacePolicyOf(state, name), cohort },
    ...{ held, turns, leases, lines, quoted, wanted },
    ...{ elsewhere: nowhere, cost: 0, largestPart: 0, share: 0, users: 0, waiting: 0 },
  };
}

type Policies = Pick<State, "spacePolicies" | "otherSpaces" | "cohorts">;

/** Only configured spaces have one. */
export function spaceCohort({ spacePolicies, cohorts }: Policies, name: SpaceName): Cohort | null {
  const cohort = spacePolicies.get(name)?.cohort;
  return cohort === undefined ? null : (cohorts.get(cohort) ?? null);
}

/** A space that is no longer configured keeps its leases, with the default policy. */
export function spacePolicyOf(
  { spacePolicies, otherSpaces }: Pick<State, "spacePolicies" | "otherSpaces">,
  name: SpaceName,
): SpacePolicy {
  return spacePolicies.get(name) ?? otherSpaces ?? defaultSpacePolicy;
}

/** The space of a command, also if it has no request and no lease yet. */
export function spaceOf(state: State, name: SpaceName | undefined): Space | null {
  if (name === undefined) return null;
  return state.spaces.get(name) ?? visitingSpace(state, name);
}

export function heldOf(space: Space, pool: Pool, key: string): number {
  return space.held.get(pool)?.get(key) ?? 0;
}

/**
 * The largest part that it holds of any pool or dimension. Always computed from whole amounts, so that
 * the same leases give the same part in any order.
 */
export function largestPartOf(space: Pick<Space, "held" | "elsewhere">): number {
  let largest = space.elsewhere.largestPart;
  for (const pool of space.held.keys()) largest = Math.max(largest, partOf(space, pool));
  return largest;
}

/** The largest part that it holds of one pool. */
export function partOf({ held }: Pick<Space, "held">, pool: Pool): number {
  let largest = 0;
  for (const [key, amount] of held.get(pool) ?? []) {
    if (countsIn(pool, key)) largest = Math.max(largest, amount / capacityOf(pool, key));
  }
  return largest;
}

/** Of a shared pool only amounts count, unless it limits the number of claims. */
export function countsIn({ policy }: Pool, key: string): boolean {
  return key !== claimsKey || policy.placement === undefined || policy.limit !== undefined;
}

/**
 * How much there is of a pool: its resources or its limit, or the sum of one dimension. Resources
 * that leave the pool count as long as somebody holds them.
 */
export function capacityOf(pool: Pool, key: string): number {
  if (key === claimsKey) {
    const { policy, members } = pool;
    const makeable = policy.dynamic?.max ?? policy.cluster?.max ?? 0;
    return Math.max(1, policy.limit ?? Math.max(members.size, makeable));
  }
  pool.cache.capacities ??= sumCapacities(pool);
  return Math.max(1, pool.cache.capacities.get(key) ?? 0);
}

function sumCapacities({ members }: Pool): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const resource of members) {
    if (resource.sharing === "exclusive") continue;
    for (const { name, capacity } of resource.levels) {
      sums.set(name, (sums.get(name) ?? 0) + capacity);
    }
  }
  return sums;
}

/** Whether the policy lets the space use the pool. A pattern may have `*` for any characters. */
export function mayUse({ pools }: SpacePolicy, pool: PoolName): boolean {
  return pools === undefined || pools.some((pattern) => matchesPattern(pattern, pool));
}

/** Compares without backtracking over more than one `*` at a time, so that no pattern is slow. */
export function matchesPattern(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const [first = "", ...rest] = parts;
  if (rest.length === 0) return pattern === text;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
