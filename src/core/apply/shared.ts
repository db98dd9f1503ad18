/**
 * Shared resources and their indexes: use, owners of parts, reservations, and the order of the
 * pool's strategy.
 */
import type { KeptRoom } from "../model/event.ts";
import { ruleOf } from "../model/lifecycle.ts";
import type {
  Claim,
  Pool,
  Request,
  Resource,
  SharedClaim,
  SharedResource,
} from "../model/state.ts";
import { never } from "../model/time.ts";
import { groupOwner } from "../queue/needs.ts";
import { effectiveCapacity } from "../shared/placement/overcommit.ts";
import type {
  Amounts,
  CapacitySpec,
  Level,
  Part,
  Reservation,
} from "../shared/placement/shareable.ts";
import { standingKey } from "../shared/placement/strategy.ts";
import { edit } from "./edit.ts";

/** Sets or changes the capacity of a resource. Its claims keep their amounts. */
export function setCapacity(resource: SharedResource, spec: CapacitySpec): void {
  resource.pool.cache.capacities = null;
  unlist(resource);
  detachParts(resource);
  const writable = edit(resource);
  writable.spec = spec;
  writable.order = spec.index;
  writable.levels = levelsOf(spec, resource.claims);
  writable.parts = partsOf(resource.pool, spec);
  attachParts(resource);
}

function levelsOf(spec: CapacitySpec, claims: Iterable<SharedClaim>): Level[] {
  const used = new Map<string, number>();
  for (const { amount } of claims) {
    for (const name in amount) used.set(name, (used.get(name) ?? 0) + (amount[name] ?? 0));
  }
  return Object.entries(spec.capacity).map(([name, amount]) => {
    const capacity = effectiveCapacity(amount, spec.overcommit?.[name]);
    return { name, capacity, used: used.get(name) ?? 0 };
  });
}

function partsOf(pool: Pool, { parts = {} }: CapacitySpec): Map<string, Part[]> {
  return new Map(
    Object.entries(parts).map(([kind, names]) => {
      return [kind, names.map((name) => partFor(pool, kind, name))];
    }),
  );
}

/** Returns the part of this name. It may exist already: on another resource, or in use. */
export function partFor(pool: Pool, kind: string, name: string): Part {
  const key = `${kind}/${name}`;
  let part = pool.parts.get(key);
  if (part === undefined) {
    const facts = { apart: undefined, attributes: {}, owner: null, uses: 0, reservedFor: [] };
    part = { kind, name, ...facts, resources: new Set() };
    edit(pool.parts).set(key, part);
    describePart(pool, part);
  }
  return part;
}

function describePart({ policy }: Pool, part: Part): void {
  const kind = policy.placement?.parts?.[part.kind];
  const attributes = kind?.members[part.name] ?? {};
  const value = kind?.apart === undefined ? undefined : attributes[kind.apart];
  edit(part).attributes = attributes;
  edit(part).apart = value === undefined ? undefined : String(value);
}

/** Updates parts and order after a change of the pool's policy. */
export function rearrange(pool: Pool): void {
  for (const part of pool.parts.values()) describePart(pool, part);
  for (const resource of pool.members) {
    if (resource.sharing === "shared") relist(resource);
  }
}

function attachParts(resource: SharedResource): void {
  for (const part of [...resource.parts.values()].flat()) edit(part.resources).add(resource);
}

function detachParts(resource: SharedResource): void {
  for (const part of [...resource.parts.values()].flat()) {
    edit(part.resources).delete(resource);
    removeIfUnused(resource.pool, part);
  }
}

function removeIfUnused(pool: Pool, { kind, name, resources, uses }: Part): void {
  if (resources.size === 0 && uses === 0) edit(pool.parts).delete(`${kind}/${name}`);
}

/** Removes a shared resource from its pool's indexes. */
export function removeShared(resource: SharedResource): void {
  unlist(resource);
  detachParts(resource);
}

/** Adds a resource to its pool's index if it is usable, and removes it otherwise. */
export function listIfUsable(resource: SharedResource): void {
  const { listed } = resource;
  const { state, drained, retired, restsUntil } = resource;
  const usable = ruleOf(state).lendable && !drained && !retired && restsUntil === never;
  if (!usable) return unlist(resource);
  if (listed) markFreed(resource);
  else list(resource);
}

function list(resource: SharedResource): void {
  const { pool } = resource;
  const writable = edit(resource);
  writable.standing = standingOf(resource);
  writable.listed = true;
  edit(pool.shared).add(resource);
  pool.cache.triedReservations = false;
  markFreed(resource);
}

function standingOf(resource: SharedResource): number {
  return standingKey(resource.pool.policy.placement?.strategy ?? "least-used", resource);
}

/** Removes a resource from the index. Requests with a reservation on it need another one. */
function unlist(resource: SharedResource): void {
  if (!resource.listed) return;
  const { pool } = resource;
  edit(pool.shared).remove(resource);
  const writable = edit(resource);
  writable.listed = false;
  writable.standing = 0;
  pool.cache.freed.delete(resource);
  for (const { by } of resource.reservations) dropReservations(by as Request);
}

