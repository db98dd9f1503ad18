import { apply } from "../apply/apply.ts";
import type { BrokerEvent } from "../model/event.ts";
import type { State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";

/** One command being decided: where things stand, what time it is, what has come of it so far. */
export interface Turn {
  readonly state: State;
  readonly now: Instant;
  readonly events: BrokerEvent[];
}

/**
 * Makes an event true at once, so that the rest of the decision sees it: a release frees a
 * resource, and the same decision grants it to the next in line.
 */
export function emit(turn: Turn, event: BrokerEvent): void {
  apply(turn.state, event, turn.now);
  turn.events.push(event);
}
