/**
 * Decides what a command does, given the state, the command and the time. All rules of lending are
 * here.
 *
 * `decide` is deterministic and reads nothing but its arguments, so the same journal always replays
 * to the same state. Recovery, bug reports from journals and simulations depend on this. So: no
 * clock, no randomness, no I/O, no `await`. The time and new ids come with the command.
 *
 * Each event is applied to the state as soon as it is found, because the rest of the decision
 * depends on it: every decision ends in `settle`, which grants what the command has freed. A caller
 * that cannot make the events durable must drop the state and replay its journal.
 */

import type { ClusterCommand, Command, HubCommand } from "../model/command.ts";
import type { BrokerEvent } from "../model/event.ts";
import { done, type Outcome } from "../model/outcome.ts";
import type { State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { acquire } from "./acquire.ts";
import { admit, withhold } from "./admit.ts";
import { bump } from "./bump.ts";
import { changeResource } from "./change-resource.ts";
import {
  abandonCluster,
  adoptCluster,
  clusterLost,
  destroyCluster,
  holdCluster,
  replaceCluster,
  reportCluster,
  unholdCluster,
} from "./cluster-commands.ts";
import { configure, removeResources } from "./configure.ts";
import { releaseHeld, renewHeld, reset, take } from "./held.ts";
import { hubProbed, setHub } from "./hubs.ts";
import { importResources } from "./import.ts";
import { clustersFound } from "./orphans.ts";
import { preempt } from "./preempt.ts";
import { refresh } from "./refresh.ts";
import { keepWaiting, leave, notDelivered, release, renew, revoke } from "./release.ts";
import { setAside } from "./set-aside.ts";
import { settle } from "./settle.ts";
import { pin, signal } from "./signal.ts";
import { tick } from "./tick.ts";
import { emit, newTurn, type Turn } from "./turn.ts";

export interface Decision {
  readonly events: readonly BrokerEvent[];
  /** The number of first events that are the command's own, but for `following`. */
  readonly own: number;
  readonly following: ReadonlySet<BrokerEvent> | null;
  readonly outcome: Outcome;
}

/** The outcome of a command: known now, or only after `settle`. */
export type Answer = Outcome | (() => Outcome);

export function decide(state: State, command: Command, now: Instant): Decision {
  const turn = newTurn(state, now);
  const answer = handle(turn, command);
  const own = turn.events.length;
  settle(turn);
  if (turn.preempting.size > 0) preempt(turn);
  const outcome = typeof answer === "function" ? answer() : answer;
  return { events: turn.events, own, following: turn.following, outcome };
}

/** Whether an event is the command's own. The others follow from these. */
export function isOwn({ events, own, following }: Decision, index: number): boolean {
  return index < own && !following?.has(events[index] as BrokerEvent);
}

function handle(turn: Turn, command: Command): Answer {
  switch (command.type) {
    case "acquire":
      return acquire(turn, command);
    case "keep-waiting":
      return keepWaiting(turn, command.id, command.waitMs);
    case "leave":
      return leave(turn, command);
    case "bump":
      return bump(turn, command);
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
    case "remove-resources":
      return removeResources(turn, command.names);
    case "configure":
      return configure(turn, command.pools, command);
    case "set-aside":
      return setAside(turn, command);
    case "tick":
      return tick(turn);
    case "give-grace":
      emit(turn, { ...command, type: "grace-given" });
      return done;
    default:
      return handleCluster(turn, command);
  }
}

function handleCluster(turn: Turn, command: ClusterCommand | HubCommand): Answer {
  switch (command.type) {
    case "cluster-report":
      return reportCluster(turn, command);
    case "cluster-lost":
      return clusterLost(turn, command);
    case "cluster-replace":
      return replaceCluster(turn, command);
    case "cluster-hold":
      return holdCluster(turn, command);
    case "cluster-unhold":
      return unholdCluster(turn, command);
    case "cluster-destroy":
      return destroyCluster(turn, command);
    case "cluster-abandon":
      return abandonCluster(turn, command);
    case "clusters-found":
      return clustersFound(turn, command);
    case "cluster-adopt":
      return adoptCluster(turn, command);
    case "hub-set":
      return setHub(turn, command);
    case "hub-probed":
      return hubProbed(turn, command);
    default:
      return unreachable(command);
  }
}

/**
 * Whether a command makes no durable event. The broker accepts these (signs of life) even while the
 * journal cannot be written.
 */
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

/** When the next `tick` is due; undefined if nothing has a deadline. */
export function nextDueAt(state: State): Instant | undefined {
  return state.due.first()?.dueAt;
}

function unreachable(command: never): never {
  throw new Error(`Cannot decide on a command of an unknown type: ${JSON.stringify(command)}`);
}
