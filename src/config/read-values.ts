/** How single values are read: names, durations, numbers, states, lists and maps. */

import { isMap, isNode, isScalar, isSeq } from "yaml";
import { reservedStates } from "../core/model/lifecycle.ts";
import { nearest } from "../core/model/nearest.ts";
import { formatDuration, parseDuration } from "../core/model/time.ts";
import {
  type ConfigDocument,
  describe,
  type Expected,
  formatNumber,
  formatPath,
  type Path,
  type Place,
  quote,
  readText,
  refuseValue,
  type Source,
  type Spot,
  type TextKind,
} from "./document.ts";
import type { DurationLimits } from "./limits.ts";
import type { PoolDraft } from "./read-pool.ts";
import { withArticle } from "./shown-text.ts";
import { stateKind } from "./text-kinds.ts";

type Pool = Pick<PoolDraft, "name" | "at" | "count" | "members">;

/**
 * Refuses names that two resources would share.
 *
 * Two counts never clash: what stands before the last dash is the pool, and pools have different
 * names. So only written names are kept and compared, and a count of a million costs nothing.
 */
export function refuseClashes(source: Source, pools: readonly Pool[]): void {
  const counting = new Map<string, Pool>();
  for (const pool of pools) if (pool.count > 0) counting.set(pool.name, pool);
  const written = new Map<string, Place>();
  for (const { name, at } of pools.flatMap(({ members }) => members)) {
    const other = written.get(name) ?? makerOf(name, counting);
    written.set(name, other ?? at);
    if (other === undefined) continue;
    const line = source.lineOf(other);
    const state = `line ${line} already has ${name}, from ${formatPath(other.path)}`;
    source.refuse(at, state, "rename one: a name is used once in the whole file");
  }
}

const numbered = /^(.+)-([1-9]\d*)$/;

/** The count that makes a resource of this name. */
function makerOf(name: string, counting: ReadonlyMap<string, Pool>): Place | undefined {
  const [, poolName = "", number = ""] = numbered.exec(name) ?? [];
  const pool = counting.get(poolName);
  if (pool === undefined || Number(number) > pool.count) return undefined;
  const path: Path = [...pool.at.path, "count"];
  return { path, offset: pool.at.offset };
}

/** In milliseconds; undefined, with the reason in the source, if it is none or beyond limits. */
export function readDuration(
  source: Source,
  spot: Spot,
  { minMs, maxMs }: DurationLimits,
): number | undefined {
  const value = isScalar(spot.node) ? spot.node.value : undefined;
  const text = value === 0 ? "0" : value;
  const durationMs = typeof text === "string" ? parseDuration(text) : undefined;
  if (durationMs === undefined) {
    refuseValue(source, spot, { title: "duration", hint: durationHint(value) });
    return undefined;
  }
  if (durationMs >= minMs && durationMs <= maxMs) return durationMs;
  const [least, most] = [formatDuration(minMs), formatDuration(maxMs)];
  const how = durationMs < minMs ? "shorter" : "longer";
  source.refuse(spot, `${text} is ${how} than is allowed`, `write ${least} to ${most}`);
  return undefined;
}

const wordy = /^(?:\d+(?:\.\d+)?[a-z]+)+$/;
const wordyPart = /(\d+(?:\.\d+)?)([a-z]+)/g;
const bare = /^\d+(?:\.\d+)?$/;

/** What was probably meant: `10m` for "10 minutes", `14d` for "2 weeks", some unit for 10. */
export function durationHint(written: unknown): string {
  const text = String(written)
    .toLowerCase()
    .replaceAll(/[\s,_]|and/g, "");
  if (bare.test(text)) return `add a unit: ${text}s, ${text}m or ${text}h`;
  if (!wordy.test(text)) return otherwise;
  const parts = [...text.matchAll(wordyPart)].map(([, amount = "", word = ""]) => {
    if (/^(?:ms|milli)/.test(word)) return `${amount}ms`;
    const unit = word.charAt(0);
    return unit === "w" ? `${Number(amount) * 7}d` : `${amount}${unit}`;
  });
  const meant = parts.join("");
  return parseDuration(meant) === undefined ? otherwise : `write ${meant}`;
}

const otherwise = "write a number and a unit, such as 90s, 20m or 4h";

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

/** A state that a resource may be put into; undefined if none is written or it cannot be used. */
export function readState(source: Source, field: Entry | undefined): string | undefined {
  if (field === undefined) return undefined;
  const state = readText(source, field.value, stateKind);
  if (state === undefined || !reservedStates.includes(state)) return state;
  const why = `${quote(state)} is a state that only Berth gives`;
  source.refuse(field.value, why, "write free, or dirty if it must be cleaned first");
  return undefined;
}

interface TextList extends Expected {
  readonly kind: TextKind;
  readonly max: number;
}

/** Those items that are text of this kind. Undefined, with the reason in the source, if no list. */
export function readTexts(
  document: ConfigDocument,
  spot: Spot,
  expected: TextList,
): string[] | undefined {
  const { node } = spot;
  if (isSeq(node)) {
    const size = { count: node.items.length, max: expected.max, of: "items" };
    if (!withinLimit(document, spot, size)) return undefined;
  }
  return itemsOf(document, spot, expected)?.flatMap((item) => {
    return readText(document.source, item, expected.kind) ?? [];
  });
}

/** The items of a list, each with its place; none, with the reason in the source, if it is no list. */
export function listOf(document: ConfigDocument, spot: Spot | undefined, title: string): Spot[] {
  if (spot === undefined) return [];
  return itemsOf(document, spot, { title, hint: "write [one, another]" }) ?? [];
}

function itemsOf(document: ConfigDocument, spot: Spot, expected: Expected): Spot[] | undefined {
  const { node } = spot;
  if (!isSeq(node)) {
    refuseValue(document.source, spot, expected);
    return undefined;
  }
  if (!document.mayRead(node, spot)) return undefined;
  return node.items.map((item, index) =>
    document.spot([...spot.path, index], isNode(item) ? item : null, spot.offset),
  );
}

/** What a plain value is; undefined where there is a map or a list. */
export function scalarOf({ node }: Spot): string | number | boolean | null | undefined {
  const value = isScalar(node) ? node.value : undefined;
  const known =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return known || value === null ? value : undefined;
}

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
    if (!accepts(key)) source.refuse(at, `${quote(key)} is not ${withArticle(title)}`, hint);
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
