import { Problem } from "../api/problem.ts";
import { clientLimits } from "../client/limits.ts";
import { LinkedAbort } from "../client/linked-abort.ts";
import { pause, retrying } from "../client/pause.ts";
import { isDenied, NoSlotInTime } from "../kubernetes/errors.ts";
import { LeaseBoard } from "../kubernetes/lease-board.ts";
import type { LeaseStore } from "../kubernetes/lease-store.ts";
import { type HeldSlot, heldAs, releaseSlot } from "./held-slot.ts";
import { slotLimits } from "./limits.ts";
import { type Situation, situationOf } from "./situation.ts";
import { type LineTerms, SlotLine } from "./slot-line.ts";
import { SlotTaker, type SlotTerms } from "./take-slot.ts";

export interface AcquireSlot extends SlotTerms, LineTerms {
  readonly onWaiting?: ((place: PlaceInSlotLine) => void) | undefined;
  readonly onRetry?: ((error: Error) => void) | undefined;
}

/** The position in the queue, with the reason for waiting. */
export interface PlaceInSlotLine {
  readonly waitedMs: number;
  /** The first position is 1. */
  readonly position: number;
  readonly reason: string;
}

/**
 * Waits in the queue for a slot. An abort leaves the queue. On any error, the place in the queue is
 * removed before the error is thrown.
 */
export async function acquireSlot(store: LeaseStore, ask: AcquireSlot): Promise<HeldSlot> {
  const onRetry = ask.onRetry ?? (() => {});
  const open = () => LeaseBoard.open(store, { signal: ask.signal, onRetry });
  const connecting = { forMs: clientLimits.connectMs, signal: ask.signal, onRetry };
  await using board = await retrying(open, connecting);
  const wait = new SlotWait(store, board, ask);
  try {
    return await wait.untilHeld();
  } catch (error) {
    await wait.giveUp();
    throw error;
  } finally {
    await wait.leave();
  }
}

class SlotWait {
  readonly #store: LeaseStore;
  readonly #board: LeaseBoard;
  readonly #ask: AcquireSlot;
  readonly #taker: SlotTaker;
  readonly #line: SlotLine;
  readonly #startedAtMs = performance.now();
  readonly #heldBefore: boolean;
  #deniedAtMs: number | undefined;
  #msToOpening = 0;

  constructor(store: LeaseStore, board: LeaseBoard, ask: AcquireSlot) {
    this.#store = store;
    this.#board = board;
    this.#ask = ask;
    this.#taker = new SlotTaker(store, board, ask);
    this.#line = new SlotLine(store, board, ask);
    this.#heldBefore = this.#readSituation().mine !== undefined;
  }

  async untilHeld(): Promise<HeldSlot> {
    const { signal, onRetry } = this.#ask;
    for (;;) {
      const { changed } = this.#board;
      // A waiting run survives an outage: every temporary error is retried.
      const outlasting = { forMs: clientLimits.outageMs, signal, onRetry };
      const held = await retrying(() => this.#unlessStarting(() => this.#step()), outlasting);
      if (held !== "waiting" && held !== "again") return held;
      if (held === "waiting") await this.#untilChange(changed);
    }
  }

  async #step(): Promise<HeldSlot | "waiting" | "again"> {
    const now = this.#readSituation();
    if (now.ticket !== undefined) this.#line.own(now.ticket);
    this.#ask.signal.throwIfAborted();
    if (now.mine !== undefined) return this.#taker.keep(now.mine.slot, now.mine.lease);
    const [opening] = now.openings;
    if (opening !== undefined && now.ahead.length === 0)
      return this.#taker.take(opening, now.ticket);
    if (this.#waitedMs >= this.#ask.timeoutMs) {
      throw new NoSlotInTime(this.#waitedMs, this.#placeIn(now).reason);
    }
    if (now.ticket === undefined) {
      await this.#line.stand();
      return "again";
    }
    this.#msToOpening = now.msToOpening;
    this.#ask.onWaiting?.(this.#placeIn(now));
    return (await this.#line.passOverIdle(now, () => this.#readSituation())) ? "again" : "waiting";
  }

  /**
   * A server that has just started has not loaded its roles yet and rejects every call for a
   * moment.
   */
  async #unlessStarting<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      const result = await attempt();
      this.#deniedAtMs = undefined;
      return result;
    } catch (error) {
      if (!isDenied(error)) throw error;
      this.#deniedAtMs ??= performance.now();
      if (performance.now() - this.#deniedAtMs > slotLimits.deniedMs) throw error;
      const { code, message, hint } = error;
      throw new Problem({ code, status: 503, message, hint }, error);
    }
  }

  #readSituation(): Situation {
    const { set, identity } = this.#ask;
    return situationOf(this.#board.view, set, identity);
  }

  /** Waits for a change, the expiry of a slot, the turn of this run, or the timeout. */
  async #untilChange(changed: Promise<void>): Promise<void> {
    const leftMs = this.#ask.timeoutMs - this.#waitedMs;
    const waitMs = Math.min(this.#msToOpening, this.#line.msToOverdue, leftMs, timerMsMax);
    const waitEnd = new LinkedAbort(this.#ask.signal);
    const time = pause(Math.max(1, waitMs), waitEnd.signal);
    try {
      await Promise.race([changed, time]);
    } finally {
      waitEnd.unlink();
      waitEnd.abort();
      await time.catch(() => {});
    }
  }

  get #waitedMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  #placeIn({ ahead, openings }: Situation): PlaceInSlotLine {
    const { count } = this.#ask.set;
    const before = ahead.length === 0 ? "you are next" : `${ahead.length} ahead of you`;
    const held = count === 1 ? "The only slot is held" : `All ${count} slots are held`;
    const state = openings.length === 0 ? held : "A slot is free";
    const position = ahead.length + 1;
    return { waitedMs: this.#waitedMs, position, reason: `${state}; ${before}` };
  }

  /**
   * Releases a slot that was taken although the call fails. A slot that the run held before stays.
   */
  async giveUp(): Promise<void> {
    const { mine } = this.#readSituation();
    if (mine === undefined || this.#heldBefore) return;
    const held = heldAs(mine.slot, mine.lease, this.#ask.durationSeconds);
    const release = () => releaseSlot(this.#store, held);
    await retrying(release, { forMs: clientLimits.leaveMs }).catch(() => {});
  }

  /** Also removes a ticket whose creation got no answer, if the board has seen it since. */
  async leave(): Promise<void> {
    const { ticket } = this.#readSituation();
    if (ticket !== undefined) this.#line.own(ticket);
    await this.#line.leave();
  }
}

/** Node fires a timer with a longer delay at once. */
const timerMsMax = 2 ** 31 - 1;
