/**
 * The chain of the audit. The hash of an entry covers its text and the hash of the entry before, so
 * nobody can change, remove or insert an entry without changing all later hashes. A chain alone
 * cannot show that its end was cut off, or that all of it was written anew: for that somebody must
 * have noted a hash elsewhere, the anchor.
 */
import { hash } from "node:crypto";
import type { AuditEntry, ChainedEntry } from "./entry.ts";

/** What stands before the first entry of a chain. */
export const noHash = "0".repeat(64);

/** Characters that could hide or reorder text on a terminal. JSON escapes only those below U+0020. */
const unsafe = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function bodyOf(entry: AuditEntry): string {
  const text = JSON.stringify(entry);
  return text.replace(unsafe, (found) => {
    return `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

export function hashOf(previous: string, body: string): string {
  return hash("sha256", `${previous}\n${body}`, "hex");
}

/** One line of an export. Its text without `previous` and `hash` is the body. */
export function lineOf({ body, previous, hash: own }: StoredEntry): string {
  return `${body.slice(0, -1)},"previous":"${previous}","hash":"${own}"}`;
}

/** The line of an entry that was read from the API. */
export function lineOfEntry({ previous, hash: own, ...entry }: ChainedEntry): string {
  return lineOf({ number: entry.number, body: bodyOf(entry), previous, hash: own });
}

export interface StoredEntry {
  readonly number: number;
  readonly body: string;
  readonly previous: string;
  readonly hash: string;
}

/** As it is in the file, where searches and the retention use the time beside the text. */
export interface FiledEntry extends StoredEntry {
  readonly atMs: number;
}

/** Undefined if the line is not exactly what `lineOf` writes: a second `by`, say, would be hidden. */
export function entryOfLine(line: string): StoredEntry | undefined {
  try {
    const { previous, hash: own, ...entry } = JSON.parse(line) as ChainedEntry;
    const stored = { number: entry.number, body: bodyOf(entry), previous, hash: own };
    return Number.isSafeInteger(entry.number) && lineOf(stored) === line ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** The last entry that an operator has noted, as `number:hash`. */
export interface Anchor {
  readonly number: number;
  readonly hash: string;
}

export function anchorText({ number, hash: own }: Anchor): string {
  return `${number}:${own}`;
}

export function parseAnchor(text: string): Anchor | undefined {
  const [, number, own] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim().toLowerCase()) ?? [];
  return number === undefined || own === undefined
    ? undefined
    : { number: Number(number), hash: own };
}
