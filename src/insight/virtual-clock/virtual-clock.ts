/**
 * Runs the real core on a virtual clock: a week passes in seconds. Estimates run it from the
 * present, what-if from a recorded past, and the pacing simulations from an empty pool.
 *
 * Two kinds of events run, each at its time: deadlines in the state (an expiry, the end of a
 * cooldown, a pace that opens) and planned commands. At the same instant, deadlines come first, as
 * in the broker. The core alone decides about grants.
 */
import { decide, nextDueAt } from "../../core/decide/decide.ts";
import type { Command } from "../../core/model/command.ts";
import type { BrokerEvent } from "../../core/model/event.ts";
import type { Outcome } from "../../core/model/outcome.ts";
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

  /** `happened` is called after each decision with events. It may plan and run more commands. */
  constructor(state: State, now: Instant, happened: Happened) {
    this.state = state;
    this.#now = now;
    this.#happened = happened;
  }

  get now(): Instant {
    return this.#now;
  }

  /** The time of the next event; `never` if there is none. */
  get nextAt(): Instant {
    return earliest(nextDueAt(this.state) ?? never, this.#planned.nextAt);
  }

  /** Runs the command now. */
  do(command: Command): Outcome {
    const { events, outcome } = decide(this.state, command, this.#now);
    if (events.length > 0) this.#happened(events, this.#now);
    return outcome;
  }

  /** Plans a command. Commands for the same instant run in the order of planning. */
  plan(at: Instant, command: Command): void {
    this.#planned.add(at, command);
  }

  /** Runs the next deadline or command. Returns false if there is none up to `end`. */
  step(end: Instant = never): boolean {
    const dueAt = nextDueAt(this.state) ?? never;
    const next = earliest(dueAt, this.#planned.nextAt);
    if (next > end || next === never) return false;
    if (next > this.#now) this.#now = next;
    this.do(dueAt <= next ? tick : this.#planned.take());
    return true;
  }

  /** Advances the time to an instant, with all events up to and including it. */
  passTo(end: Instant): void {
    while (this.step(end));
    if (end > this.#now) this.#now = end;
  }
}
