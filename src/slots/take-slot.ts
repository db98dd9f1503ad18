import { isConflict, isLost, isNotFound } from "../kubernetes/errors.ts";
import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import type { LeaseBoard } from "../kubernetes/lease-board.ts";
import type { LeaseStore } from "../kubernetes/lease-store.ts";
import { drawFence } from "./fence.ts";
import { type HeldSlot, heldAs, releaseSlot, renewSlot } from "./held-slot.ts";
import type { Opening } from "./situation.ts";
import { newSlot, type SlotSet, takenOver } from "./slot.ts";

/** What a slot is taken for. */
export interface SlotTerms {
  readonly set: SlotSet;
  readonly identity: string;
  readonly durationSeconds: number;
}

/** `again`: somebody was faster, so that it takes another look at what is there now. */
export type Taken = HeldSlot | "again";

/**
 * Takes slots and makes sure that they are ours. Signals do not cut this short: nobody would know
 * whether the slot is taken.
 */
export class SlotTaker {
  readonly #store: LeaseStore;
  readonly #board: LeaseBoard;
  readonly #terms: SlotTerms;

  constructor(store: LeaseStore, board: LeaseBoard, terms: SlotTerms) {
    this.#store = store;
    this.#board = board;
    this.#terms = terms;
  }

  /** `ticket` is the place in line that gives the right to it; undefined if nobody waits. */
  take({ slot, expired }: Opening, ticket: LeaseObject | undefined): Promise<Taken> {
    return this.#unlessOvertaken(async () => {
      const { set, identity, durationSeconds } = this.#terms;
      const term = { identity, durationSeconds, nowMs: this.#store.api.clock.atMostMs() };
      const lease =
        expired === undefined
          ? await this.#store.create(newSlot(set, slot, term))
          : await this.#store.replace(takenOver(set, slot, expired, term));
      this.#board.note(lease);
      const held = heldAs(slot, lease, durationSeconds);
      if (!(await this.#wasPassedOver(ticket))) return this.#confirm(held);
      await releaseSlot(this.#store, held);
      this.#board.forget(held.name);
      return "again";
    });
  }

  /** The same run asks again, or the answer to its first try was lost: it has what it wanted. */
  keep(slot: number, lease: LeaseObject): Promise<Taken> {
    return this.#unlessOvertaken(async () => {
      const { durationSeconds } = this.#terms;
      const held = heldAs(slot, lease, durationSeconds);
      if (held.fence === 0) return this.#confirm(held);
      await renewSlot(this.#store, held, { change: { leaseDurationSeconds: durationSeconds } });
      return held;
    });
  }

  /** Who slept through its turn has lost it, although a slot looked free when it woke up. */
  async #wasPassedOver(ticket: LeaseObject | undefined): Promise<boolean> {
    if (ticket === undefined) return false;
    const { name, uid } = ticket.metadata;
    const found = await this.#store.get(name);
    return found?.metadata.uid !== uid;
  }

  /** A slot counts as granted from here on: its number is larger than that of all before. */
  async #confirm(held: HeldSlot): Promise<HeldSlot> {
    const { set, durationSeconds } = this.#terms;
    const fence = await drawFence(this.#store, set, held.fence);
    const change = { leaseTransitions: fence, leaseDurationSeconds: durationSeconds };
    this.#board.note(await renewSlot(this.#store, held, { change }));
    return { ...held, fence };
  }

  async #unlessOvertaken(attempt: () => Promise<Taken>): Promise<Taken> {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error) && !isLost(error)) throw error;
      await this.#board.refresh();
      return "again";
    }
  }
}
