/**
 * Releases a lease and queues the same ask again, at the end of the queue, in one decision. A job
 * does this before it retries. No waiting request is overtaken, and a retry after a lost reply
 * never leads to two leases.
 */

import type { Ask, Command } from "../model/command.ts";
import { refused } from "../model/outcome.ts";
import type { Lease, Pool } from "../model/state.ts";
import { poolsOf } from "../queue/needs.ts";
import { acquire, possibleWants } from "./acquire.ts";
import type { Answer } from "./decide.ts";
import { leaseNotFound, leaseRevoked } from "./not-found.ts";
import { endClaim, endLease } from "./release.ts";
import { settle } from "./settle.ts";
import type { Turn } from "./turn.ts";

type Refresh = Extract<Command, { type: "refresh" }>;

export function refresh(turn: Turn, command: Refresh): Answer {
  const { id, next, key, pool: name, waitMs } = command;
  const lease = turn.state.leases.get(id);
  if (lease === undefined) return again(turn, command) ?? refused(leaseNotFound(turn.state, id));
  if (lease.revoked !== null) return refused(leaseRevoked(id, lease.revoked));
  if (key !== undefined && lease.ask.key === key) {
    return refused({ code: "request_id_reused", key, id });
  }
  const { key: _, items, ...rest } = lease.ask;
  const wanted = items.filter((item) => name === undefined || poolsOf(item).includes(name));
  if (name !== undefined && wanted.length === 0) {
    return refused({ code: "pool_not_in_lease", id, pool: name });
  }
  const ask: Ask = { ...rest, items: wanted, ...(key === undefined ? undefined : { key }) };
  // A known key means that this command is a retry, or that the key belongs to another request.
  const isNew = key === undefined || !turn.state.keys.has(key);
  if (isNew) {
    const wants = possibleWants(turn.state, ask);
    if ("code" in wants) return refused(wants); // Nothing is released.
    releaseClaims(turn, lease, wanted.length === items.length ? undefined : name);
    settle(turn); // Waiting requests are granted first.
  }
  return acquire(turn, { type: "acquire", id: next, ask, waitMs });
}

/** Answers a retry: the first refresh ended the lease, and its reply was lost. */
function again(turn: Turn, { key, waitMs, next }: Refresh): Answer | undefined {
  const known = key === undefined ? undefined : turn.state.keys.get(key);
  const found =
    known === undefined
      ? undefined
      : (turn.state.requests.get(known) ?? turn.state.leases.get(known));
  if (found === undefined) return undefined;
  return acquire(turn, { type: "acquire", id: next, ask: found.ask, waitMs });
}

/** Releases the whole lease, or only its claims in one pool. */
function releaseClaims(turn: Turn, lease: Lease, pool: Pool["name"] | undefined): void {
  if (pool === undefined) endLease(turn, lease, { why: "released" });
  for (const claim of lease.claims) {
    if (claim.resource.pool.name === pool) endClaim(turn, claim, { why: "released" });
  }
}
