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
  1, // ERROR: our statements are tested, so a table or column is missing or damaged
  11, // CORRUPT
  19, // CONSTRAINT, 20 MISMATCH: a table has another definition than ours
  20,
  26, // NOTADB
]);
const readOnly = new Set([
  3, // PERM
  8, // READONLY
  14, // CANTOPEN
]);

/**
 * Converts an error of SQLite to an error of the journal. An unknown error is a bug and is returned
 * as it is, so that it is not mistaken for a full disk and retried for ever.
 */
export function sqliteFailure(error: unknown, verb: string, path: string): unknown {
  const code = primaryCode(error);
  if (code === undefined || !(error instanceof Error)) return error;
  const message = `Cannot ${verb} "${path}": ${error.message}`;
  if (passing.has(code)) {
    const hint = readOnly.has(code)
      ? `Make "${path}" and its folder writable for this user, or name another folder with --data`
      : `Check the disk of "${path}": it may be full or failing`;
    return new JournalUnavailable(message, { cause: error, hint });
  }
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
