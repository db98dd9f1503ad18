import { busyState, revokingState } from "./lifecycle.ts";

/** A word for people for a state: what is lent is held, whatever its pool calls that; operators end leases. */
export function stateWord(state: string): string {
  if (state === revokingState) return "ending";
  return state === busyState || state === "leased" ? "held" : state;
}
