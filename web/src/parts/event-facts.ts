/** Fields of events as people read them. */
import { text } from "../../../src/core/explain/event-facts.ts";

/** A state after "is"; any other is a word already. */
export function stateWords(state: unknown): string {
  return states.get(text(state)) ?? text(state);
}

const states = new Map([
  ["creating", "being created"],
  ["destroying", "being destroyed"],
  ["resuming", "being woken"],
  ["stopping", "being hibernated"],
  ["tombstone", "gone"],
  ["toBeDeleted", "to be deleted"],
  ["used", "to be destroyed"],
  ["dirty", "to be cleaned"],
]);

/** `: because of this`, or nothing. Only the first line: the rest is on the page of the subject. */
export function after(value: unknown): string {
  const [first = ""] = text(value).trim().split("\n");
  return first === "" ? "" : `: ${first}`;
}
