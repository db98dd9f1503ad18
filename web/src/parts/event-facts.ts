/** Readers for the fields of events, which any version of the server may have written. */

export type Facts = Readonly<Record<string, unknown>>;

export function factsOf(value: unknown): Facts {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

export function listOf(value: unknown): Facts[] {
  return Array.isArray(value) ? value.map(factsOf) : [];
}

export function text(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}

/** A state after "is"; any other is a word already. */
export function stateWords(state: unknown): string {
  return states.get(text(state)) ?? text(state);
}

const states = new Map([
  ["tombstone", "gone"],
  ["toBeDeleted", "to be deleted"],
]);

/** `: because of this`, or nothing. Only the first line: the rest is on the page of the subject. */
export function after(value: unknown): string {
  const [first = ""] = text(value).trim().split("\n");
  return first === "" ? "" : `: ${first}`;
}
