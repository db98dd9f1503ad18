/** Simulates one possible future: runs the real core from the present with recorded hold times. */
import { type FrozenState, thaw } from "../../core/apply/snapshot.ts";
import { isDurable, type ResolvedAsk } from "../../core/model/event.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { coolingState, dirtyState } from "../../core/model/lifecycle.ts";
import type { Lease, Resource } from "../../core/model/state.ts";
import { after, type Instant } from "../../core/model/time.ts";
import { VirtualClock } from "../virtual-clock/virtual-clock.ts";
import { VirtualJanitor } from "../virtual-clock/virtual-janitor.ts";
import { type ClusterWork, VirtualProvisioner } from "../virtual-clock/virtual-provisioner.ts";
import { isArrival, type PlannedArrival } from "./future-arrivals.ts";

/** Draws durations. Both have already lasted for `ageMs`, and infinite ones do not end. */
export interface Draws {
  /** The total hold time of a lease. */
  hold(lease: Lease, ageMs: number): number;
  /** The total time from dirty to free. */
  upkeep(pool: string, ageMs: number): number;
  /** The total time of a phase of a cluster, from its beginning. */
  work(work: ClusterWork): number;
}

const nobody = { next: () => undefined };

/** No future is longer. */
const horizonMs = 30 * 24 * 3_600_000;
/**
 * Nor has it more steps for each request and lease. A request that is never granted may age, or wait
 * for a pool whose rate rises again and again.
 */
const stepsPerPart = 6;
const stepsMin = 4_000;

/** One future. */
export interface Future {
  /** When each request was granted. */
  readonly grants: ReadonlyMap<RequestId, Instant>;
  readonly steps: number;
}

/**
 * Runs until all requests that wait now are granted, and returns when each was. A request that is
 * never granted, because nothing is released for it, is missing. No request leaves or expires
 * meanwhile: `patient` removes these deadlines. `arrivals` come later than now, in the order of time.
 */
export function runForward(
  frozen: FrozenState,
  now: Instant,
  draws: Draws,
  arrivals: { next(): PlannedArrival | undefined } = nobody,
): Future {
  const state = thaw(frozen);
  const waiting = new Set(state.requests.keys());
  const grants = new Map<RequestId, Instant>();
  const clock = new VirtualClock(state, now, (events, at) => {
    for (const event of events) {
      if (!isDurable(event)) continue;
      const isGrant = event.type === "lease-granted";
      if (isGrant && (waiting.has(event.id) || isArrival(event.id))) {
        if (waiting.delete(event.id)) grants.set(event.id, at);
        const lease = state.leases.get(event.id);
        if (lease !== undefined) planRelease(clock, lease, { at, holdMs: draws.hold(lease, 0) });
      }
      janitor.follow(event);
      provisioner.follow(event);
    }
  });
  const provisioner = new VirtualProvisioner(clock, (work) => draws.work(work));
  const janitor = new VirtualJanitor(clock, ({ pool }) => draws.upkeep(pool, 0));
  clock.do({ type: "give-grace" });
  provisioner.begin(state.resources.values());
  for (const lease of state.leases.values()) {
    if (lease.claims.some(({ purpose }) => purpose === "provision")) continue;
    const holdMs = cleansInVain(lease)
      ? Number.POSITIVE_INFINITY
      : draws.hold(lease, now - lease.grantedAt);
    planRelease(clock, lease, { at: lease.grantedAt, holdMs });
  }
  for (const resource of state.resources.values()) cleanLater(janitor, resource, { now, draws });
  const endAt = after(now, horizonMs);
  const stepsMax = stepsMin + stepsPerPart * (frozen.requests.length + frozen.leases.length);
  let next = arrivals.next();
  let steps = 0;
  for (; waiting.size > 0 && steps < stepsMax; steps++) {
    if (next !== undefined && next.at <= clock.nextAt) {
      clock.passTo(next.at);
      clock.do(next.command);
      next = arrivals.next();
    } else if (!clock.step(endAt)) break;
  }
  return { grants, steps };
}

/** Nobody knows when a resource is clean whose last cleaning has failed. */
function cleansInVain({ claims }: Lease): boolean {
  return claims.some(({ purpose, resource }) => purpose === "clean" && resource.failures > 0);
}

/** Plans the cleaning of a resource that is dirty now, or after its cooldown. */
function cleanLater(
  janitor: VirtualJanitor,
  { pool, state, restsTo, restsUntil, changedAt, drained, failures }: Resource,
  { now, draws }: { readonly now: Instant; readonly draws: Draws },
): void {
  if (drained || failures > 0) return; // No cleaner gets it, or none has cleaned it so far.
  if (state === dirtyState) {
    const ageMs = now - changedAt;
    janitor.clean(pool.name, now, draws.upkeep(pool.name, ageMs) - ageMs);
  } else if (state === coolingState && restsTo === dirtyState) {
    janitor.clean(pool.name, restsUntil, draws.upkeep(pool.name, 0));
  }
}

/** An infinite hold is never released. */
function planRelease(
  clock: VirtualClock,
  { id }: Lease,
  { at, holdMs }: { readonly at: Instant; readonly holdMs: number },
): void {
  if (Number.isFinite(holdMs)) clock.plan(after(at, holdMs), { type: "release", id });
}

/** Much longer than any wait. */
const foreverMs = 100 * 365 * 24 * 3_600_000;

/**
 * Returns the same state without heartbeat deadlines, because the simulated jobs send no
 * heartbeats.
 */
export function patient(frozen: FrozenState): FrozenState {
  const forever = <Part extends { readonly ask: ResolvedAsk }>(part: Part): Part => {
    const presence = part.ask.presenceMs === undefined ? undefined : { presenceMs: foreverMs };
    return { ...part, ask: { ...part.ask, ttlMs: foreverMs, ...presence } };
  };
  return {
    ...frozen,
    requests: frozen.requests.map(forever),
    leases: frozen.leases.map(forever),
  };
}
