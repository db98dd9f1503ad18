import type { FrozenState } from "../../core/apply/snapshot.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { purposeOf } from "../../core/model/lifecycle.ts";
import type { Lease } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import type { ClusterWork } from "../virtual-clock/virtual-provisioner.ts";
import { afterACut } from "./after-a-cut.ts";
import { patient, runForward } from "./forward.ts";
import { FutureArrivals } from "./future-arrivals.ts";
import { HoldCurve } from "./hold-curve.ts";
import { PhaseTimes } from "./phase-times.ts";
import { Random } from "./random.ts";
import type { Durations, Samples } from "./recorded-samples.ts";

/** Fewer recorded holds than this do not allow an estimate. */
export const holdsMin = 10;

/** The number of simulated futures per estimate; fewer if they are expensive. */
const runsMax = 120;
const runsMin = 40;
/** The limit of resources and leases to thaw for one estimate, over all runs. */
const workMax = 60_000;
/** The work of a step, such as a grant or a release, in the same unit as that of thawing a lease. */
const workPerStep = 5;
/** If even the minimum is too expensive. */
const runsMinOfLong = 12;
const workMaxOfLong = 600_000;

export interface Forecast {
  readonly id: RequestId;
  /** Granted by this time in half of the futures. */
  readonly p50At: number;
  /** Granted by this time in nine of ten futures, also if a rate that finds itself is cut once more. */
  readonly p90At: number;
  /** The number of recorded holds behind the estimate. */
  readonly samples: number;
  /** The time follows from cooldowns and paces that do not change, so it needs no recorded holds. */
  readonly exact: boolean;
}

/**
 * Estimates when each waiting request of this part of the state is granted: it runs the core
 * forward many times, each time with other hold and cleaning times. Equal arguments give equal
 * results. A request is left out if fewer than nine of ten futures grant it, or if too few holds are
 * known for one of its pools and its grant depends on them.
 */
export function estimate(
  frozen: FrozenState,
  samples: Samples,
  now: Instant,
  seed: number,
): Forecast[] {
  const start = patient(frozen);
  const slower = afterACut(start);
  const soonest = exactGrants(start, now);
  const latest = slower === start ? soonest : exactGrants(slower, now);
  const phases = new PhaseTimes(start);
  const holdsOf = ({ ask }: FrozenState["requests"][number]) =>
    Math.min(
      ...ask.items.map(({ pool }) => phases.samples(pool, holdsMin) ?? holdsIn(samples, pool)),
    );
  const arrivals = new FutureArrivals(start, samples.arrivals, now);
  const isDrawn = start.requests.some((request) => {
    return holdsOf(request) >= holdsMin || (!arrivals.isEmpty && soonest.has(request.id));
  });
  const input = { samples, phases, arrivals, now, seed };
  const usual = isDrawn ? drawnGrants(start, input) : noGrants;
  const late = slower === start || !isDrawn ? usual : drawnGrants(slower, input);
  return start.requests.flatMap((request): Forecast[] => {
    const { id } = request;
    const holds = holdsOf(request);
    const [exactAt, latestAt] = [soonest.get(id), latest.get(id)];
    const isExact = exactAt !== undefined && latestAt !== undefined;
    if (isExact && arrivals.isEmpty) {
      const p90At = Math.max(exactAt, latestAt);
      return [{ id, p50At: exactAt, p90At, samples: holds, exact: exactAt === p90At }];
    }
    const p50At = quantile(usual, id, 0.5);
    const p90At = quantile(late, id, 0.9);
    if (p50At === undefined || p90At === undefined) return [];
    if (holds < holdsMin && !isExact) return [];
    return [{ id, p50At, p90At: Math.max(p50At, p90At), samples: holds, exact: false }];
  });
}

/** The times at which each request was granted, over all runs. */
interface DrawnGrants {
  readonly runs: number;
  readonly at: ReadonlyMap<RequestId, readonly number[]>;
}

const noGrants: DrawnGrants = { runs: 0, at: new Map() };

/** Undefined if fewer of the runs have granted the request. */
function quantile({ runs, at }: DrawnGrants, id: RequestId, part: number): number | undefined {
  return at.get(id)?.toSorted((a, b) => a - b)[Math.ceil(runs * part) - 1];
}

