import { clientLimits } from "../client/limits.ts";
import { pause, retrying } from "../client/pause.ts";
import { isConflict, isNotFound, NoSlotInTime } from "./errors.ts";
import { drawFence } from "./fence.ts";
import { type HeldSlot, releaseSlot, renewSlot } from "./held-slot.ts";
import type { LeaseObject } from "./kube-objects.ts";
import { LeaseBoard } from "./lease-board.ts";
import type { LeaseStore } from "./lease-store.ts";
import { slotLimits } from "./limits.ts";
import { type Opening, type Situation, situationOf } from "./situation.ts";
import { newSlot, type SlotSet, takenOver } from "./slot.ts";
import { newTicket } from "./ticket.ts";
import { TurnWatch } from "./turn-watch.ts";

export interface AcquireSlot {
  readonly set: SlotSet;
  readonly identity: string;
  readonly durationSeconds: number;
  readonly timeoutMs: number;
  readonly turnMs?: number | undefined;
  /** Aborting it leaves the line. */
  readonly signal: AbortSignal;
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

/** Waits in line for a slot. However it fails, the place is given up before the error is thrown. */
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
  readonly #turns: TurnWatch;
  readonly #startedAtMs = performance.now();
  readonly #heldBefore: boolean;
  #ticket: LeaseObject | undefined;
  #msToOpening = 0;

  constructor(store: LeaseStore, board: LeaseBoard, ask: AcquireSlot) {
    this.#store = store;
    this.#board = board;
    this.#ask = ask;
    this.#turns = new TurnWatch(ask.turnMs ?? slotLimits.turnMs);
    this.#heldBefore = this.#look().mine !== undefined;
  }

  async untilHeld(): Promise<HeldSlot> {
    for (;;) {
      const { changed } = this.#board;
      const held = await this.#patiently(() => this.#step());
      if (held !== "waiting" && held !== "again") return held;
      if (held === "waiting") await this.#untilChange(changed);
    }
  }

