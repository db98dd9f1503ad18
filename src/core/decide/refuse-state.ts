/** A pool may list the states that clients and operators may use, so that a typo strands nothing. */
import { dirtyState, freeState, ownStates } from "../model/lifecycle.ts";
import type { Refusal } from "../model/outcome.ts";
import type { Pool } from "../model/state.ts";

/** Returns undefined if a client may put a resource of the pool into this state. */
export function refuseState({ name, policy }: Pool, state: string): Refusal | undefined {
  const { states } = policy;
  if (states === undefined || states.includes(state) || ownStates.includes(state)) return undefined;
  return { code: "state_not_allowed", pool: name, state, allowed: states };
}

/**
 * The same for a holder that is no worker: only states that the pool lists or uses itself. From any
 * other state nobody takes the resource, and one holder after the other would empty the pool.
 */
export function refuseHolderState({ name, policy }: Pool, state: string): Refusal | undefined {
  const { states = [freeState, dirtyState], onRelease, onExpire } = policy;
  const allowed = [...new Set([...states, onRelease, onExpire])];
  if (allowed.includes(state)) return undefined;
  return { code: "state_not_allowed", pool: name, state, allowed };
}
