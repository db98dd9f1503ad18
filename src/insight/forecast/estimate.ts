import type { FrozenState } from "../../core/apply/snapshot.ts";
import type { RequestId } from "../../core/model/ids.ts";
import type { Lease } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import { patient, runForward } from "./forward.ts";
import { HoldCurve } from "./hold-curve.ts";
import { Random } from "./random.ts";

/** Fewer recorded holds than this do not allow an estimate. */
export const holdsMin = 10;

/** The number of simulated futures per estimate; fewer if each is expensive. */
const runsMax = 120;
const runsMin = 40;
/** The limit of resources, leases and requests to thaw for one estimate, over all runs. */
const workMax = 120_000;

/** Recorded holds by pool, in milliseconds. */
export type Holds = ReadonlyMap<string, readonly number[]>;

export interface Forecast {
  readonly id: RequestId;
  /** Granted by this time in half of the futures. */
  readonly p50At: number;
  /** Granted by this time in nine of ten futures. */
  readonly p90At: number;
  /** The number of recorded holds behind the estimate. */
  readonly samples: number;
}

/**
 * Estimates when each waiting request of this part of the state is granted: it runs the core
 * forward many times, each time with other hold times. Equal arguments give equal results. A
 * request is left out if too few holds are known for one of its pools, or if fewer than nine of ten
 * futures grant it.
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
 * The hold time of a lease comes from its pool with the longest holds: an install slot that is
 * released after 20 minutes does not predict how long the account in the same lease is held.
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
