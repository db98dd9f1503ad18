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

/**
 * Only this process writes the file, so a conflict is possible only with a person who uses sqlite3.
 */
const busyMs = 250;
/** SQLite truncates the write-ahead log to this many bytes after a long read made it grow. */
const logSizeMax = 16 * 1024 * 1024;

/** The path of the history in a data folder. */
export function historyPath(folder: string): string {
  return join(folder, "history.db");
}

export interface OpenOptions {
  /** Deletes the existing history. The caller builds it again from the journal. */
  readonly anew?: boolean | undefined;
  /** A journal file that may contain history tables of an older Berth, which are moved. */
  readonly journalPath?: string | undefined;
  /** Called with the number of moved entries. */
  readonly moved?: ((entries: number) => void) | undefined;
  /** Called when the old tables could not be dropped. The next start tries again. */
  readonly failed?: ((cause: unknown) => void) | undefined;
}

/** Writes nothing if the file is up to date, so that it can be opened on a full disk. */
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

/** Removes the file, even if it is damaged, and the other files of SQLite for it. */
function removeFile(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"])
    rmSync(`${path}${suffix}`, { force: true });
}

/** Opens the journal file if it has history tables. */
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
 * The tables and the moved entries are one synced commit. A new file has no write-ahead log yet, so
 * a large history needs disk space for one copy, not for two.
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

/** A plain BEGIN is deferred: it locks the file that it writes, not the journal that it reads. */
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

/** The old tables are no longer used. They are harmless except for their disk space. */
function drop(journal: DatabaseSync, failed: OpenOptions["failed"]): void {
  try {
    dropHistoryTables(journal);
  } catch (error) {
    failed?.(error);
  }
}
