/** A pool may list the states that clients and operators may use, so that a typo strands nothing. */
import { ownStates } from "../model/lifecycle.ts";
import type { Refusal } from "../model/outcome.ts";
import type { Pool } from "../model/state.ts";

/** Returns undefined if a client may put a resource of the pool into this state. */
export function refuseState({ name, policy }: Pool, state: string): Refusal | undefined {
  const { states } = policy;
  if (states === undefined || states.includes(state) || ownStates.includes(state)) return undefined;
  return { code: "state_not_allowed", pool: name, state, allowed: states };
}
