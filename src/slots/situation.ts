import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import type { View } from "../kubernetes/lease-board.ts";
import { expiresAtMs } from "./expiry.ts";
import { type SlotSet, slotNumber } from "./slot.ts";
import { byArrival, isOutdated, isTicket } from "./ticket.ts";

/** A slot that can be taken: free, or in the hands of somebody who was not heard of for too long. */
export interface Opening {
  readonly slot: number;
  readonly expired?: LeaseObject;
}

/** What one who asks must know, and no more. */
export interface Situation {
  /** Mine already, by an earlier call of the same run. */
  readonly mine: { readonly slot: number; readonly lease: LeaseObject } | undefined;
  readonly ticket: LeaseObject | undefined;
  /** Who came before, first come first; all who wait, for one who has no ticket yet. */
  readonly ahead: readonly LeaseObject[];
  readonly openings: readonly Opening[];
  /** Until the next one may be taken from somebody who fell silent. */
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

/** By number, all that there are: also those beyond the present count. */
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

/** Who waits, first come first. Who has a slot already only has yet to clear its ticket away. */
export function lineOf({ leases, nowMs }: View, set: SlotSet): readonly LeaseObject[] {
  const holders = new Set(
    [...slotsOf(leases, set).values()].map(({ spec }) => spec?.holderIdentity),
  );
  return leases
    .filter((lease) => isTicket(set, lease) && !isOutdated(lease, nowMs))
    .filter(({ spec }) => !holders.has(spec?.holderIdentity))
    .sort(byArrival);
}

/** How long each slot that is held still lasts; without an entry it is free, or lasts for ever. */
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

/** The free ones first: taking from somebody who fell silent is the second choice. */
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
