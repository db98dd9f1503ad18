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
