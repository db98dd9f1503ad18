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

/** A place in line, from the ticket that takes it to the ticket's end. */
export class SlotLine {
  readonly #store: LeaseStore;
  readonly #board: LeaseBoard;
  readonly #terms: LineTerms;
  readonly #turns: TurnWatch;
  readonly #tickets = new Map<string, LeaseObject>();
  /** A ticket was made, and no look has shown it yet. */
  #unseen = false;

  constructor(store: LeaseStore, board: LeaseBoard, terms: LineTerms) {
    this.#store = store;
    this.#board = board;
    this.#terms = terms;
    this.#turns = new TurnWatch(terms.turnMs ?? slotLimits.turnMs);
  }

  /**
   * Of an answer that gets lost nothing is known; the next look finds the ticket, and it is ours.
   *
   * Who is ahead is known only from a look after the ticket was made. The watch may not have told yet of
   * those who came shortly before; to add the ticket to what it has told would put us ahead of them.
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

  /** A ticket with our name: made by us, or by an earlier try of the same run. */
  own(ticket: LeaseObject): void {
    this.#tickets.set(ticket.metadata.name, ticket);
  }

  get msToOverdue(): number {
    return this.#turns.msToOverdue;
  }

  /** True if the first in line has slept through its turn and was passed over. */
  async passOverIdle(now: Situation, look: () => Situation): Promise<boolean> {
    const idle = this.#turns.overdue(now);
    if (idle === undefined) return false;
    // Only on a fresh look: a watch may have held back that it has moved on.
    await this.#board.refresh(this.#terms.signal);
    const { ahead, openings } = look();
    if (openings.length === 0 || ahead[0]?.metadata.uid !== idle.metadata.uid) return true;
    try {
      await this.#store.remove(idle, { signal: this.#terms.signal });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
    this.#board.forget(idle.metadata.name);
    return true;
  }

  /** What cannot be removed now is passed over, or counts for nothing after its time. */
  async leave(): Promise<void> {
    for (const ticket of this.#tickets.values()) {
      const remove = () => this.#store.remove(ticket);
      await retrying(remove, { forMs: clientLimits.leaveMs }).catch(() => {});
    }
  }
}
