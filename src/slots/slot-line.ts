import { clientLimits } from "../client/limits.ts";
import { retrying } from "../client/pause.ts";
import { isConflict, isNotFound } from "../kubernetes/errors.ts";
import type { LeaseObject } from "../kubernetes/kube-objects.ts";
import type { LeaseBoard } from "../kubernetes/lease-board.ts";
import type { LeaseStore } from "../kubernetes/lease-store.ts";
import { slotLimits } from "./limits.ts";
import type { Situation } from "./situation.ts";
import type { SlotSet } from "./slot.ts";
import { newTicket } from "./ticket.ts";
import { TurnWatch } from "./turn-watch.ts";

export interface LineTerms {
  readonly set: SlotSet;
  readonly identity: string;
  readonly timeoutMs: number;
  readonly turnMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** A place in the queue, from the creation of the ticket to its removal. */
export class SlotLine {
  readonly #store: LeaseStore;
  readonly #board: LeaseBoard;
  readonly #terms: LineTerms;
  readonly #turns: TurnWatch;
  readonly #tickets = new Map<string, LeaseObject>();
  /** A ticket was created, but no list has contained it yet. */
  #unseen = false;

  constructor(store: LeaseStore, board: LeaseBoard, terms: LineTerms) {
    this.#store = store;
    this.#board = board;
    this.#terms = terms;
    this.#turns = new TurnWatch(terms.turnMs ?? slotLimits.turnMs);
  }

  /**
   * If the answer to the creation is lost, the next list contains the ticket.
   *
   * Only a list after the creation shows which tickets are ahead. The watch may not have reported
   * the tickets that were created shortly before. If we added our ticket to the watched state, we
   * would be ahead of them.
   */
  async stand(): Promise<void> {
    const { set, identity, timeoutMs, signal } = this.#terms;
    if (!this.#unseen) {
      const waitSeconds = Math.ceil(timeoutMs / 1_000) + slotLimits.ticketSlackSeconds;
      const nowMs = this.#store.api.clock.atMostMs();
      const ticket = newTicket(set, { identity, waitSeconds, nowMs });
      this.own(await this.#store.create(ticket, { signal }));
      this.#unseen = true;
    }
    await this.#board.refresh(signal);
    this.#unseen = false;
  }

  /**
   * Remembers a ticket with our identity, from this call or from an earlier try of the same run.
   */
  own(ticket: LeaseObject): void {
    this.#tickets.set(ticket.metadata.name, ticket);
  }

  get msToOverdue(): number {
    return this.#turns.msToOverdue;
  }

  /** Returns true if the first in the queue did not take its turn, and was skipped or has moved. */
  async passOverIdle(now: Situation, read: () => Situation): Promise<boolean> {
    const idle = this.#turns.overdue(now);
    if (idle === undefined) return false;
    // This needs a new list, because the watch may be late.
    await this.#board.refresh(this.#terms.signal);
    const { ahead, openings } = read();
    if (openings.length === 0 || ahead[0]?.metadata.uid !== idle.metadata.uid) return true;
    try {
      await this.#store.remove(idle, { signal: this.#terms.signal });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
    this.#board.forget(idle.metadata.name);
    return true;
  }

  /** A ticket that cannot be removed is skipped later, or expires. */
  async leave(): Promise<void> {
    for (const ticket of this.#tickets.values()) {
      const remove = () => this.#store.remove(ticket);
      await retrying(remove, { forMs: clientLimits.leaveMs }).catch(() => {});
    }
  }
}
