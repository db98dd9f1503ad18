/**
 * Resources that are lent by amount and what is indexed by them: how much is used, which parts have
 * an owner, what is kept for whom, and the order in which rooms are tried. Only `apply` comes here.
 */
import type { KeptRoom } from "../model/event.ts";
import {
  type Claim,
  freeState,
  gangOwner,
  type Pool,
  type Request,
  type Resource,
  type SharedRoom,
} from "../model/state.ts";
import { never } from "../model/time.ts";
import { effectiveCapacity } from "./placement/overcommit.ts";
import type { Amounts, Level, Part, Reservation, RoomSpec } from "./placement/room.ts";
import { standingKey } from "./placement/strategy.ts";

/** Gives a resource its room, or another one: those who share it keep what they have. */
export function setCapacity(resource: Resource, spec: RoomSpec): void {
  const { room } = resource;
  if (room === null) {
    resource.room = {
      priority: 0,
      order: spec.index,
      at: resource,
      spec,
      levels: levelsOf(spec, []),
      parts: partsOf(resource.pool, spec),
      reservations: [],
      lastFence: 0,
      claims: new Set(),
      listed: false,
    };
    attach(resource.room, true);
    return;
  }
  unlist(room);
  attach(room, false);
  room.spec = spec;
  room.order = spec.index;
  room.levels = levelsOf(spec, room.claims);
  room.parts = partsOf(resource.pool, spec);
  attach(room, true);
  list(room);
}

function levelsOf(spec: RoomSpec, claims: Iterable<Claim>): Level[] {
  const levels = Object.entries(spec.capacity).map(([name, capacity]) => {
    return { name, capacity: effectiveCapacity(capacity, spec.overcommit?.[name]), used: 0 };
  });
  for (const { amount } of claims) {
    for (const level of levels) level.used += amount?.[level.name] ?? 0;
  }
  return levels;
}

function partsOf(pool: Pool, { parts = {} }: RoomSpec): Map<string, Part[]> {
  return new Map(
    Object.entries(parts).map(([kind, names]) => {
      return [kind, names.map((name) => partFor(pool, kind, name))];
    }),
  );
}

/** The part of that name, which may be there already: on another resource, or in use. */
export function partFor(pool: Pool, kind: string, name: string): Part {
  const key = `${kind}/${name}`;
  let part = pool.parts.get(key);
  if (part === undefined) {
    const facts = { apart: undefined, attributes: {}, owner: null, uses: 0, reservedFor: [] };
    part = { kind, name, ...facts, rooms: new Set() };
    pool.parts.set(key, part);
    describePart(pool, part);
  }
  return part;
}

function describePart({ policy }: Pool, part: Part): void {
  const kind = policy.placement?.parts?.[part.kind];
  part.attributes = kind?.members[part.name] ?? {};
  const value = kind?.apart === undefined ? undefined : part.attributes[kind.apart];
  part.apart = value === undefined ? undefined : String(value);
}

/** The pool's policy is another: parts may be called otherwise, and the order may be another. */
export function rearrange(pool: Pool): void {
  for (const part of pool.parts.values()) describePart(pool, part);
  for (const { room } of pool.members) if (room !== null) relist(room);
}

function attach(room: SharedRoom, here: boolean): void {
  for (const part of [...room.parts.values()].flat()) {
    if (here) part.rooms.add(room);
    else part.rooms.delete(room);
    if (!here) dropUnused(room.at.pool, part);
  }
}

function dropUnused(pool: Pool, part: Part): void {
  if (part.rooms.size === 0 && part.uses === 0) pool.parts.delete(`${part.kind}/${part.name}`);
}

/** Takes a resource's room out of its pool, for good or to another pool. */
export function clear(resource: Resource): void {
  const { room } = resource;
  if (room === null) return;
  unlist(room);
  attach(room, false);
  resource.room = null;
}

/** Puts a room into its pool's index or takes it out, as its resource is. */
export function listIfUsable(room: SharedRoom): void {
  const { state, drained, retired, restsUntil } = room.at;
  const usable = state === freeState && !drained && !retired && restsUntil === never;
  if (usable && !room.listed) list(room);
  else if (!usable && room.listed) unlist(room);
  else if (usable) improve(room);
}

function list(room: SharedRoom): void {
  if (room.listed) return;
  const { state, drained, retired, restsUntil, pool } = room.at;
  if (state !== freeState || drained || retired || restsUntil !== never) return;
  const strategy = pool.policy.placement?.strategy ?? "least-used";
  room.priority = -standingKey(strategy, room);
  pool.rooms.add(room);
  room.listed = true;
  pool.retryReservations = true;
  improve(room);
}

