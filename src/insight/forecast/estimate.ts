import type { FrozenState } from "../../core/apply/snapshot.ts";
import type { RequestId } from "../../core/model/ids.ts";
import type { Lease } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import { patient, runForward } from "./forward.ts";
import { HoldCurve } from "./hold-curve.ts";
import { Random } from "./random.ts";

/** Fewer recorded holds than this say nothing about the next one. */
export const holdsMin = 10;

/** Futures per estimate; fewer where each costs more. */
const runsMax = 120;
const runsMin = 40;
/** Resources, leases and requests that are thawed for one estimate, over all its runs, at the most. */
const workMax = 120_000;

/** Recorded holds by pool, in milliseconds. */
export type Holds = ReadonlyMap<string, readonly number[]>;

export interface Forecast {
  readonly id: RequestId;
  /** One in two of the futures had granted it by then. */
  readonly p50At: number;
  /** Nine in ten. */
  readonly p90At: number;
  /** Recorded holds that it rests on. */
  readonly samples: number;
}

/**
 * When each waiter of this part of the state will be granted: the core is run forward many times,
 * each time with other holds. Equal arguments give equal answers. Who waits for a pool of which too
 * little is known, or may not be granted at all, is left out.
 */
export function estimate(
  frozen: FrozenState,
  holds: Holds,
  now: Instant,
  seed: number,
): Forecast[] {
  const start = patient(frozen);
  const random = new Random(seed);
  const curves = curvesOf(start, holds, now);
  const drawHold = (lease: Lease, ageMs: number) => {
    return curveFor(lease, curves)?.draw(random, ageMs) ?? Number.POSITIVE_INFINITY;
  };
  const grants = new Map<RequestId, number[]>();
  const runs = runsFor(start);
  for (let run = 0; run < runs; run++) {
    for (const [id, at] of runForward(start, now, drawHold)) {
      const found = grants.get(id);
      if (found === undefined) grants.set(id, [at]);
      else found.push(at);
    }
  }
  return start.requests.flatMap(({ id, ask }) => {
    const samples = Math.min(...ask.items.map(({ pool }) => holds.get(pool)?.length ?? 0));
    const at = (grants.get(id) ?? []).sort((a, b) => a - b);
    const p50At = at[Math.ceil(runs * 0.5) - 1];
    const p90At = at[Math.ceil(runs * 0.9) - 1];
    if (samples < holdsMin || p50At === undefined || p90At === undefined) return [];
    return [{ id, p50At, p90At, samples }];
  });
}

export function runsFor({ pools, leases, requests }: FrozenState): number {
  const resources = pools.reduce((sum, pool) => sum + pool.resources.length, 0);
  const size = resources + leases.length + requests.length;
  return Math.max(runsMin, Math.min(runsMax, Math.floor(workMax / size)));
}

function curvesOf(frozen: FrozenState, holds: Holds, now: number): Map<string, HoldCurve> {
  const poolOf = new Map<string, string>();
  for (const { name, resources } of frozen.pools) {
    for (const resource of resources) poolOf.set(resource.name, name);
  }
  const ages = new Map<string, number[]>();
  for (const { grantedAt, claims } of frozen.leases) {
    for (const { resource } of claims) {
      const pool = poolOf.get(resource) ?? "";
      const found = ages.get(pool);
      if (found === undefined) ages.set(pool, [now - grantedAt]);
      else found.push(now - grantedAt);
    }
  }
  return new Map(
    frozen.pools.map(({ name }) => {
      return [name, new HoldCurve(holds.get(name) ?? [], ages.get(name) ?? [])];
    }),
  );
}

/**
 * A lease lasts as long as the pool of its longest holds makes it: an install slot that is given back
 * after 20 minutes says nothing about the account that is held beside it.
 */
function curveFor(lease: Lease, curves: ReadonlyMap<string, HoldCurve>): HoldCurve | undefined {
  let longest: HoldCurve | undefined;
  for (const { resource } of lease.claims) {
    const curve = curves.get(resource.pool.name);
    if (curve === undefined) continue;
    if (longest === undefined || curve.meanMs > longest.meanMs) longest = curve;
  }
  return longest;
}
