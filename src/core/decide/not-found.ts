/** Refusals for unknown names and ids, with the nearest known name. */
import type { PoolName, RequestId, ResourceName } from "../model/ids.ts";
import { nearest } from "../model/nearest.ts";
import type { Refusal } from "../model/outcome.ts";
import type { Revoked, State } from "../model/state.ts";

/** The maximum number of names in an error message. */
const knownMax = 10;

export function poolNotFound(state: State, pool: PoolName): Refusal {
  const known = [...state.pools.values()].filter(({ retired }) => !retired).map(({ name }) => name);
  const meant = nearest(pool, known) as PoolName | undefined;
  return {
    code: "pool_not_found",
    pool,
    known: known.slice(0, knownMax),
    ...(meant === undefined ? undefined : { nearest: meant }),
  };
}

export function resourceNotFound(state: State, resource: ResourceName): Refusal {
  const meant = nearest(resource, state.resources.keys()) as ResourceName | undefined;
  const hint = meant === undefined ? undefined : { nearest: meant };
  return { code: "resource_not_found", resource, ...hint };
}

/** Refuses an id that has no waiting request. */
export function requestNotFound(state: State, id: RequestId): Refusal {
  const ended = state.ended.get(id);
  if (ended === undefined) return { code: "request_not_found", id };
  return { code: "request_ended", id, how: ended.how, endedAt: ended.at };
}

/** Refuses an id that has no lease. */
export function leaseNotFound(state: State, id: RequestId): Refusal {
  if (state.requests.has(id)) return { code: "lease_not_granted", id };
  const ended = state.ended.get(id);
  if (ended === undefined) return { code: "lease_not_found", id };
  return { code: "lease_ended", id, how: ended.how, endedAt: ended.at };
}

/** Refuses a command on a lease that an operator has revoked. */
export function leaseRevoked(id: RequestId, { at, reason }: Revoked): Refusal {
  return { code: "lease_ended", id, how: "revoked", endedAt: at, reason };
}
