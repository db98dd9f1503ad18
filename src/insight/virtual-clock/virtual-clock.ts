/**
 * The real core on a virtual clock: a week passes in seconds. Estimates run it from the present, what-if
 * from a recorded past, and the simulations of pacing from an empty pool.
 *
 * It lets two kinds of things happen, each at its time: what falls due in the state by itself (an
 * expiry, the end of a cooldown, a pace that opens), and what somebody was planned to do. At the same
 * instant what is due comes first, as in the broker. Nothing here decides who is lent what.
 */
import { decide, nextDueAt } from "../../core/decide/decide.ts";
import type { Command } from "../../core/model/command.ts";
import type { BrokerEvent } from "../../core/model/event.ts";
import type { State } from "../../core/model/state.ts";
import { earliest, type Instant, never } from "../../core/model/time.ts";
import { PlannedCommands } from "./planned-commands.ts";

export type Happened = (events: readonly BrokerEvent[], at: Instant) => void;

const tick: Command = { type: "tick" };

export class VirtualClock {
  readonly state: State;
  readonly #happened: Happened;
  readonly #planned = new PlannedCommands();
  #now: Instant;

  /** `happened` is called after each decision that had events; it may plan and do more. */
  constructor(state: State, now: Instant, happened: Happened) {
    this.state = state;
    this.#now = now;
    this.#happened = happened;
  }

  get now(): Instant {
    return this.#now;
  }

  /** When something happens next; `never`: nothing does. */
  get nextAt(): Instant {
    return earliest(nextDueAt(this.state) ?? never, this.#planned.nextAt);
  }

  /** Somebody does this now. */
  do(command: Command): void {
    const { events } = decide(this.state, command, this.#now);
    if (events.length > 0) this.#happened(events, this.#now);
  }

  /** Somebody will do this then. Of those of one instant, the first planned comes first. */
  plan(at: Instant, command: Command): void {
    this.#planned.add(at, command);
  }

  /** Lets one thing happen, the next; false where nothing does until then. */
  step(end: Instant = never): boolean {
    const dueAt = nextDueAt(this.state) ?? never;
    const next = earliest(dueAt, this.#planned.nextAt);
    if (next > end || next === never) return false;
    if (next > this.#now) this.#now = next;
    this.do(dueAt <= next ? tick : this.#planned.take());
    return true;
  }

  /** Lets time pass up to an instant, with all that happens on the way and then. */
  passTo(end: Instant): void {
    while (this.step(end));
    if (end > this.#now) this.#now = end;
  }
}