  /** Who stands in line outlasts an outage: all that passes by itself is tried again. */
  #patiently<T>(attempt: () => Promise<T>): Promise<T> {
    const { signal, onTrouble } = this.#ask;
    return retrying(attempt, { forMs: clientLimits.outageMs, signal, onTrouble });
  }

  async #step(): Promise<HeldSlot | "waiting" | "again"> {
    this.#ask.signal.throwIfAborted();
    const now = this.#look();
    if (now.mine !== undefined) return this.#keep(now.mine.slot, now.mine.lease);
    const [opening] = now.openings;
    if (opening !== undefined && now.ahead.length === 0) return this.#take(opening, now.ticket);
    if (now.ticket === undefined) {
      if (this.#waitedMs >= this.#ask.timeoutMs) throw this.#tooLate(now);
      return this.#standInLine();
    }
    this.#ticket = now.ticket;
    if (this.#waitedMs >= this.#ask.timeoutMs) throw this.#tooLate(now);
    this.#msToOpening = now.msToOpening;
    this.#ask.onWaiting?.(this.#placeIn(now));
    const idle = this.#turns.overdue(now);
    return idle === undefined ? "waiting" : this.#passOver(idle);
  }

  #look(): Situation {
    const { set, identity } = this.#ask;
    return situationOf(this.#board.view, set, identity);
  }

  /** The same run asks again, or the answer to its first try was lost: it has what it wanted. */
  async #keep(slot: number, lease: LeaseObject): Promise<HeldSlot | "again"> {
    const held = this.#heldOf(slot, lease);
    try {
      return held.fence > 0 ? await this.#renewed(held) : await this.#confirm(held, lease);
    } catch (error) {
      return this.#lookAgainAfter(error);
    }
  }

  async #renewed(held: HeldSlot): Promise<HeldSlot> {
    const change = { leaseDurationSeconds: this.#ask.durationSeconds };
    await renewSlot(this.#store, held, { change });
    return held;
  }

  /** A signal does not cut this short: nobody would know whether the slot is taken. */
  async #take({ slot, expired }: Opening, ticket: LeaseObject | undefined) {
    const { set, identity, durationSeconds } = this.#ask;
    const term = { identity, durationSeconds, nowMs: this.#store.api.clock.atMostMs() };
    try {
      const lease =
        expired === undefined
          ? await this.#store.create(newSlot(set, slot, term))
          : await this.#store.replace(takenOver(set, slot, expired, term));
      this.#board.note(lease);
      const held = this.#heldOf(slot, lease);
      if (!(await this.#wasPassedOver(ticket))) return await this.#confirm(held, lease);
      await releaseSlot(this.#store, held);
      return "again" as const;
    } catch (error) {
      return this.#lookAgainAfter(error);
    }
  }

  /** Who slept through its turn has lost it, although a slot looked free when it woke up. */
  async #wasPassedOver(ticket: LeaseObject | undefined): Promise<boolean> {
    if (ticket === undefined) return false;
    const { name, uid } = ticket.metadata;
    const found = await this.#store.get(name);
    return found?.metadata.uid !== uid;
  }

  /** A slot counts as granted from here on: its number is larger than that of all before. */
  async #confirm(held: HeldSlot, { spec }: LeaseObject): Promise<HeldSlot> {
    const { set, durationSeconds } = this.#ask;
    const above = spec?.leaseTransitions ?? 0;
    const fence = await drawFence(this.#store, set, above);
    const confirmed = { ...held, fence };
    const change = { leaseTransitions: fence, leaseDurationSeconds: durationSeconds };
    const lease = await renewSlot(this.#store, confirmed, { change });
    this.#board.note(lease);
    return confirmed;
  }

  #heldOf(slot: number, { metadata, spec }: LeaseObject): HeldSlot {
    const { identity, durationSeconds } = this.#ask;
    const fence = spec?.leaseTransitions ?? 0;
    return { slot, name: metadata.name, uid: metadata.uid ?? "", identity, durationSeconds, fence };
  }

  /** Somebody was faster, or has deleted it meanwhile: look at what is there now. */
  async #lookAgainAfter(error: unknown): Promise<"again"> {
    const ended = error instanceof Error && "code" in error && error.code === "lease_ended";
    if (!isConflict(error) && !isNotFound(error) && !ended) throw error;
    await this.#board.refresh(this.#ask.signal);
    return "again";
  }

  async #standInLine(): Promise<"again"> {
    const { set, identity, timeoutMs, signal } = this.#ask;
    const waitSeconds = Math.ceil(timeoutMs / 1_000) + slotLimits.ticketSlackSeconds;
    const nowMs = this.#store.api.clock.atMostMs();
    // Of an answer that gets lost nothing is known, so the next look may find it and adopt it.
    const ticket = await this.#store.create(newTicket(set, { identity, waitSeconds, nowMs }), {
      signal,
    });
    this.#ticket = ticket;
    this.#board.note(ticket);
    return "again";
  }

  /** Only on a fresh look: a watch may have held back that it has moved on. */
  async #passOver(idle: LeaseObject): Promise<"again"> {
    await this.#board.refresh(this.#ask.signal);
    const { ahead, openings } = this.#look();
    if (openings.length === 0 || ahead[0]?.metadata.uid !== idle.metadata.uid) return "again";
    try {
      await this.#store.remove(idle, { signal: this.#ask.signal });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
    this.#board.forget(idle.metadata.name);
    return "again";
  }

  /** Something happens, somebody's time runs out, or ours does. */
  async #untilChange(changed: Promise<void>): Promise<void> {
    const waitMs = Math.min(this.#msToOpening, this.#turns.msToOverdue, this.#msLeft);
    const enough = new AbortController();
    const signal = AbortSignal.any([this.#ask.signal, enough.signal]);
    const time = pause(Math.max(1, Math.min(waitMs, timerMsMax)), signal);
    try {
      await Promise.race([changed, time]);
    } finally {
      enough.abort();
      await time.catch(() => {});
    }
  }

  get #waitedMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  get #msLeft(): number {
    return this.#ask.timeoutMs - this.#waitedMs;
  }

  #placeIn({ ahead, openings }: Situation): PlaceInSlotLine {
    const { count } = this.#ask.set;
    const before = ahead.length === 0 ? "you are next" : `${ahead.length} ahead of you`;
    const state = openings.length === 0 ? `All ${count} slots are held` : "A slot is free";
    return {
      waitedMs: this.#waitedMs,
      position: ahead.length + 1,
      reason: `${state}; ${before}`,
    };
  }

  #tooLate(now: Situation): NoSlotInTime {
    return new NoSlotInTime(this.#waitedMs, this.#placeIn(now).reason);
  }

  /** A slot that was taken in vain goes back; what the run had before stays its own. */
  async giveUp(): Promise<void> {
    const { mine } = this.#look();
    if (mine === undefined || this.#heldBefore) return;
    const held = this.#heldOf(mine.slot, mine.lease);
    const release = () => releaseSlot(this.#store, held);
    await retrying(release, { forMs: clientLimits.leaveMs }).catch(() => {});
  }

  /** Also of a ticket whose creation was never answered. What cannot be removed ends by itself. */
  async leave(): Promise<void> {
    const tickets = new Map<string, LeaseObject>();
    const { ticket } = this.#look();
    for (const each of [ticket, this.#ticket]) {
      if (each?.metadata.uid !== undefined) tickets.set(each.metadata.uid, each);
    }
    const remove = (lease: LeaseObject) => this.#store.remove(lease);
    for (const each of tickets.values()) {
      await retrying(() => remove(each), { forMs: clientLimits.leaveMs }).catch(() => {});
    }
  }
}

/** Node fires a longer timer at once. */
const timerMsMax = 2 ** 31 - 1;
