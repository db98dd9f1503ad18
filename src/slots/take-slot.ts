import { isConflict, isLost, isNotFound } from "../kubernetes/errors.ts";
import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import type { LeaseBoard } from "../kubernetes/lease-board.ts";
import type { LeaseStore } from "../kubernetes/lease-store.ts";
import { drawFence } from "./fence.ts";
import { type HeldSlot, heldAs, releaseSlot, renewSlot } from "./held-slot.ts";
import type { Opening } from "./situation.ts";
import { newSlot, type SlotSet, takenOver } from "./slot.ts";

/** The terms of the slot to take. */
export interface SlotTerms {
  readonly set: SlotSet;
  readonly identity: string;
  readonly durationSeconds: number;
}

/** `again`: another run was faster, so the caller must read the current state again. */
export type Taken = HeldSlot | "again";

/**
 * Takes slots and verifies that they are ours. An abort does not interrupt this, because it would
 * then be unknown whether the slot was taken.
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

  /** `ticket` is the place in the queue that allows this; undefined if the queue is empty. */
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

  /**
   * The same run calls again, or the answer to its first call was lost. It gets the slot that it
   * has.
   */
  keep(slot: number, lease: LeaseObject): Promise<Taken> {
    return this.#unlessOvertaken(async () => {
      const { durationSeconds } = this.#terms;
      const held = heldAs(slot, lease, durationSeconds);
      if (held.fence === 0) return this.#confirm(held);
      await renewSlot(this.#store, held, { change: { leaseDurationSeconds: durationSeconds } });
      return held;
    });
  }

  /** A run whose ticket was skipped has lost its turn, even if a slot still looked free to it. */
  async #wasPassedOver(ticket: LeaseObject | undefined): Promise<boolean> {
    if (ticket === undefined) return false;
    const { name, uid } = ticket.metadata;
    const found = await this.#store.get(name);
    return found?.metadata.uid !== uid;
  }

  /**
   * The slot counts as granted once this returns: its fence is larger than that of all earlier
   * holders.
   */
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