function relist(resource: SharedResource): void {
  if (!resource.listed) return;
  edit(resource.pool.shared).remove(resource);
  list(resource);
}

/** Marks a resource, so that waiting requests are evaluated against it again. */
function markFreed(resource: SharedResource): void {
  resource.pool.cache.freed.add(resource);
}

/** Adds a claim to its resource, or removes it. The caller updates the counts of the pool. */
export function charge(resource: SharedResource, claim: SharedClaim, by: 1 | -1): void {
  const { pool } = resource;
  const writable = edit(resource);
  if (resource.listed) edit(pool.shared).remove(resource);
  if (by === 1) edit(resource.claims).add(claim);
  else edit(resource.claims).delete(claim);
  for (const level of resource.levels) edit(level).used += by * (claim.amount[level.name] ?? 0);
  for (const part of claim.parts) own(pool, part, claim, by);
  for (const reservation of resource.reservations) {
    if (claim.fence <= reservation.since) continue;
    noteTaken(reservation, claim.amount, by);
    // There is more room next to the reservation, so another impatient request may get one here.
    if (by === -1) pool.cache.triedReservations = false;
  }
  writable.lastFence = Math.max(resource.lastFence, claim.fence);
  if (!resource.listed) return;
  writable.standing = standingOf(resource);
  edit(pool.shared).add(resource);
  if (by === -1) markFreed(resource);
}

function noteTaken({ taken }: Reservation, amount: Amounts, by: 1 | -1): void {
  const counts = edit(taken);
  for (const name in amount) {
    const count = (counts.get(name) ?? 0) + by * (amount[name] ?? 0);
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  }
}

function own(pool: Pool, part: Part, { lease }: Claim, by: 1 | -1): void {
  const writable = edit(part);
  writable.uses += by;
  if (by === 1) {
    writable.owner = ownerOf(lease);
  } else if (part.uses === 0) {
    writable.owner = null;
    for (const other of part.resources) pool.cache.freed.add(other);
    removeIfUnused(pool, part);
  }
}

/** The owner of a part: one lease, or all leases of a group. */
function ownerOf({ id, ask }: Pick<Claim["lease"], "id" | "ask">): string {
  return ask.group === undefined ? id : groupOwner(ask.group.name);
}

/** Reserves room for an impatient request, and replaces its earlier reservations. */
export function setReservations(
  request: Request,
  reservations: readonly KeptRoom[],
  resourceOf: (name: KeptRoom["resource"]) => Resource,
): void {
  dropReservations(request);
  edit(request).reservations = reservations;
  for (const { resource: name, amount, since, parts = {} } of reservations) {
    const resource = resourceOf(name);
    if (resource.sharing === "exclusive") continue;
    const one = { by: request, since, amounts: Object.entries(amount), taken: new Map() };
    for (const claim of resource.claims) if (claim.fence > since) noteTaken(one, claim.amount, 1);
    // Sorted by arrival, which never changes, so that a snapshot has them in the same order.
    edit(resource).reservations = [...resource.reservations, one].sort((a, b) => {
      return a.by.order - b.by.order;
    });
    for (const [kind, names] of Object.entries(parts)) {
      for (const partName of names) {
        const part = partFor(resource.pool, kind, partName);
        edit(part).reservedFor = [...part.reservedFor, request].sort((a, b) => a.order - b.order);
      }
    }
  }
  for (const { pool, sharing } of request.needs) {
    if (sharing === "exclusive") continue;
    if (reservations.length === 0) edit(pool.impatient).add(request);
    else edit(pool.impatient).delete(request);
  }
}

/** Drops the reservations of a request. If it still waits, it needs new ones. */
function dropReservations(request: Request): void {
  const dropped = request.reservations ?? [];
  if (request.reservations !== null) edit(request).reservations = [];
  for (const { pool, sharing } of request.needs) {
    if (sharing === "exclusive") continue;
    if (request.reservations !== null) edit(pool.impatient).add(request);
    if (dropped.length === 0) continue;
    pool.cache.triedReservations = false;
    for (const resource of pool.members) {
      if (resource.sharing === "exclusive") continue;
      if (!resource.reservations.some(({ by }) => by === request)) continue;
      edit(resource).reservations = resource.reservations.filter(({ by }) => by !== request);
      if (resource.listed) markFreed(resource);
    }
    for (const part of pool.parts.values()) {
      if (!part.reservedFor.includes(request)) continue;
      edit(part).reservedFor = part.reservedFor.filter((by) => by !== request);
      for (const resource of part.resources) pool.cache.freed.add(resource);
    }
  }
}

/** Drops the reservations of a request that no longer waits. */
export function clearReservations(request: Request): void {
  dropReservations(request);
  edit(request).reservations = null;
  for (const { pool } of request.needs) edit(pool.impatient).delete(request);
}
