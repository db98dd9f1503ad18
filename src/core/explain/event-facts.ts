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
