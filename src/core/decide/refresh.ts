/**
 * Releases a lease and queues the same ask again, at the end of the queue, in one decision. A job
 * does this before it retries. No waiting request is overtaken, and a retry after a lost reply
 * never leads to two leases.
 */

import type { Ask, Command, Item } from "../model/command.ts";
import type { PoolName } from "../model/ids.ts";
import { type Refusal, refused } from "../model/outcome.ts";
import { spaceOf } from "../model/space.ts";
import type { Lease, Pool, State } from "../model/state.ts";
import { poolsOf } from "../queue/needs.ts";
import { acquire, cannotJoin, possibleWants } from "./acquire.ts";
import type { Answer } from "./decide.ts";
import { leaseNotFound, leaseRevoked } from "./not-found.ts";
import { endClaim, endLease } from "./release.ts";
import { settleEarly } from "./settle.ts";
import { refuseSpace, refuseToWait } from "./space-rules.ts";
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
  const wanted = items.filter((item) => name === undefined || isFrom(item, name, lease));
  if (name !== undefined && wanted.length === 0) {
    return refused({ code: "pool_not_in_lease", id, pool: name });
  }
  const ask: Ask = { ...rest, items: wanted, ...(key === undefined ? undefined : { key }) };
  // A known key means that this command is a retry, or that the key belongs to another request.
  const isNew = key === undefined || !turn.state.keys.has(key);
  if (isNew) {
    const refusal = refuseAsk(turn.state, ask);
    if (refusal !== undefined) return refused(refusal); // Nothing is released.
    releaseClaims(turn, lease, wanted.length === items.length ? undefined : name);
    settleEarly(turn);
  }
  return acquire(turn, { type: "acquire", id: next, ask, waitMs });
}

/**
 * Whether an item was taken from the pool. A hold may have ended its claim already; of several pools
 * the item was taken from the one that the lease has a claim in.
 */
function isFrom(item: Item, pool: PoolName, { claims }: Lease): boolean {
  if (item.anyOf === undefined) return item.pool === pool;
  return poolsOf(item).includes(pool) && claims.some((one) => one.resource.pool.name === pool);
}

/** Everything for which `acquire` would refuse the ask. */
function refuseAsk(state: State, ask: Ask): Refusal | undefined {
  const space = spaceOf(state, ask.space);
  const refusal = refuseSpace(state, space, ask) ?? cannotJoin(state, ask);
  if (refusal !== undefined) return refusal;
  const wants = possibleWants(state, ask);
  return "code" in wants ? wants : refuseToWait(space, ask, wants.needs);
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
