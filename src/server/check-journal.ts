/** Verifies the journal of a stopped server, without changing it. */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { FolderLock } from "../journal/folder-lock.ts";
import { missingEnd, otherEnd, readHeadMark } from "../journal/head-mark.ts";
import { JournalUnavailable } from "../journal/journal.ts";
import { applicationId, checksumVersion } from "../journal/migrations.ts";
import { journalPath } from "../journal/sqlite.ts";
import { sqliteFailure } from "../journal/sqlite-failure.ts";
import { commitFrom, readChecksumsFrom, readSecret, readSnapshot } from "../journal/sqlite-rows.ts";
import { sql, withoutChecksums } from "../journal/sqlite-statements.ts";
import { ContentCheck, type JournalContent } from "./check-content.ts";

export interface JournalReport extends JournalContent {
  readonly file: string;
}

/** Throws `JournalUnusable` if a server uses the folder, `JournalUnavailable` if it cannot be read. */
export async function checkJournal(folder: string): Promise<JournalReport> {
  const lock = lockIfWritable(folder);
  try {
    return new JournalCheck(folder).run();
  } finally {
    lock?.release();
  }
}

/** On a read-only disk no server can run, so no lock is needed. */
function lockIfWritable(folder: string): FolderLock | undefined {
  try {
    return FolderLock.take(folder);
  } catch (error) {
    if (error instanceof JournalUnavailable) return undefined;
    throw error;
  }
}

/**
 * SQLite writes beside a journal even to read it, which a read-only disk or folder refuses. Without a
 * write-ahead log everything is in the file itself: then it is read as one that never changes.
 */
function openToRead(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.prepare("PRAGMA application_id").get();
    return database;
  } catch (error) {
    const failure = sqliteFailure(error, "read the journal", path);
    if (!(failure instanceof JournalUnavailable)) return database; // Damaged: the check says how.
    database.close();
    if (hasLog(path)) throw failure;
    const unchanging = pathToFileURL(path);
    unchanging.searchParams.set("immutable", "1");
    return new DatabaseSync(unchanging, { readOnly: true });
  }
}

function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

class JournalCheck {
  readonly #folder: string;
  readonly #path: string;
  readonly #content = new ContentCheck();

  constructor(folder: string) {
    this.#folder = folder;
    this.#path = journalPath(folder);
  }

  run(): JournalReport {
    using database = openToRead(this.#path);
    this.#try("the file", () => {
      const version = this.#checkFile(database);
      if (version !== undefined) this.#checkContent(database, version >= checksumVersion);
    });
    this.#checkEnd();
    return { file: this.#path, ...this.#content.result };
  }

  /** Returns the version of the schema; undefined if the file is not a journal. */
  #checkFile(database: DatabaseSync): number | undefined {
    if (database.prepare("PRAGMA application_id").get()?.["application_id"] !== applicationId) {
      this.#report("the file", "it is not a journal");
      return undefined;
    }
    for (const row of database.prepare("PRAGMA integrity_check(20)").iterate()) {
      const text = String(row["integrity_check"]);
      if (text !== "ok") this.#report("the file", text.trim());
    }
    return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  }

  #checkContent(database: DatabaseSync, hasChecksums: boolean): void {
    let checksumsFrom = Number.POSITIVE_INFINITY;
    if (hasChecksums) {
      this.#try("the secret", () => readSecret(database, this.#path));
      this.#try("the table meta", () => {
        checksumsFrom = readChecksumsFrom(database, this.#path);
      });
    }
    this.#content.checksumsFrom = checksumsFrom;
    const statement = (text: string) => (hasChecksums ? text : withoutChecksums(text));
    this.#try("the snapshot", () => {
      const text = statement(sql.loadSnapshot);
      this.#content.checkSnapshot(readSnapshot(database, checksumsFrom, text));
    });
    this.#try("the commits", () => {
      for (const row of database.prepare(statement(sql.allCommits)).iterate()) {
        this.#content.checkCommit(commitFrom(row));
      }
    });
  }

  #checkEnd(): void {
    const mark = readHeadMark(this.#folder);
    if (mark === undefined) return;
    const head = this.#content.head ?? 0;
    if (head < mark.head) {
      this.#report("the end", missingEnd(this.#folder, this.#path, head, mark).message);
    } else if (head === mark.head && (this.#content.last?.checksum ?? null) !== mark.checksum) {
      this.#report("the end", otherEnd(this.#folder, this.#path, mark).message);
    }
  }

  #try(where: string, work: () => void): void {
    this.#content.attempt(where, work);
  }

  #report(where: string, what: string): void {
    this.#content.report(where, what);
  }
}
