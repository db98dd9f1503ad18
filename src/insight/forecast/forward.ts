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

/** Draws durations. Both have already lasted for `ageMs`, and infinite ones do not end. */
export interface Draws {
  /** The total hold time of a lease. */
  hold(lease: Lease, ageMs: number): number;
  /** The total time from dirty to free. */
  upkeep(pool: string, ageMs: number): number;
  /** The total time of a phase of a cluster, from its beginning. */
  work(work: ClusterWork): number;
}

/**
 * Runs until no request waits, and returns when each was granted. A request that is never granted,
 * because nothing is released for it, is missing. No request is added, leaves or expires meanwhile:
 * `patient` removes these deadlines.
 */
export function runForward(
  frozen: FrozenState,
  now: Instant,
  draws: Draws,
): Map<RequestId, Instant> {
  const state = thaw(frozen);
  const waiting = new Set(state.requests.keys());
  const grants = new Map<RequestId, Instant>();
  const clock = new VirtualClock(state, now, (events, at) => {
    for (const event of events) {
      if (!isDurable(event)) continue;
      if (event.type === "lease-granted" && waiting.has(event.id)) {
        grants.set(event.id, at);
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
  while (state.requests.size > 0 && clock.step());
  return grants;
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
