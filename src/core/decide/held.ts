/**
 * Commands of holders without a token: a Boskos client names itself and the resource. These
 * commands never change a lease that has a token, even if the name matches.
 */

import { leaseView } from "../explain/view.ts";
import { unmetDemandOf } from "../gates/credits.ts";
import { chargesFor, closedBy, lacksOnlyCredits } from "../gates/gates.ts";
import type { Ask, HeldCommand } from "../model/command.ts";
import { changedEntries } from "../model/entries.ts";
import {
  type ClaimId,
  hiddenHolder,
  type RequestId,
  type ResourceName,
  type SpaceName,
} from "../model/ids.ts";
import { freeState, purposeOf, reservedStates } from "../model/lifecycle.ts";
import { done, type Outcome, type Refusal, refused } from "../model/outcome.ts";
import { aheadOfAll } from "../model/rank.ts";
import { spaceOf } from "../model/space.ts";
import {
  type Claim,
  type ExclusiveResource,
  exclusiveClaim,
  type Resource,
  type Revoked,
  type State,
} from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { refuseUserData } from "./change-resource.ts";
import { lastFence } from "./fence.ts";
import { refuseHolderState, refuseState } from "./refuse-state.ts";
import { endLease } from "./release.ts";
import { settleEarly } from "./settle.ts";
import { refuseSpace } from "./space-rules.ts";
import { emit, type Turn } from "./turn.ts";

type Held<Type extends HeldCommand["type"]> = Extract<HeldCommand, { type: Type }>;

/**
 * Takes named resources, ahead of all waiting requests that cannot be granted now, and only through
 * open gates. A gate may have opened just now: then the requests that waited for it go first.
 */
export function take(turn: Turn, command: Held<"take">): Outcome {
  const { state, now } = turn;
  const { resources: names, state: from, into } = command;
  settleEarly(turn, poolsOf(state, names));
  const ready = names.flatMap((name) => {
    const resource = state.resources.get(name);
    const isReady = resource?.sharing === "exclusive" && resource.bucket?.state === from;
    // Only a worker holds a cluster that is not ready, and never by name.
    if (isReady && resource.cluster !== null && from !== freeState) return [];
    return isReady ? [resource] : [];
  });
  if (ready.length < names.length) {
    const missing = names.filter((name) => !ready.some((resource) => resource.name === name));
    return refused({ code: "not_all_free", resources: missing, state: from });
  }
  const [notAllowed] = ready.flatMap(({ pool }) => refuseState(pool, into) ?? []);
  if (notAllowed !== undefined) return refused(notAllowed);
  const needs = ready.map(({ pool }) => useOf(pool, from, into));
  const space = spaceOf(state, command.space);
  const items = ready.map(({ pool }) => ({ pool: pool.name, count: 1 }));
  const refusal = refuseSpace(state, space, { holder: command.holder, items });
  if (refusal !== undefined) return refused(refusal);
  const attempt = { needs, rank: { ...aheadOfAll, space }, now };
  const closed = closedBy(attempt);
  if (closed !== null) {
    if (lacksOnlyCredits(attempt)) for (const event of unmetDemandOf(needs, now)) emit(turn, event);
    return refused({ code: "none_free", pool: closed.name });
  }
  const ids = longestIdleFirst(ready).map((resource, index) => {
    const id = command.ids[index];
    if (id === undefined) throw new Error(`Cannot take ${resource.name}: no id`);
    takeOne(turn, resource, id, command);
    return id;
  });
  const leases = ids.flatMap((id) => state.leases.get(id) ?? []);
  return { type: "taken", leases: leases.map(leaseView) };
}

function poolsOf({ resources }: State, names: readonly ResourceName[]): Set<Resource["pool"]> {
  return new Set(names.flatMap((name) => resources.get(name)?.pool ?? []));
}

function useOf(pool: Resource["pool"], state: string, heldState: string) {
  return { pool, state, purpose: purposeOf({ into: heldState }), count: 1 };
}

function takeOne(
  turn: Turn,
  { name, pool }: ExclusiveResource,
  id: RequestId,
  { holder, space, state: from, into }: Held<"take">,
): void {
  const item = { pool: pool.name, count: 1, state: from, into };
  const whose = space === undefined ? { holder } : { holder, space };
  const ask = { ...whose, items: [item], ttlMs: null, byName: true as const };
  const fence = lastFence(turn.state, turn.now) + 1;
  const claim = { id: "1" as ClaimId, resource: name, fence, into };
  const charges = chargesFor([useOf(pool, from, into)], id, turn.now);
  emit(turn, { type: "lease-granted", id, ask, claims: [claim], ...charges });
}

/** Sorts resources into the order in which single requests would get them. */
function longestIdleFirst(resources: readonly ExclusiveResource[]): readonly ExclusiveResource[] {
  const places = new Map<Resource, number>();
  for (const bucket of new Set(resources.map((resource) => resource.bucket))) {
    for (const resource of bucket?.idle ?? []) places.set(resource, places.size);
  }
  const placeOf = (resource: Resource) => places.get(resource) ?? 0;
  return resources.toSorted((a, b) => a.changedAt - b.changedAt || placeOf(a) - placeOf(b));
}

