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
  readonly onTrouble?: ((error: Error) => void) | undefined;
}

/** Where one stands, and why. */
export interface PlaceInSlotLine {
  readonly waitedMs: number;
  /** The first is 1. */
  readonly position: number;
  readonly reason: string;
}

/**
 * Waits in line for a slot. Aborting the signal leaves the line. However it fails, the place is given up
 * before the error is thrown.
 */
export async function acquireSlot(store: LeaseStore, ask: AcquireSlot): Promise<HeldSlot> {
  const onTrouble = ask.onTrouble ?? (() => {});
  const open = () => LeaseBoard.open(store, { signal: ask.signal, onTrouble });
  const connecting = { forMs: clientLimits.connectMs, signal: ask.signal, onTrouble };
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
    this.#heldBefore = this.#look().mine !== undefined;
  }

  async untilHeld(): Promise<HeldSlot> {
    const { signal, onTrouble } = this.#ask;
    for (;;) {
      const { changed } = this.#board;
      // Who stands in line outlasts an outage: all that passes by itself is tried again.
      const outlasting = { forMs: clientLimits.outageMs, signal, onTrouble };
      const held = await retrying(() => this.#unlessStarting(() => this.#step()), outlasting);
      if (held !== "waiting" && held !== "again") return held;
      if (held === "waiting") await this.#untilChange(changed);
    }
  }

  async #step(): Promise<HeldSlot | "waiting" | "again"> {
    const now = this.#look();
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
    return (await this.#line.passOverIdle(now, () => this.#look())) ? "again" : "waiting";
  }

  /** A server that has just started knows no roles yet, and says no to everybody for a moment. */
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

  #look(): Situation {
    const { set, identity } = this.#ask;
    return situationOf(this.#board.view, set, identity);
  }

  /** Something happens, somebody's time runs out, or ours does. */
  async #untilChange(changed: Promise<void>): Promise<void> {
    const leftMs = this.#ask.timeoutMs - this.#waitedMs;
    const waitMs = Math.min(this.#msToOpening, this.#line.msToOverdue, leftMs, timerMsMax);
    const enough = new LinkedAbort(this.#ask.signal);
    const time = pause(Math.max(1, waitMs), enough.signal);
    try {
      await Promise.race([changed, time]);
    } finally {
      enough.letGo();
      enough.abort();
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

  /** A slot that was taken in vain goes back; what the run had before stays its own. */
  async giveUp(): Promise<void> {
    const { mine } = this.#look();
    if (mine === undefined || this.#heldBefore) return;
    const held = heldAs(mine.slot, mine.lease, this.#ask.durationSeconds);
    const release = () => releaseSlot(this.#store, held);
    await retrying(release, { forMs: clientLimits.leaveMs }).catch(() => {});
  }

  /** Also of a ticket whose creation was never answered, if it has been seen since. */
  async leave(): Promise<void> {
    const { ticket } = this.#look();
    if (ticket !== undefined) this.#line.own(ticket);
    await this.#line.leave();
  }
}

/** Node fires a longer timer at once. */
const timerMsMax = 2 ** 31 - 1;
