import { Problem } from "../api/problem.ts";
import { isConflict, isNotFound } from "../kubernetes/errors.ts";
import type { LeaseObject, LeaseSpec } from "../kubernetes/kube-objects.ts";
import type { LeaseStore } from "../kubernetes/lease-store.ts";
import { slotLimits } from "./limits.ts";
import { renewed } from "./slot.ts";

/** A slot that this run holds: the object that it wrote, with its identity. */
export interface HeldSlot {
  readonly slot: number;
  readonly name: string;
  readonly uid: string;
  readonly identity: string;
  readonly durationSeconds: number;
  /** Increases with every grant of any slot in this set. */
  readonly fence: number;
}

interface Options {
  readonly signal?: AbortSignal | undefined;
  readonly answerMs?: number | undefined;
}

export function heldAs(
  slot: number,
  { metadata, spec }: LeaseObject,
  durationSeconds = spec?.leaseDurationSeconds ?? 0,
): HeldSlot {
  return {
    slot,
    name: metadata.name,
    uid: metadata.uid ?? "",
    identity: spec?.holderIdentity ?? "",
    durationSeconds,
    fence: spec?.leaseTransitions ?? 0,
  };
}

/**
 * Extends the slot. Throws `lease_ended` if another run holds it. A slot that has expired but that
 * no other run has taken is still ours. Changes by other clients, such as a label, are harmless.
 */
export async function renewSlot(
  store: LeaseStore,
  held: HeldSlot,
  { change = {}, ...options }: Options & { readonly change?: LeaseSpec } = {},
): Promise<LeaseObject> {
  for (let tries = 0; ; tries++) {
    const lease = mustBeOurs(await store.get(held.name, options), held);
    try {
      const next = renewed(lease, store.api.clock.atMostMs(), change);
      return await store.replace(next, options);
    } catch (error) {
      if (isNotFound(error)) throw lost(held, "it was deleted");
      if (!isConflict(error) || tries >= slotLimits.conflictsMax) throw error;
    }
  }
}

/** `gone`: another run held it, so there was nothing to release. */
export async function releaseSlot(
  store: LeaseStore,
  held: Pick<HeldSlot, "name" | "uid" | "identity">,
  options: Options = {},
): Promise<"released" | "gone"> {
  for (let tries = 0; ; tries++) {
    const lease = await store.get(held.name, options);
    if (lease === undefined || !isOurs(lease, held)) return "gone";
    try {
      await store.remove(lease, options);
      return "released";
    } catch (error) {
      if (isNotFound(error)) return "gone";
      if (!isConflict(error) || tries >= slotLimits.conflictsMax) throw error;
    }
  }
}

/** A Lease that was deleted and created again is another object, even with the same name. */
export function isOurs(
  { metadata, spec }: LeaseObject,
  { uid, identity }: Pick<HeldSlot, "uid" | "identity">,
): boolean {
  return metadata.uid === uid && (spec?.holderIdentity ?? "") === identity;
}

export function mustBeOurs(lease: LeaseObject | undefined, held: HeldSlot): LeaseObject {
  if (lease === undefined) throw lost(held, "it was deleted");
  if (isOurs(lease, held)) return lease;
  throw lost(held, `"${lease.spec?.holderIdentity ?? "nobody"}" has it now`);
}

function lost({ name }: HeldSlot, state: string): Problem {
  return new Problem({
    code: "lease_ended",
    status: 410,
    message: `Cannot renew ${name}: ${state}`,
    hint: "Stop the work that uses the slot, then acquire a slot again",
  });
}
