import { isMap, isScalar, isSeq, type Node, Scalar } from "yaml";
import { formatNumber, quote, shorten } from "./problem.ts";
import type { Source, Spot } from "./source.ts";

/** What a value should have been, in the words of a message. */
export interface Expected {
  /** A noun that goes with "a". */
  readonly title: string;
  readonly hint: string;
}

/** A kind of text that a schema describes. */
export interface TextKind extends Expected {
  /** By a compiled schema, which takes a fortieth of the time that one read anew takes. */
  readonly accepts: (value: unknown) => value is string;
}

/** Says that a value is not what it should be, and shows it as its writer wrote it. */
export function refuseValue(source: Source, spot: Spot, { title, hint }: Expected): void {
  const { node } = spot;
  if (isNothing(node)) source.refuse(spot, "it is empty", hint);
  else source.refuse(spot, `${describe(node)} is not a ${title}`, hint);
}

function isNothing(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.value === null && !node.source);
}

/** The value as its writer wrote it, if it is short. */
export function describe(node: Node | null): string {
  if (isMap(node)) return "a map";
  if (isSeq(node)) return "a list";
  if (!isScalar(node)) return "this";
  return typeof node.value === "string" ? quote(node.value) : literal(node);
}

/** `1.10` as it stands in the file, where its value is 1.1. */
function literal(scalar: Scalar): string {
  return shorten(scalar.source ?? String(scalar.value));
}

/** Words that YAML 1.1 reads as true or false, and with it many tools that pass files on. */
export const oldBoolean = /^(?:y|yes|n|no|on|off)$/i;

/** Undefined, with the reason in the source, unless the value is text of this kind. */
export function readText(source: Source, spot: Spot, kind: TextKind): string | undefined {
  const { node } = spot;
  const value = isScalar(node) ? node.value : undefined;
  if (isScalar(node) && (typeof value === "number" || typeof value === "boolean")) {
    const written = literal(node);
    const hint = kind.accepts(written) ? `quote it: ${quote(written)}` : kind.hint;
    source.refuse(spot, `${written} is a ${typeof value}, not a ${kind.title}`, hint);
    return undefined;
  }
  if (!kind.accepts(value)) {
    refuseValue(source, spot, kind);
    return undefined;
  }
  if (isScalar(node) && node.type === Scalar.PLAIN && oldBoolean.test(value)) {
    const state = `other readers of YAML take ${value} for true or false`;
    source.warn(spot, state, `quote it: ${quote(value)}`);
  }
  return value;
}

/** Undefined, with the reason in the source, unless it is a whole number within these. */
export function readWhole(
  source: Source,
  spot: Spot,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const value = isScalar(spot.node) ? spot.node.value : undefined;
  const hint = `write ${formatNumber(min)} to ${formatNumber(max)}`;
  if (typeof value !== "number" || !Number.isInteger(value)) {
    refuseValue(source, spot, { title: "whole number", hint: `${hint}, without quotes` });
    return undefined;
  }
  if (value >= min && value <= max) return value;
  const state = value < min ? `less than ${formatNumber(min)}` : `more than ${formatNumber(max)}`;
  source.refuse(spot, `${describe(spot.node)} is ${state}`, hint);
  return undefined;
}
