import { endClaim, endLease, serveAll } from "./come-back.ts";
import { done, type Outcome } from "./outcome.ts";
import type { Due, Lease, Pool } from "./state.ts";
import { emit, type Turn } from "./turn.ts";

/**
 * Does all that is due, in order of time, and only then lends what came free: so nothing is lent
 * to a waiter that has gone away.
 */
export function tick(turn: Turn): Outcome {
  const touched = new Set<Pool>();
  for (let due = turn.state.due.first(); due !== undefined; due = turn.state.due.first()) {
    if (due.dueAt > turn.now) break;
    attend(turn, due, touched);
  }
  serveAll(turn, touched);
  return done;
}

function attend(turn: Turn, due: Due, touched: Set<Pool>): void {
  switch (due.kind) {
    case "lease":
      return endLease(turn, due, { why: whyDue(turn, due) }, touched);
    case "claim":
      return endClaim(turn, due, "hold", touched);
    case "request":
      emit(turn, { type: "request-left", id: due.id, why: "abandoned" });
      for (const { pool } of due.needs) touched.add(pool);
      return;
    case "resource":
      emit(turn, { type: "resource-rested", resource: due.name, state: due.restsTo });
      touched.add(due.pool);
      return;
  }
}

function whyDue(turn: Turn, lease: Lease): "lifetime" | "expired" {
  return lease.endsAt <= turn.now ? "lifetime" : "expired";
}
