/** Numbers that were meant as texts: YAML reads the version 4.20 as the number 4.2. */
import { describe, quote, type Source, type Spot } from "./document.ts";
import { matches } from "./matches.ts";
import { scalarOf } from "./read-values.ts";
import type { ParameterSchema } from "./template-spec.ts";

/** Nobody could ask for such a value by what stands in the file. A schema of numbers means them. */
export function isMisread(schema: ParameterSchema, spot: Spot): boolean {
  const { type } = schema;
  if (type === "integer" || type === "number") return false;
  return changes(spot) || (type === "string" && typeof scalarOf(spot) === "number");
}

export function refuseMisread(source: Source, spot: Spot): void {
  source.refuse(spot, misread(spot), quoteIt(spot));
}

/** Without a schema nobody knows whether a number is meant. */
export function warnOfMisread(source: Source, spot: Spot): void {
  if (changes(spot)) source.warn(spot, misread(spot), quoteIt(spot));
}

/** Undefined if the same in quotes would not be allowed either. */
export function quoteHint(schema: ParameterSchema, spot: Spot): string | undefined {
  const value = scalarOf(spot);
  const isText = typeof value === "string" || value === null || value === undefined;
  return isText || !matches(schema, describe(spot.node)) ? undefined : quoteIt(spot);
}

/** Whether the number, written again, is another text than the one in the file. */
function changes(spot: Spot): boolean {
  const value = scalarOf(spot);
  return typeof value === "number" && String(value) !== describe(spot.node);
}

function misread(spot: Spot): string {
  return changes(spot)
    ? `${describe(spot.node)} is the number ${scalarOf(spot)}`
    : `${describe(spot.node)} is a number, not a text`;
}

function quoteIt(spot: Spot): string {
  return `quote it: ${quote(describe(spot.node))}`;
}