export function renewHeld(turn: Turn, command: Held<"renew-held">): Outcome {
  const claim = heldBy(turn, command);
  if ("code" in claim) return refused(claim);
  const { resource, lease } = claim;
  if (lease.revoked !== null) return refused(revokedFrom(claim, lease.revoked));
  if (resource.state !== command.state) {
    const { state, name } = resource;
    return refused({ code: "state_differs", resource: name, state, claimed: command.state });
  }
  const userDataChanges = sameEntries(claim.given, command.userData)
    ? undefined
    : changedEntries(resource.userData, command.userData);
  const refusal = refuseUserData(resource, userDataChanges);
  if (refusal !== undefined) return refused(refusal);
  // A holder that sends a heartbeat has received the lease, even if the reply seemed lost.
  if (!lease.delivered) emit(turn, { type: "lease-delivered", id: lease.id, delivered: true });
  emit(turn, { type: "lease-renewed", id: lease.id });
  if (userDataChanges !== undefined) {
    emit(turn, { type: "resource-changed", resource: resource.name, userDataChanges });
  }
  return done;
}

/** Accepts a second release by the last holder, because the first reply may have been lost. */
export function releaseHeld(turn: Turn, command: Held<"release-held">): Outcome {
  if (reservedStates.includes(command.state)) {
    return refused({ code: "state_reserved", state: command.state });
  }
  const claim = heldBy(turn, command);
  const refuse = command.asHolder ? refuseHolderState : refuseState;
  const notAllowed = "code" in claim ? undefined : refuse(claim.resource.pool, command.state);
  if (notAllowed !== undefined) return refused(notAllowed);
  if ("code" in claim) {
    const lost = claim.code === "not_its_holder" ? claim.lost : undefined;
    const again = lost?.how === "released" && lost.state === command.state;
    return again ? done : refused(claim);
  }
  const { revoked } = claim.lease;
  const { state } = command;
  if (revoked === null) endLease(turn, claim.lease, { why: "released", state });
  else endLease(turn, claim.lease, { why: "revoked", confirmed: true, reason: revoked.reason });
  return done;
}

function revokedFrom({ resource, lease }: Claim, { at }: Revoked): Refusal {
  const { holder } = lease.ask;
  const lost = { holder, how: "revoked", state: resource.state, at } as const;
  return {
    code: "not_its_holder",
    resource: resource.name,
    by: holder,
    holder: "",
    lost,
    needsToken: false,
  };
}

/** Ends the leases of holders that sent nothing for `silentMs`. */
export function reset(turn: Turn, command: Held<"reset">): Outcome {
  if (reservedStates.includes(command.to)) {
    return refused({ code: "state_reserved", state: command.to });
  }
  const pool = turn.state.pools.get(command.pool);
  const notAllowed = pool && refuseState(pool, command.to);
  if (notAllowed !== undefined) return refused(notAllowed);
  const claims = [...(pool?.members ?? [])].flatMap((resource) => {
    const claim = exclusiveClaim(resource);
    return claim !== null && isSilent(claim, command, turn.now) ? [claim] : [];
  });
  const holders = claims.map(({ resource, lease }) => [resource.name, lease.ask.holder] as const);
  for (const { lease } of claims) endLease(turn, lease, { why: "reset", state: command.to });
  return { type: "reset", holders: new Map(holders) };
}

function isSilent(
  { lease, resource }: Claim,
  { state, silentMs }: Held<"reset">,
  now: Instant,
): boolean {
  return lease.ask.byName === true && resource.state === state && now - lease.seenAt >= silentMs;
}

/**
 * Some clients send the user data that they got with every heartbeat. This must not undo later
 * changes.
 */
function sameEntries(
  given: Readonly<Record<string, string>>,
  sent: Readonly<Record<string, string | null>> = {},
): boolean {
  const keys = Object.keys(sent);
  return keys.length === Object.keys(given).length && keys.every((key) => given[key] === sent[key]);
}

function heldBy(
  { state }: Turn,
  { resource: name, holder, space, lease: id }: Held<"renew-held"> | Held<"release-held">,
): Claim | Refusal {
  const resource = state.resources.get(name);
  // Does not search for the nearest name: replies to Boskos clients have no field for it.
  if (resource === undefined) return { code: "resource_not_found", resource: name };
  const claim = exclusiveClaim(resource);
  const { last } = resource;
  const current = claim?.lease.ask;
  const meant = id === undefined || claim?.lease.id === id;
  if (claim !== null && isOwner(current, holder, space) && current?.byName && meant) return claim;
  return {
    code: "not_its_holder",
    resource: name,
    by: holder,
    holder: current === undefined ? "" : shownHolder(current, space),
    ...(last !== null && isOwner(last, holder, space) ? { lost: last } : undefined),
    needsToken: isOwner(current, holder, space) && !current?.byName,
  };
}

function shownHolder(ask: Ask, space: SpaceName | undefined): string {
  const isKnown = space === undefined || ask.space === undefined || ask.space === space;
  return isKnown ? ask.holder : hiddenHolder;
}

/**
 * The same name in another space is another holder. Without a space the name is enough, and so it is
 * for a lease from before the server had authentication: its job must be able to keep it.
 */
function isOwner(
  ask: Pick<Ask, "holder" | "space"> | undefined,
  holder: string,
  space: SpaceName | undefined,
): boolean {
  if (ask === undefined || ask.holder !== holder) return false;
  return space === undefined || ask.space === undefined || ask.space === space;
}
