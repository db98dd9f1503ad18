/**
 * Values as Boskos reads them: its YAML becomes JSON and then a Go struct, so keys may be written in
 * any case, the last of two equal ones counts, unknown ones do not, and a number or a boolean is text
 * where text is wanted.
 */
import { isAlias, isMap, isNode, isScalar, isSeq, Scalar } from "yaml";
import { parseGoDuration } from "../core/model/go-duration.ts";
import {
  type ConfigDocument,
  type Expected,
  oldBoolean,
  quote,
  refuseValue,
  type Source,
  type Spot,
} from "./document.ts";
import type { Entry } from "./read-values.ts";

export type LenientFields = ReadonlyMap<string, Entry>;

/** By key as written. Undefined, with the reason in the source, if it is neither a map nor nothing. */
export function lenientMap(
  document: ConfigDocument,
  spot: Spot,
  expected: Expected,
  depth = 0,
): LenientFields | undefined {
  const { node, path } = spot;
  const fields = new Map<string, Entry>();
  if (isNull(spot)) return fields;
  if (!isMap(node)) {
    refuseValue(document.source, spot, expected);
    return undefined;
  }
  if (depth > mergeDepthMax) {
    document.source.refuse(spot, "it is merged into itself", "write the keys out");
    return undefined;
  }
  if (!document.mayRead(node, spot)) return undefined;
  for (const pair of node.items) {
    const keyNode = isScalar(pair.key) ? pair.key : null;
    const key = String(keyNode?.value ?? "");
    const at = { path: [...path, key], offset: keyNode?.range?.[0] ?? spot.offset };
    const value = isNode(pair.value) ? pair.value : null;
    const entry = { key, at, value: document.spot(at.path, value, at.offset) };
    if (key !== mergeKey) fields.set(key, entry);
    // What is merged in counts less than what is written out, wherever it stands.
    else
      for (const [name, merged] of mergedFields(document, entry, expected, depth + 1)) {
        if (!fields.has(name)) fields.set(name, merged);
      }
  }
  return fields;
}

const mergeKey = "<<";
/** Nobody merges what was merged more often than this, unless it is in a circle. */
const mergeDepthMax = 20;

function mergedFields(
  document: ConfigDocument,
  { value }: Entry,
  expected: Expected,
  depth: number,
): LenientFields {
  const several = isSeq(value.node) ? (lenientList(document, value) ?? []) : [value];
  const fields = new Map<string, Entry>();
  for (const each of several) {
    for (const [key, entry] of lenientMap(document, each, expected, depth) ?? []) {
      if (!fields.has(key)) fields.set(key, entry);
    }
  }
  return fields;
}

/** The one called so; failing that, one called so but for the case of its letters. */
export function lenientField(fields: LenientFields, name: string): Entry | undefined {
  const exact = fields.get(name);
  if (exact !== undefined) return exact;
  return [...fields.values()].findLast(({ key }) => key.toLowerCase() === name);
}

/** Its items. Undefined, with the reason in the source, if it is neither a list nor nothing. */
export function lenientList(document: ConfigDocument, spot: Spot): readonly Spot[] | undefined {
  const { node, path, offset } = spot;
  if (isNull(spot)) return [];
  if (!isSeq(node)) {
    refuseValue(document.source, spot, { title: "list", hint: "write one item per line: - a" });
    return undefined;
  }
  if (!document.mayRead(node, spot)) return undefined;
  return node.items.map((item, index) =>
    document.spot([...path, index], isNode(item) ? item : null, offset),
  );
}

/** Empty where nothing is written. Warns about a value that is not text and reads otherwise. */
export function lenientText(source: Source, spot: Spot): string {
  const { node } = spot;
  if (isNull(spot)) return "";
  if (!isScalar(node)) {
    refuseValue(source, spot, { title: "text", hint: "write it on one line, or quote it" });
    return "";
  }
  const { value, source: written = String(value) } = node;
  const text = isOldBoolean(node) ? String(/^(?:y|yes|on)$/i.test(written)) : String(value);
  if (text !== String(value) || (typeof value !== "string" && text !== written)) {
    source.warn(
      spot,
      `${quote(written)} is taken for ${quote(text)}, as Boskos takes it`,
      "quote it",
    );
  }
  return text;
}

/** Zero where nothing is written. */
export function lenientInteger(source: Source, spot: Spot): number {
  const value = isScalar(spot.node) ? spot.node.value : undefined;
  if (isNull(spot)) return 0;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  refuseValue(source, spot, { title: "whole number", hint: "write it without quotes" });
  return 0;
}

/** Text as Go writes durations, or a number of nanoseconds. Null where nothing is written. */
export function lenientDuration(source: Source, spot: Spot): number | null {
  const value = isScalar(spot.node) ? spot.node.value : undefined;
  if (isNull(spot)) return null;
  if (typeof value === "number") return Math.max(0, Math.round(value / 1e6));
  const hint = "write a number and a unit, such as 90s, 20m or 4h";
  if (typeof value !== "string") {
    refuseValue(source, spot, { title: "duration", hint });
    return null;
  }
  const read = parseGoDuration(value);
  if (read.ok) return Math.max(0, Math.round(read.durationMs));
  source.refuse(spot, read.message, hint);
  return null;
}

export function isNull({ node }: Spot): boolean {
  return node === null || (isScalar(node) && node.value === null && !isAlias(node));
}

/** Words that are text for us and were read as true or false by the YAML that Boskos reads. */
function isOldBoolean({ type, value }: Scalar): boolean {
  return type === Scalar.PLAIN && typeof value === "string" && oldBoolean.test(value);
}
