import { Problem } from "../api/problem.ts";
import { isConflict, isNotFound } from "../kubernetes/errors.ts";
import type { LeaseObject, LeaseSpec } from "../kubernetes/kube-objects.ts";
import type { LeaseStore } from "../kubernetes/lease-store.ts";
import { slotLimits } from "./limits.ts";
import { renewed } from "./slot.ts";

/** A slot in our hands: the one object that we took, under the name that we took it with. */
export interface HeldSlot {
  readonly slot: number;
  readonly name: string;
  readonly uid: string;
  readonly identity: string;
  readonly durationSeconds: number;
  /** Larger with every grant of any slot of this set. */
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
 * Another while from now on. Throws `lease_ended` if it is no longer ours. One that has run out but that
 * nobody took is still ours; others that write to the object, such as a label, do no harm.
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

/** `gone`: it was ours no longer, so that there was nothing to give back. */
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

/** One that was deleted and made anew is another, whatever it is called. */
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
    hint: "Stop what the slot was for; then acquire one anew",
  });
}
