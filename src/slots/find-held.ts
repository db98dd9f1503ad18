import { Problem } from "../api/problem.ts";
import type { LeaseStore } from "../kubernetes/lease-store.ts";
import { type HeldSlot, heldAs, releaseSlot } from "./held-slot.ts";
import { slotsOf } from "./situation.ts";
import { type SlotSet, slotName } from "./slot.ts";

/** The slots that a run holds. There is more than one only if a person created them by hand. */
export async function slotsHeldBy(
  store: LeaseStore,
  set: SlotSet,
  identity: string,
): Promise<HeldSlot[]> {
  const { items } = await store.list();
  return [...slotsOf(items, set)]
    .filter(([, { spec }]) => spec?.holderIdentity === identity)
    .map(([slot, lease]) => heldAs(slot, lease));
}

/**
 * Returns undefined if the slot is free. Throws if another run holds it: the number alone is no
 * proof.
 */
export async function slotHeldBy(
  store: LeaseStore,
  set: SlotSet,
  { slot, identity, verb }: { slot: number; identity: string; verb: string },
): Promise<HeldSlot | undefined> {
  const lease = await store.get(slotName(set, slot));
  if (lease === undefined) return undefined;
  const holder = lease.spec?.holderIdentity ?? "";
  if (holder === identity) return heldAs(slot, lease);
  throw new Problem({
    code: "slot_held_by_other",
    status: 409,
    message: `Cannot ${verb} slot ${slot}: "${holder}" has it, and you are "${identity}"`,
    hint: "Check --suffix and --run-id; a slot that was lost needs no release",
  });
}

/**
 * For operators: releases the slot of any holder, but only in the version that was read. Returns
 * undefined if it was free.
 */
export async function releaseForced(
  store: LeaseStore,
  set: SlotSet,
  slot: number,
): Promise<string | undefined> {
  const lease = await store.get(slotName(set, slot));
  if (lease === undefined) return undefined;
  await releaseSlot(store, heldAs(slot, lease));
  return lease.spec?.holderIdentity ?? "";
}
