/** One possible future: the real core, run on from the present with holds drawn from the past. */
import { type FrozenState, thaw } from "../../core/apply/snapshot.ts";
import type { ResolvedAsk } from "../../core/model/event.ts";
import type { RequestId } from "../../core/model/ids.ts";
import type { Lease } from "../../core/model/state.ts";
import { after, type Instant } from "../../core/model/time.ts";
import { VirtualClock } from "../virtual-clock/virtual-clock.ts";

/** How long a lease lasts from its grant on, given that it has lasted for so long. */
export type DrawHold = (lease: Lease, ageMs: number) => number;

/**
 * Runs until nobody waits any more, and answers when each was granted. Who never is, because nothing
 * comes back for it, is missing. Nobody joins, leaves or dies on the way: `patient` sees to that.
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

/** Some are held for ever, as far as anybody knows. */
function planRelease(
  clock: VirtualClock,
  { id }: Lease,
  { at, holdMs }: { readonly at: Instant; readonly holdMs: number },
): void {
  if (Number.isFinite(holdMs)) clock.plan(after(at, holdMs), { type: "release", id });
}

/** Far longer than anybody waits. */
const foreverMs = 100 * 365 * 24 * 3_600_000;

/** The same state, in which nobody is given up because no heartbeat came: jobs live in these futures. */
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