/** Nothing can be kept on what is not lent: whoever had it kept must have it elsewhere. */
function unlist(room: SharedRoom): void {
  if (!room.listed) return;
  const { pool } = room.at;
  pool.rooms.remove(room);
  room.listed = false;
  pool.freed.delete(room);
  for (const { by } of room.reservations) dropReservations(by as Request);
}

function relist(room: SharedRoom): void {
  if (!room.listed) return;
  room.at.pool.rooms.remove(room);
  room.listed = false;
  list(room);
}

function improve(room: SharedRoom): void {
  room.at.pool.freed.add(room);
}

/** Charges a claim to its room, or takes it off. The caller keeps the counts of the pool. */
export function charge(room: SharedRoom, claim: Claim, by: 1 | -1): void {
  const { pool } = room.at;
  if (room.listed) pool.rooms.remove(room);
  if (by === 1) room.claims.add(claim);
  else room.claims.delete(claim);
  chargeLevels(room, claim.amount ?? {}, by);
  for (const part of claim.parts) own(pool, part, claim, by);
  for (const kept of room.reservations) if (claim.fence > kept.since) note(kept, claim, by);
  room.lastFence = Math.max(room.lastFence, claim.fence);
  if (!room.listed) return;
  room.priority = -standingKey(pool.policy.placement?.strategy ?? "least-used", room);
  pool.rooms.add(room);
  if (by === -1) improve(room);
}

function note({ taken }: Reservation, { amount }: Claim, by: 1 | -1): void {
  for (const name in amount) taken.set(name, (taken.get(name) ?? 0) + by * (amount[name] ?? 0));
}

function chargeLevels(room: SharedRoom, amount: Amounts, by: 1 | -1): void {
  for (const level of room.levels) level.used += by * (amount[level.name] ?? 0);
}

function own(pool: Pool, part: Part, { lease }: Claim, by: 1 | -1): void {
  part.uses += by;
  if (by === 1) {
    part.owner = ownerOf(lease);
  } else if (part.uses === 0) {
    part.owner = null;
    for (const other of part.rooms) pool.freed.add(other);
    dropUnused(pool, part);
  }
}

/** Whose a part is: one lease's, or that of all leases of a group. */
export function ownerOf({ id, ask }: Pick<Claim["lease"], "id" | "ask">): string {
  return ask.group === undefined ? id : gangOwner(ask.group.name);
}

/** Keeps room for one that is out of patience, in the place of what was kept for it before. */
export function setReservations(
  request: Request,
  rooms: readonly KeptRoom[],
  resources: Lookup,
): void {
  dropReservations(request);
  request.reservations = rooms;
  for (const { resource, amount, since, parts = {} } of rooms) {
    const { room, pool } = resources(resource);
    if (room === null) continue;
    const kept = { by: request, since, amounts: Object.entries(amount), taken: new Map() };
    for (const claim of room.claims) if (claim.fence > since) note(kept, claim, 1);
    room.reservations = [...room.reservations, kept];
    for (const [kind, names] of Object.entries(parts)) {
      for (const name of names) {
        const part = partFor(pool, kind, name);
        part.reservedFor = [...part.reservedFor, request];
      }
    }
  }
  for (const { pool, demands } of request.needs) {
    if (demands === null) continue;
    if (rooms.length === 0) pool.starved.add(request);
    else pool.starved.delete(request);
  }
}

type Lookup = (name: KeptRoom["resource"]) => Resource;

/** Gives up what is kept for a request; if it goes on waiting, something else must be found. */
export function dropReservations(request: Request): void {
  const kept = request.reservations ?? [];
  if (request.reservations !== null) request.reservations = [];
  for (const { pool, demands } of request.needs) {
    if (demands === null) continue;
    if (request.reservations !== null) pool.starved.add(request);
    if (kept.length === 0) continue;
    pool.retryReservations = true;
    for (const { room } of pool.members) {
      if (room === null || !room.reservations.some(({ by }) => by === request)) continue;
      room.reservations = room.reservations.filter(({ by }) => by !== request);
      if (room.listed) improve(room);
    }
    for (const part of pool.parts.values()) {
      if (!part.reservedFor.includes(request)) continue;
      part.reservedFor = part.reservedFor.filter((by) => by !== request);
      for (const room of part.rooms) pool.freed.add(room);
    }
  }
}

/** It waits no longer. */
export function clearReservations(request: Request): void {
  dropReservations(request);
  for (const { pool } of request.needs) pool.starved.delete(request);
}
