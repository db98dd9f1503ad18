/**
 * Gives back and asks again, at the end of the line, in one decision: what a job does before it tries
 * once more. Nobody who waits is passed by, and no answer that is lost on the way leaves it with two.
 */

import type { Ask, Command } from "../model/command.ts";
import { type Outcome, refused } from "../model/outcome.ts";
import type { Lease, Pool } from "../model/state.ts";
import { poolsOf } from "../queue/alternatives.ts";
import { acquire, waysFor } from "./acquire.ts";
import { noLease } from "./release.ts";
import { endClaim, endLease, serveAll } from "./return-resource.ts";
import type { Turn } from "./turn.ts";

type Refresh = Extract<Command, { type: "refresh" }>;

export function refresh(turn: Turn, command: Refresh): Outcome {
  const { id, next, key, pool: name, waitMs } = command;
  const lease = turn.state.leases.get(id);
  if (lease === undefined) return again(turn, command) ?? refused(noLease(turn.state, id));
  if (key !== undefined && lease.ask.key === key) {
    return refused({ code: "request_id_reused", key, id });
  }
  const { key: _, items, ...rest } = lease.ask;
  const wanted = items.filter((item) => name === undefined || poolsOf(item).includes(name));
  if (name !== undefined && wanted.length === 0) {
    return refused({ code: "pool_not_in_lease", id, pool: name });
  }
  const ask: Ask = { ...rest, items: wanted, ...(key === undefined ? undefined : { key }) };
  // A key that is known already means that this was asked before, or that it is another's.
  const isNew = key === undefined || !turn.state.keys.has(key);
  if (isNew) {
    const ways = waysFor(turn.state, ask);
    if ("code" in ways) return refused(ways); // It could never be had again: nothing is given back.
    giveBack(turn, lease, wanted.length === items.length ? undefined : name);
  }
  return acquire(turn, { type: "acquire", id: next, ask, waitMs });
}

/** The lease is gone because this was asked before; its answer was lost. */
function again(turn: Turn, { key, waitMs, next }: Refresh): Outcome | undefined {
  const known = key === undefined ? undefined : turn.state.keys.get(key);
  const found =
    known === undefined
      ? undefined
      : (turn.state.requests.get(known) ?? turn.state.leases.get(known));
  if (found === undefined) return undefined;
  return acquire(turn, { type: "acquire", id: next, ask: found.ask, waitMs });
}

/** All of it, or what it has of one pool while the rest goes on. */
function giveBack(turn: Turn, lease: Lease, pool: Pool["name"] | undefined): void {
  const touched = new Set<Pool>();
  if (pool === undefined) endLease(turn, lease, { why: "released" }, touched);
  for (const claim of lease.claims) {
    if (claim.resource.pool.name === pool) endClaim(turn, claim, { why: "released" }, touched);
  }
  serveAll(turn, touched);
}