/**
 * The grants that do not depend on any hold or cleaning: they have the same time if everything is
 * released at once and if nothing is ever released.
 */
function exactGrants(start: FrozenState, now: Instant): ReadonlyMap<RequestId, number> {
  const never = () => Number.POSITIVE_INFINITY;
  const atOnce = (_: unknown, ageMs: number) => ageMs;
  const { grants: latest } = runForward(start, now, { hold: never, upkeep: never, work: never });
  if (latest.size === 0) return latest;
  const work = ({ ageMs }: ClusterWork) => ageMs;
  const { grants: earliest } = runForward(start, now, { hold: atOnce, upkeep: atOnce, work });
  return new Map([...latest].filter(([id, at]) => earliest.get(id) === at));
}

function holdsIn({ holds }: Samples, pool: string): number {
  return holds.get(pool)?.length ?? 0;
}

function drawnGrants(
  start: FrozenState,
  input: {
    readonly samples: Samples;
    readonly phases: PhaseTimes;
    readonly arrivals: FutureArrivals;
    readonly now: Instant;
    readonly seed: number;
  },
): DrawnGrants {
  const { samples, phases, arrivals, now, seed } = input;
  const random = new Random(seed);
  const curves = curvesOf(start, samples, now);
  const draws = {
    hold: (lease: Lease, ageMs: number) =>
      curveFor(lease, curves)?.draw(random, ageMs) ?? Number.POSITIVE_INFINITY,
    upkeep: (pool: string, ageMs: number) =>
      curves.upkeep.get(pool)?.draw(random, ageMs) ?? Number.POSITIVE_INFINITY,
    work: (work: ClusterWork) => phases.draw(work, random),
  };
  const grants = new Map<RequestId, number[]>();
  const thawing = start.leases.length + sum(start.pools.map(({ resources }) => resources.length));
  let [runs, work] = [0, 0];
  while (isWorthAnother(runs, work)) {
    const future = runForward(start, now, draws, arrivals.draw(random));
    for (const [id, at] of future.grants) {
      const found = grants.get(id);
      if (found === undefined) grants.set(id, [at]);
      else found.push(at);
    }
    runs += 1;
    work += thawing + future.steps * workPerStep;
  }
  return { runs, at: grants };
}

function isWorthAnother(runs: number, work: number): boolean {
  if (runs < runsMin) return runs < runsMinOfLong || work < workMaxOfLong;
  return runs < runsMax && work < workMax;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

type Curves = ReadonlyMap<string, HoldCurve>;

interface AllCurves {
  readonly holds: Curves;
  readonly cleanings: Curves;
  readonly upkeep: Curves;
}

function curvesOf(frozen: FrozenState, samples: Samples, now: number): AllCurves {
  const poolOf = new Map<string, string>();
  for (const { name, resources } of frozen.pools) {
    for (const resource of resources) poolOf.set(resource.name, name);
  }
  const ages = new Map<string, number[]>();
  for (const { grantedAt, claims } of frozen.leases) {
    for (const claim of claims) {
      if (purposeOf(claim) !== "use") continue;
      const pool = poolOf.get(claim.resource) ?? "";
      const found = ages.get(pool);
      if (found === undefined) ages.set(pool, [now - grantedAt]);
      else found.push(now - grantedAt);
    }
  }
  const curves = (durations: Durations, goingOn: Durations): Curves =>
    new Map(
      frozen.pools.map(({ name }) => {
        return [name, new HoldCurve(durations.get(name) ?? [], goingOn.get(name) ?? [])];
      }),
    );
  return {
    holds: curves(samples.holds, ages),
    cleanings: curves(samples.cleanings, new Map()),
    upkeep: curves(samples.upkeep, new Map()),
  };
}

/**
 * The hold time of a lease comes from its pool with the longest holds: an install slot that is
 * released after 20 minutes does not predict how long the account in the same lease is held.
 */
function curveFor(lease: Lease, { holds, cleanings }: AllCurves): HoldCurve | undefined {
  let longest: HoldCurve | undefined;
  for (const { resource, purpose } of lease.claims) {
    const curve = (purpose === "clean" ? cleanings : holds).get(resource.pool.name);
    if (curve === undefined) continue;
    if (longest === undefined || curve.meanMs > longest.meanMs) longest = curve;
  }
  return longest;
}
