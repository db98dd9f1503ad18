import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import type { View } from "../kubernetes/lease-board.ts";
import { expiresAtMs } from "./expiry.ts";
import { type SlotSet, slotNumber } from "./slot.ts";
import { byArrival, isOutdated, isTicket } from "./ticket.ts";

/** A slot that can be taken: it is free, or its holder has sent no renewal for too long. */
export interface Opening {
  readonly slot: number;
  readonly expired?: LeaseObject;
}

/** The facts that a run needs to take a slot. */
export interface Situation {
  /** The slot that this run holds already, from an earlier call. */
  readonly mine: { readonly slot: number; readonly lease: LeaseObject } | undefined;
  readonly ticket: LeaseObject | undefined;
  /** The tickets ahead, in order of arrival. All tickets, if the run has no ticket yet. */
  readonly ahead: readonly LeaseObject[];
  readonly openings: readonly Opening[];
  /** The time until the next slot expires. */
  readonly msToOpening: number;
}

export function situationOf(view: View, set: SlotSet, identity: string): Situation {
  const slots = slotsOf(view.leases, set);
  const owned = [...slots].find(([, { spec }]) => spec?.holderIdentity === identity);
  const line = lineOf(view, set);
  const ticket = line.find(({ spec }) => spec?.holderIdentity === identity);
  const ends = endsOf(slots, set, view);
  return {
    mine: owned === undefined ? undefined : { slot: owned[0], lease: owned[1] },
    ticket,
    ahead: ticket === undefined ? line : line.slice(0, line.indexOf(ticket)),
    openings: openingsOf(slots, set, ends),
    msToOpening: Math.min(Number.POSITIVE_INFINITY, ...[...ends.values()].filter((ms) => ms > 0)),
  };
}

/** The Leases of all slots by number, including those beyond the current count. */
export function slotsOf(
  leases: readonly LeaseObject[],
  set: SlotSet,
): ReadonlyMap<number, LeaseObject> {
  const found = leases.flatMap((lease) => {
    const slot = slotNumber(set, lease);
    return slot === undefined ? [] : [[slot, lease] as const];
  });
  return new Map(found.sort(([one], [other]) => one - other));
}

/**
 * The waiting tickets in order of arrival. Excludes a run that has a slot and has not removed its
 * ticket yet.
 */
export function lineOf({ leases, nowMs }: View, set: SlotSet): readonly LeaseObject[] {
  const holders = new Set(
    [...slotsOf(leases, set).values()].map(({ spec }) => spec?.holderIdentity),
  );
  return leases
    .filter((lease) => isTicket(set, lease) && !isOutdated(lease, nowMs))
    .filter(({ spec }) => !holders.has(spec?.holderIdentity))
    .sort(byArrival);
}

/** The time until each held slot expires. A slot without an entry is free or never expires. */
function endsOf(
  slots: ReadonlyMap<number, LeaseObject>,
  { count }: SlotSet,
  { nowMs, sightOf }: View,
): ReadonlyMap<number, number> {
  const found = [...slots].flatMap(([slot, lease]) => {
    const atMs = expiresAtMs(lease, nowMs, sightOf?.(lease));
    return slot >= count || atMs === undefined ? [] : [[slot, atMs - nowMs] as const];
  });
  return new Map(found);
}

/** Free slots come first. A slot of a holder that is silent is the second choice. */
function openingsOf(
  slots: ReadonlyMap<number, LeaseObject>,
  { count }: SlotSet,
  ends: ReadonlyMap<number, number>,
): readonly Opening[] {
  const numbers = Array.from({ length: count }, (_, slot) => slot);
  const free = numbers.filter((slot) => !slots.has(slot)).map((slot) => ({ slot }));
  const expired = numbers.flatMap((slot) => {
    const lease = slots.get(slot);
    const over = (ends.get(slot) ?? Number.POSITIVE_INFINITY) <= 0;
    return lease !== undefined && over ? [{ slot, expired: lease }] : [];
  });
  return [...free, ...expired];
}
