import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makePrivateFile } from "../../journal/data-folder.ts";
import { connect } from "../../journal/sqlite-database.ts";
import { sqliteFailure } from "../../journal/sqlite-failure.ts";
import {
  attachJournal,
  copyFromJournal,
  dropHistoryTables,
  hasHistoryTables,
} from "./journal-tables.ts";
import { isOutdated, migrateHistory, mustBeHistory } from "./schema.ts";

/** Only its own process writes it, so nobody is ever met here but a person with sqlite3. */
const busyMs = 250;
/** A log that grew behind a long reader is cut back to this, in bytes. */
const logSizeMax = 16 * 1024 * 1024;

/** Where a data folder keeps its history. */
export function historyPath(folder: string): string {
  return join(folder, "history.db");
}

export interface OpenOptions {
  /** Drops all that there is; the caller makes it again from the journal. */
  readonly anew?: boolean | undefined;
  /** A journal's file that may have tables of history from an older Berth: they are moved. */
  readonly journalPath?: string | undefined;
  /** Told how many entries were moved. */
  readonly moved?: ((entries: number) => void) | undefined;
  /** Told when the old tables could not be dropped; the next start tries again. */
  readonly failed?: ((cause: unknown) => void) | undefined;
}

/** Writes nothing where all is as it should be, so that it opens on a full disk. */
export function openHistoryFile(path: string, options: OpenOptions): DatabaseSync {
  using journal = oldTables(options.journalPath);
  if (options.anew) {
    if (journal !== undefined) dropHistoryTables(journal.database);
    removeFile(path);
  }
  makePrivateFile(dirname(path), path);
  const database = connect(path, busyMs);
  try {
    mustBeHistory(database, path);
    if (options.anew || journal === undefined) make(database, path);
    else options.moved?.(take(database, path, journal.path));
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA journal_size_limit = ${logSizeMax};
    `);
    if (journal !== undefined) drop(journal.database, options.failed);
    return database;
  } catch (error) {
    database.close();
    throw sqliteFailure(error, "open the history", path);
  }
}

export function historyInMemory(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  migrateHistory(database);
  return database;
}

/** Also one that is damaged, with what SQLite keeps beside it. */
function removeFile(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"])
    rmSync(`${path}${suffix}`, { force: true });
}

/** A connection to the journal's file, if that has tables of history. */
function oldTables(path: string | undefined) {
  if (path === undefined || !existsSync(path)) return undefined;
  const database = connect(path, busyMs);
  if (!hasHistoryTables(database)) {
    database.close();
    return undefined;
  }
  return { path, database, [Symbol.dispose]: () => database.close() };
}

function make(database: DatabaseSync, path: string): void {
  if (isOutdated(database, path)) inTransaction(database, () => migrateHistory(database));
}

/**
 * The tables and what is moved into them are one synced commit. A new file has no write-ahead log
 * yet, so a large history needs room for one copy of it and not for two.
 */
function take(database: DatabaseSync, path: string, journalPath: string): number {
  const outdated = isOutdated(database, path);
  using _journal = attachJournal(database, journalPath);
  database.exec("PRAGMA synchronous = FULL");
  return inTransaction(database, () => {
    if (outdated) migrateHistory(database);
    return copyFromJournal(database);
  });
}

/** Deferred: it must lock the file that it writes, and not the journal that it reads. */
function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec("BEGIN");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** They are of no use any more, and harm nobody who has room for them. */
function drop(journal: DatabaseSync, failed: OpenOptions["failed"]): void {
  try {
    dropHistoryTables(journal);
  } catch (error) {
    failed?.(error);
  }
}
