import { JournalUnavailable, JournalUnusable } from "./journal.ts";

/** Primary result codes, https://sqlite.org/rescode.html: the low byte of an extended code. */
const passing = new Set([
  3, // PERM
  5, // BUSY
  6, // LOCKED
  7, // NOMEM
  8, // READONLY
  10, // IOERR
  13, // FULL
  14, // CANTOPEN
  15, // PROTOCOL: too many tries for a lock
]);
const damaged = new Set([
  11, // CORRUPT
  26, // NOTADB
]);

/**
 * Converts an error of SQLite to an error of the journal. An unknown error is a bug and is returned
 * as it is, so that it is not mistaken for a full disk and retried for ever.
 */
export function sqliteFailure(error: unknown, verb: string, path: string): unknown {
  const code = primaryCode(error);
  if (code === undefined || !(error instanceof Error)) return error;
  const message = `Cannot ${verb} "${path}": ${error.message}`;
  if (passing.has(code)) return new JournalUnavailable(message, { cause: error });
  if (!damaged.has(code)) return error;
  const hint = `Restore it from a backup, or save what can be read: sqlite3 "${path}" .recover`;
  return new JournalUnusable(message, hint, { cause: error });
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === 5;
}

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}
