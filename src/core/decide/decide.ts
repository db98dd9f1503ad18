/**
 * The broker's only brain: given what is, what is asked, and what time it is, say what happens.
 *
 * It is deterministic and touches nothing outside its arguments, so that one journal, replayed
 * anywhere, yields one state. That single property makes recovery safe, turns a journal into a bug
 * report, and lets a laptop simulate a year of CI. So: no clock, no randomness, no I/O, no `await`.
 * Time and identifiers arrive with the command.
 *
 * The state moves on by exactly the events that are returned, each applied as it is found, because
 * what follows in the same decision depends on it: every decision ends in `settle`, which grants what
 * a command has freed. A shell that cannot make the events durable must throw the state away and
 * replay its journal.
 */

import type { Command } from "../model/command.ts";
import type { BrokerEvent } from "../model/event.ts";
import { done, type Outcome } from "../model/outcome.ts";
import type { State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { acquire } from "./acquire.ts";
import { admit, withhold } from "./admit.ts";
import { changeResource } from "./change-resource.ts";
import { configure } from "./configure.ts";
import { releaseHeld, renewHeld, reset, take } from "./held.ts";
import { importResources } from "./import.ts";
import { refresh } from "./refresh.ts";
import { keepWaiting, leave, notDelivered, release, renew, revoke } from "./release.ts";
import { setAside } from "./set-aside.ts";
import { settle } from "./settle.ts";
import { pin, signal } from "./signal.ts";
import { tick } from "./tick.ts";
import { emit, newTurn, type Turn } from "./turn.ts";

export interface Decision {
  readonly events: readonly BrokerEvent[];
  readonly outcome: Outcome;
}

/** What a command answers: now, or once the decision is settled. */
export type Answer = Outcome | (() => Outcome);

export function decide(state: State, command: Command, now: Instant): Decision {
  const turn = newTurn(state, now);
  const answer = handle(turn, command);
  settle(turn);
  const outcome = typeof answer === "function" ? answer() : answer;
  return { events: turn.events, outcome };
}

function handle(turn: Turn, command: Command): Answer {
  switch (command.type) {
    case "acquire":
      return acquire(turn, command);
    case "keep-waiting":
      return keepWaiting(turn, command.id, command.waitMs);
    case "leave":
      return leave(turn, command);
    case "renew":
      return renew(turn, command.id);
    case "release":
      return release(turn, command);
    case "refresh":
      return refresh(turn, command);
    case "signal":
      return signal(turn, command);
    case "pin":
      return pin(turn, command.pool, command.rate, command.reason);
    case "admit":
      return admit(turn, command);
    case "withhold":
      return withhold(turn, command);
    case "not-delivered":
      return notDelivered(turn, command);
    case "take":
      return take(turn, command);
    case "renew-held":
      return renewHeld(turn, command);
    case "release-held":
      return releaseHeld(turn, command);
    case "reset":
      return reset(turn, command);
    case "import":
      return importResources(turn, command.resources);
    case "revoke":
      return revoke(turn, command);
    case "change-resource":
      return changeResource(turn, command);
    case "configure":
      return configure(turn, command.pools);
    case "set-aside":
      return setAside(turn, command);
    case "tick":
      return tick(turn);
    case "give-grace":
      emit(turn, { type: "grace-given" });
      return done;
    default:
      return unreachable(command);
  }
}

/** Signs of life need no journal, so they are taken even while it cannot be written. */
export function isVolatile(command: Command): boolean {
  switch (command.type) {
    case "renew":
    case "keep-waiting":
    case "give-grace":
      return true;
    case "renew-held":
      return command.userData === undefined;
    default:
      return false;
  }
}

/** When the state next wants a `tick`; undefined while nothing is due ever. */
export function nextDueAt(state: State): Instant | undefined {
  return state.due.first()?.dueAt;
}

function unreachable(command: never): never {
  throw new Error(`Cannot decide on a command of an unknown type: ${JSON.stringify(command)}`);
}
