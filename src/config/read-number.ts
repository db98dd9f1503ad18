import { isScalar } from "yaml";
import type { ConfigDocument } from "./document.ts";
import type { Entry } from "./read-map.ts";
import { describe, refuseValue } from "./yaml-scalars.ts";

/** What a number must be within. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly whole?: true;
}

/** Undefined where there is none, or, with the reason in the source, if it is no such number. */
export function optionalNumber(
  document: ConfigDocument,
  field: Entry | undefined,
  range: Range,
): number | undefined {
  return field && readNumber(document, field, range);
}

function readNumber(
  { source }: ConfigDocument,
  { value: spot }: Entry,
  { min, max, whole }: Range,
): number | undefined {
  const value = isScalar(spot.node) ? spot.node.value : undefined;
  const title = whole ? "whole number" : "number";
  const hint = `write ${min} to ${max}`;
  if (typeof value !== "number" || (whole && !Number.isInteger(value))) {
    refuseValue(source, spot, { title, hint });
    return undefined;
  }
  if (value >= min && value <= max) return value;
  const how = value < min ? `less than ${min}` : `more than ${max}`;
  source.refuse(spot, `${describe(spot.node)} is ${how}`, hint);
  return undefined;
}
