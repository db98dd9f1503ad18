import { busyState } from "./lifecycle.ts";

/** A word for people for a state: what is lent is held, whatever its pool calls that. */
export function stateWord(state: string): string {
  return state === busyState || state === "leased" ? "held" : state;
}
