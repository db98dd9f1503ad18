/**
 * What may be done by whoever knows a holder's name: how Boskos's clients speak of their leases. A
 * lease that has a token is left alone here, whatever name is given.
 */

import { leaseView } from "../explain/view.ts";
import { admittedBy, lackingCredit, noteUnmetDemand } from "../gates/credits.ts";
import { exceeded } from "../gates/limits.ts";
import { closedFor, pacedBy } from "../gates/pace.ts";
import type { HeldCommand } from "../model/command.ts";
import type { ClaimId } from "../model/ids.ts";
import { done, type Outcome, refused } from "../model/outcome.ts";
import type { Refusal } from "../model/refusal.ts";
import type { Claim, Pool, Resource } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { entriesMax, merged } from "./change-resource.ts";
import { endLease, serveAll } from "./return-resource.ts";
import { emit, type Turn } from "./turn.ts";

type Held<Type extends HeldCommand["type"]> = Extract<HeldCommand, { type: Type }>;

export function take(turn: Turn, command: Held<"take">): Outcome {
  const { state } = turn;
  const { resources, state: from, into, holder, ids } = command;
  const there = resources.flatMap((name) => state.resources.get(name) ?? []);
  const ready = there.filter(({ bucket }) => bucket?.state === from);
  if (ready.length < resources.length) {
    const missing = resources.filter((name) => !ready.some((resource) => resource.name === name));
    return refused({ code: "not_all_free", resources: missing, state: from });
  }
  const useOf = ({ pool }: Resource) => ({ pool, state: from, into, count: 1 });
  const uses = ready.map(useOf);
  const [shut] = [...exceeded(uses), ...uses.flatMap((use) => closedFor(use, turn.now) ?? [])];
  if (shut !== undefined) return refused({ code: "none_free", pool: shut.name });
  const [withheld] = lackingCredit(uses, turn.now).keys();
  if (withheld !== undefined) {
    noteUnmetDemand(uses, turn.now);
    return refused({ code: "none_free", pool: withheld.name });
  }
  const leases = untouchedFirst(ready).map((resource, index) => {
    const { name, pool } = resource;
    const id = ids[index];
    if (id === undefined) throw new Error(`Cannot take ${name}: no id`);
    const item = { pool: pool.name, count: 1, state: from, into };
    const ask = { holder, items: [item], ttlMs: null, byName: true as const };
    const claim = { id: "1" as ClaimId, resource: name, fence: state.fence + 1, into };
    const used = { ...pacedBy([useOf(resource)], id, turn.now), ...admittedBy([useOf(resource)]) };
    emit(turn, { type: "lease-granted", id, ask, claims: [claim], ...used });
    return id;
  });
  const granted = leases.flatMap((id) => state.leases.get(id) ?? []);
  return { type: "taken", leases: granted.map(leaseView) };
}

/** In the order in which they would be lent, one by one. */
function untouchedFirst(resources: readonly Resource[]): readonly Resource[] {
  const places = new Map<Resource, number>();
  for (const shelf of new Set(resources.map((resource) => resource.bucket))) {
    for (const resource of shelf?.idle ?? []) places.set(resource, places.size);
  }
  const placeOf = (resource: Resource) => places.get(resource) ?? 0;
  return resources.toSorted((a, b) => a.changedAt - b.changedAt || placeOf(a) - placeOf(b));
}

export function renewHeld(turn: Turn, command: Held<"renew-held">): Outcome {
  const claim = heldBy(turn, command);
  if ("code" in claim) return refused(claim);
  const { resource, lease } = claim;
  if (resource.state !== command.state) {
    const { state, name } = resource;
    return refused({ code: "state_differs", resource: name, state, claimed: command.state });
  }
  const userData = sameEntries(claim.given, command.userData)
    ? resource.userData
    : merged(resource.userData, command.userData);
  if (userData !== resource.userData && Object.keys(userData).length > entriesMax) {
    const { name } = resource;
    return refused({
      code: "too_many_entries",
      resource: name,
      what: "user data",
      max: entriesMax,
    });
  }
  // Who speaks of it knows of it, whatever became of the reply that told so.
  if (!lease.delivered) emit(turn, { type: "lease-delivered", id: lease.id, delivered: true });
  emit(turn, { type: "lease-renewed", id: lease.id });
  if (userData !== resource.userData) {
    emit(turn, { type: "resource-changed", resource: resource.name, userData });
  }
  return done;
}

/** Giving back once more what one gave back last is fine: the first reply may have been lost. */
export function releaseHeld(turn: Turn, command: Held<"release-held">): Outcome {
  const claim = heldBy(turn, command);
  if ("code" in claim) {
    const lost = claim.code === "not_its_holder" ? claim.lost : undefined;
    const again = lost?.how === "released" && lost.state === command.state;
    return again ? done : refused(claim);
  }
  const touched = new Set<Pool>();
  endLease(turn, claim.lease, { why: "released", state: command.state }, touched);
  serveAll(turn, touched);
  return done;
}

/** Takes back what silent holders have, whoever they are: they asked by name and sent no word. */
export function reset(turn: Turn, command: Held<"reset">): Outcome {
  const pool = turn.state.pools.get(command.pool);
  const touched = new Set<Pool>();
  const silent = pool === undefined ? [] : [...pool.members].filter(isSilent(turn.now, command));
  const holders = silent.map(({ name, claim }) => [name, claim?.lease.ask.holder ?? ""] as const);
  for (const { claim } of silent) {
    if (claim !== null) endLease(turn, claim.lease, { why: "reset", state: command.to }, touched);
  }
  serveAll(turn, touched);
  return { type: "reset", holders: new Map(holders) };
}

function isSilent(now: Instant, { state, silentMs }: Held<"reset">) {
  return ({ claim, state: actual }: Resource): boolean =>
    claim?.lease.ask.byName === true && actual === state && now - claim.lease.seenAt >= silentMs;
}

/**
 * Some clients send back with every heartbeat what they were given: that is no wish to undo what has
 * been changed since.
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
  { resource: name, holder, lease: id }: Held<"renew-held"> | Held<"release-held">,
): Claim | Refusal {
  const resource = state.resources.get(name);
  // Boskos has no words for what may have been meant, and clients that go on asking for what is gone.
  if (resource === undefined) return { code: "resource_not_found", resource: name };
  const { claim, last } = resource;
  const current = claim?.lease.ask;
  const meant = id === undefined || claim?.lease.id === id;
  if (claim !== null && current?.holder === holder && current.byName && meant) return claim;
  return {
    code: "not_its_holder",
    resource: name,
    by: holder,
    holder: current?.holder ?? "",
    ...(last?.holder === holder ? { lost: last } : undefined),
    needsToken: current?.holder === holder && !current.byName,
  };
}
