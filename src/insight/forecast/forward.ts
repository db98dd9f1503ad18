/** Simulates one possible future: runs the real core from the present with recorded hold times. */
import { type FrozenState, thaw } from "../../core/apply/snapshot.ts";
import type { ResolvedAsk } from "../../core/model/event.ts";
import type { RequestId } from "../../core/model/ids.ts";
import type { Lease } from "../../core/model/state.ts";
import { after, type Instant } from "../../core/model/time.ts";
import { VirtualClock } from "../virtual-clock/virtual-clock.ts";

/** Draws the total hold time of a lease that has already lasted for `ageMs`. */
export type DrawHold = (lease: Lease, ageMs: number) => number;

/**
 * Runs until no request waits, and returns when each was granted. A request that is never granted,
 * because nothing is released for it, is missing. No request is added, leaves or expires meanwhile:
 * `patient` removes these deadlines.
 */
export function runForward(
  frozen: FrozenState,
  now: Instant,
  drawHold: DrawHold,
): Map<RequestId, Instant> {
  const state = thaw(frozen);
  const grants = new Map<RequestId, Instant>();
  const clock = new VirtualClock(state, now, (events, at) => {
    for (const event of events) {
      if (event.type !== "lease-granted") continue;
      grants.set(event.id, at);
      const lease = state.leases.get(event.id);
      if (lease !== undefined) planRelease(clock, lease, { at, holdMs: drawHold(lease, 0) });
    }
  });
  clock.do({ type: "give-grace" });
  for (const lease of state.leases.values()) {
    const holdMs = drawHold(lease, now - lease.grantedAt);
    planRelease(clock, lease, { at: lease.grantedAt, holdMs });
  }
  while (state.requests.size > 0 && clock.step());
  return grants;
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
