/** What a space holds, its share and its quotas, for people. */
import { ancestors, isListedIn } from "../gates/limits.ts";
import { isCounted } from "../gates/quotas.ts";
import { quotaKey } from "../model/cohort.ts";
import type { PoolName, RequestId, SpaceName } from "../model/ids.ts";
import { shareOf } from "../model/rank.ts";
import {
  capacityOf,
  claimsKey,
  countsIn,
  heldOf,
  type Quota,
  type Space,
  spaceOf,
} from "../model/space.ts";
import { queueAt, type Request, type State } from "../model/state.ts";
import { listedMax } from "./explain.ts";

export interface SpaceView {
  readonly name: SpaceName;
  readonly weight: number;
  /** The largest of `holds`, divided by the weight: the lowest goes first. */
  readonly share: number;
  readonly leases: number;
  readonly waiting: number;
  /** Null: no limit. */
  readonly waitingMax: number | null;
  /** The largest share first. */
  readonly holds: readonly Holding[];
  readonly quotas: readonly QuotaView[];
}

export interface Holding {
  readonly pool: PoolName;
  /** Null: the number of claims. */
  readonly dimension: string | null;
  readonly held: number;
  readonly capacity: number;
}

export interface QuotaView {
  /** Null: the quota of costs, over all pools. */
  readonly pool: PoolName | null;
  readonly dimension: string | null;
  readonly held: number;
  readonly max: number;
  /** What the cohort shares; null if it shares nothing of it. */
  readonly cohort: CohortView | null;
  /** The leases of the space that it limits, oldest first. At most `listedMax`. */
  readonly heldBy: readonly QuotaHolder[];
}

export interface CohortView {
  readonly name: string;
  readonly used: number;
  readonly capacity: number;
}

export interface QuotaHolder {
  readonly id: RequestId;
  readonly holder: string;
}

/** The configured spaces, and all others that have a request or a lease. */
export function spaceNames({ spaces, spacePolicies }: State): SpaceName[] {
  return [...new Set([...spacePolicies.keys(), ...spaces.keys()])].sort();
}

export function spaceView(state: State, name: SpaceName): SpaceView {
  const space = spaceOf(state, name);
  if (space === null) throw new Error("Cannot show a space without a name");
  const { policy, share, leases, waiting } = space;
  return {
    name,
    weight: policy.weight,
    share,
    leases: leases.size,
    waiting,
    waitingMax: policy.waitingMax ?? null,
    holds: holdingsOf(space),
    quotas: quotasOf(state, space),
  };
}

/**
 * How many requests of each space wait for each pool. A request for several counts in each, and once in
 * each pool above them that is only a limit.
 */
export function waitsBySpace({
  requests,
}: State): ReadonlyMap<string, ReadonlyMap<PoolName, number>> {
  const all = new Map<string, Map<PoolName, number>>();
  for (const { space, needs } of requests.values()) {
    if (space === null) continue;
    const counts = all.get(space.name) ?? new Map<PoolName, number>();
    all.set(space.name, counts);
    const pools = needs.flatMap(({ pool }) => {
      return [...ancestors(pool)].filter((up) => isListedIn(pool, up.name));
    });
    for (const { name } of new Set(pools)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return all;
}

export interface SpacesAhead {
  readonly spacesAhead: number;
  /** How many of them are starved; the others have a lower share. */
  readonly starvedAhead: number;
}

/** The number of other spaces with a lower share, or starved ones, that wait in the same queues. */
export function spacesAhead(state: State, request: Request): SpacesAhead {
  const own = request.space;
  if (own === null) return { spacesAhead: 0, starvedAhead: 0 };
  const queues = new Set<unknown>(request.needs.map(queueAt));
  const share = shareOf(request);
  let count = 0;
  let starved = 0;
  for (const space of state.spaces.values()) {
    if (space === own) continue;
    const ahead = [...space.lines].filter(
      (line) => shareOf(line) < share && queues.has(line.queue),
    );
    if (ahead.length > 0) count += 1;
    if (ahead.some(({ isStarved }) => isStarved)) starved += 1;
  }
  return { spacesAhead: count, starvedAhead: starved };
}

function holdingsOf({ held }: Space): Holding[] {
  const holds = [...held].flatMap(([pool, amounts]) => {
    const counted = [...amounts].filter(([key]) => countsIn(pool, key));
    return counted.map(([key, amount]) => ({
      pool: pool.name,
      dimension: key === claimsKey ? null : key,
      held: amount,
      capacity: capacityOf(pool, key),
    }));
  });
  return holds.sort((a, b) => b.held / b.capacity - a.held / a.capacity);
}

function quotasOf({ pools }: State, space: Space): QuotaView[] {
  const { quotas, costMax } = space.policy;
  const views: QuotaView[] = quotas.map((quota) => {
    const { pool: name, dimension, max } = quota;
    const pool = pools.get(name);
    const held = pool === undefined ? 0 : heldOf(space, pool, dimension ?? claimsKey);
    const shown = { cohort: cohortView(space, quota), heldBy: quotaHolders(space, quota) };
    return { pool: name, dimension: dimension ?? null, held, max, ...shown };
  });
  if (costMax === undefined) return views;
  const shown = { cohort: null, heldBy: quotaHolders(space, undefined) };
  return [...views, { pool: null, dimension: "cost", held: space.cost, max: costMax, ...shown }];
}

function cohortView({ cohort }: Space, quota: Quota): CohortView | null {
  const all = cohort?.quotas.get(quotaKey(quota));
  if (cohort === null || all === undefined) return null;
  return { name: cohort.name, used: all.used, capacity: all.capacity };
}

function quotaHolders({ leases }: Space, quota: Quota | undefined): QuotaHolder[] {
  const holders: QuotaHolder[] = [];
  for (const { id, ask, claims } of leases) {
    if (holders.length === listedMax) break;
    if (claims.some((claim) => isCounted(claim, quota))) holders.push({ id, holder: ask.holder });
  }
  return holders;
}
