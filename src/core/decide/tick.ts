import { speedUp } from "../gates/adaptive.ts";
import { must } from "../model/must.ts";
import { done, type Outcome } from "../model/outcome.ts";
import type { Due, Lease, Pool, Resource } from "../model/state.ts";
import { reserveFor } from "../shared/reserve.ts";
import { deleteResource, markForDeletion } from "./dynamic.ts";
import { endClaim, endLease, serveAll } from "./return-resource.ts";
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
      return endClaim(turn, due, { why: "hold" }, touched);
    case "request":
      emit(turn, { type: "request-left", id: due.id, why: "abandoned" });
      for (const { pool } of due.needs) touched.add(pool);
      return;
    case "pool":
      speedUp(turn, due);
      emit(turn, { type: "pool-attended", pool: due.name });
      touched.add(due);
      return;
    case "patience":
      return reserveFor(turn, must(turn.state.requests.get(due.request), due.request));
    case "resource":
      touched.add(due.pool);
      return attendResource(turn, due, touched);
  }
}

function attendResource(turn: Turn, resource: Resource, touched: Set<Pool>): void {
  const { name: resourceName, restsTo, restsUntil } = resource;
  if (restsUntil <= turn.now) {
    emit(turn, { type: "resource-rested", resource: resourceName, state: restsTo });
  } else if (resource.leaving) {
    deleteResource(turn, resource, touched);
  } else {
    markForDeletion(turn, resource);
  }
}

function whyDue(turn: Turn, lease: Lease): "lifetime" | "expired" | "uncollected" {
  if (lease.endsAt <= turn.now) return "lifetime";
  return lease.delivered ? "expired" : "uncollected";
}
