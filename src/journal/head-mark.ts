import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { folderFailure, makePrivateFile } from "./data-folder.ts";
import { JournalUnusable } from "./journal.ts";

/** The last event that the journal had, and the checksum of its commit. */
export interface JournalEnd {
  readonly head: number;
  readonly checksum: number | null;
}

export function headMarkPath(folder: string): string {
  return join(folder, "journal.head");
}

/**
 * A small file that names the last event of the journal. It is the only way to notice at a start
 * that the end of the journal is missing: SQLite ignores a write-ahead log that was deleted, and
 * the part of a log after its first damaged page.
 *
 * Each commit overwrites it after its own sync, without another sync: 3 µs. It survives the death of
 * the process. A power cut may set it back, and then less is noticed; it is never ahead of the disk.
 */
export class HeadMark {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  static open(folder: string): HeadMark {
    const path = headMarkPath(folder);
    makePrivateFile(folder, path);
    try {
      return new HeadMark(openSync(path, "r+"));
    } catch (error) {
      throw folderFailure(error, folder);
    }
  }

  /** Never throws: without the mark the journal still works. */
  write(end: JournalEnd): void {
    try {
      writeSync(this.#file, formatMark(end), 0);
    } catch {
      // The disk is full. An older mark stays, or one that `readHeadMark` ignores.
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}

const markLength = 80;

function formatMark({ head, checksum }: JournalEnd): string {
  const text = `event ${head} checksum ${checksum ?? "none"}`;
  return `${text} check ${crc32(text)}`.padEnd(markLength - 1).concat("\n");
}

/** Undefined if there is no mark, or none that can be trusted. */
export function readHeadMark(folder: string): JournalEnd | undefined {
  let text: string;
  try {
    text = readFileSync(headMarkPath(folder), "latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw folderFailure(error, folder);
  }
  const match = /^(event (\d{1,16}) checksum (\d{1,10}|none)) check (\d{1,10}) *\n$/.exec(text);
  const [, marked = "", head, checksum, check] = match ?? [];
  if (match === null || crc32(marked) !== Number(check)) return undefined;
  return { head: Number(head), checksum: checksum === "none" ? null : Number(checksum) };
}

/** The events between the end of the journal and its mark were acknowledged, and are lost. */
export function missingEnd(
  folder: string,
  path: string,
  head: number,
  mark: JournalEnd,
): JournalUnusable {
  const last = mark.head;
  const lost = head + 1 === last ? `event ${last} is` : `events ${head + 1} to ${last} are`;
  return new JournalUnusable(
    `Cannot open the journal "${path}": ${lost} missing at its end`,
    `Restore journal.db and journal.db-wal from a backup; ${acceptLoss(folder)}`,
  );
}

export function otherEnd(folder: string, path: string, mark: JournalEnd): JournalUnusable {
  return new JournalUnusable(
    `Cannot open the journal "${path}": its event ${mark.head} is not the one that was written`,
    `Restore the data folder from a backup; ${acceptLoss(folder)}`,
  );
}

function acceptLoss(folder: string): string {
  return `to continue without what is missing, delete "${headMarkPath(folder)}"`;
}
