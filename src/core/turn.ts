import { apply } from "./apply.ts";
import type { BrokerEvent } from "./event.ts";
import type { State } from "./state.ts";
import type { Instant } from "./time.ts";

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
