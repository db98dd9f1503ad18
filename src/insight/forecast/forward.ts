/** One possible future: the real core, run on from the present with holds drawn from the past. */

import { type FrozenState, thaw } from "../../core/apply/snapshot.ts";
import { decide, nextDueAt } from "../../core/decide/decide.ts";
import { DueHeap } from "../../core/model/due-heap.ts";
import type { BrokerEvent, ResolvedAsk } from "../../core/model/event.ts";
import type { RequestId } from "../../core/model/ids.ts";
import type { Lease, State } from "../../core/model/state.ts";
import { after, earliest, type Instant, never } from "../../core/model/time.ts";

/** How long a lease lasts from its grant on, given that it has lasted for so long. */
export type DrawHold = (lease: Lease, ageMs: number) => number;

interface GivingBack {
  readonly id: RequestId;
  dueAt: Instant;
  heapIndex: number;
}

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
  decide(state, { type: "give-grace" }, now);
  const ends = new DueHeap<GivingBack>();
  const expectEnd = (lease: Lease, ageMs: number, from: Instant) => {
    const holdMs = drawHold(lease, ageMs);
    if (Number.isFinite(holdMs)) giveBackAt(ends, lease.id, after(from, holdMs));
  };
  for (const lease of state.leases.values()) {
    expectEnd(lease, now - lease.grantedAt, lease.grantedAt);
  }
  const grants = new Map<RequestId, Instant>();
  let at = now;
  while (state.requests.size > 0) {
    at = latest(at, earliest(ends.first()?.dueAt ?? never, nextDueAt(state) ?? never));
    if (at === never) break;
    for (const event of nextEvents(state, ends, at)) {
      if (event.type !== "lease-granted") continue;
      grants.set(event.id, at);
      const lease = state.leases.get(event.id);
      if (lease !== undefined) expectEnd(lease, 0, at);
    }
  }
  return grants;
}

/** What is due by itself comes before what somebody does at the same moment, as in the broker. */
function nextEvents(state: State, ends: DueHeap<GivingBack>, at: Instant): readonly BrokerEvent[] {
  const dueAt = nextDueAt(state);
  if (dueAt !== undefined && dueAt <= at) return decide(state, { type: "tick" }, at).events;
  const end = ends.first();
  if (end === undefined) return [];
  ends.clear(end);
  return decide(state, { type: "release", id: end.id }, at).events;
}

function giveBackAt(ends: DueHeap<GivingBack>, id: RequestId, dueAt: Instant): void {
  ends.set({ id, dueAt: never, heapIndex: -1 }, dueAt);
}

function latest(a: Instant, b: Instant): Instant {
  return a >= b ? a : b;
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
