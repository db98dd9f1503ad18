import { isMap, isNode, isScalar } from "yaml";
import { nearest } from "../core/model/nearest.ts";
import type { ConfigDocument } from "./document.ts";
import { formatNumber, quote } from "./problem.ts";
import type { Place, Spot } from "./source.ts";
import { type Expected, refuseValue, type TextKind } from "./yaml-scalars.ts";

export interface Entry {
  readonly key: string;
  /** Where the key stands. */
  readonly at: Place;
  readonly value: Spot;
}

/** Every key of a map once. Undefined, with the reason in the source, if it is no map. */
export function readMap(
  document: ConfigDocument,
  spot: Spot,
  expected: Expected,
): readonly Entry[] | undefined {
  const { node, path } = spot;
  if (!isMap(node)) {
    refuseValue(document.source, spot, expected);
    return undefined;
  }
  if (!document.mayRead(node, spot)) return undefined;
  const entries = new Map<string, Entry>();
  for (const pair of node.items) {
    const keyNode = isScalar(pair.key) ? pair.key : null;
    const key = String(keyNode?.value ?? "");
    const at = { path: [...path, key], offset: keyNode?.range?.[0] ?? spot.offset };
    const first = entries.get(key);
    if (first !== undefined) {
      const state = `it is written twice, first in line ${document.source.lineOf(first.at)}`;
      document.source.refuse(at, state, "keep one of them");
      continue;
    }
    const value = isNode(pair.value) ? pair.value : null;
    entries.set(key, { key, at, value: document.spot(at.path, value, at.offset) });
  }
  return [...entries.values()];
}

/** The entries by key; a key that is not known is refused with the nearest that is. */
export function knownFields(
  { source }: ConfigDocument,
  entries: readonly Entry[],
  known: readonly string[],
): ReadonlyMap<string, Entry> {
  const fields = new Map<string, Entry>();
  for (const entry of entries) {
    if (known.includes(entry.key)) fields.set(entry.key, entry);
    else source.refuse(entry.at, "there is no such key", hintFor(entry.key, known));
  }
  return fields;
}

/** The known keys of a map. Undefined, with the reason in the source, if it is no map. */
export function readKnown(
  document: ConfigDocument,
  spot: Spot,
  known: readonly string[],
  expected: Expected,
): ReadonlyMap<string, Entry> | undefined {
  const entries = readMap(document, spot, expected);
  return entries && knownFields(document, entries, known);
}

/** A map whose keys are names that its writer chooses. */
export interface NamedEntries extends Expected {
  readonly names: TextKind;
  readonly max: number;
  /** What there are too many of above the limit. */
  readonly of: string;
}

/** The entries of such a map. None, with the reason in the source, if it cannot be used. */
export function readNamed(
  document: ConfigDocument,
  { at, value }: Entry,
  { names, max, of, ...expected }: NamedEntries,
): readonly Entry[] {
  const entries = readMap(document, value, expected) ?? [];
  if (!withinLimit(document, at, { count: entries.length, max, of })) return [];
  checkKeys(document, entries, names);
  return entries;
}

function hintFor(key: string, known: readonly string[]): string {
  if (key === "<<") return "write the keys out: YAML 1.2 does not merge maps";
  const meant = nearest(key, known);
  return meant === undefined ? `known here: ${known.join(", ")}` : `write ${meant}`;
}

/** Refuses keys that are not names of this kind; what stands below them is read nevertheless. */
export function checkKeys(
  { source }: ConfigDocument,
  entries: readonly Entry[],
  { accepts, title, hint }: TextKind,
): void {
  for (const { key, at } of entries) {
    if (!accepts(key)) source.refuse(at, `${quote(key)} is not a ${title}`, hint);
  }
}

/** False, with the reason in the source, if there are more than a file may have. */
export function withinLimit(
  { source }: ConfigDocument,
  at: Place,
  { count, max, of }: { count: number; max: number; of: string },
): boolean {
  if (count <= max) return true;
  const state = `it has ${formatNumber(count)} ${of}, and the limit is ${formatNumber(max)}`;
  source.refuse(at, state, `remove ${formatNumber(count - max)}`);
  return false;
}
