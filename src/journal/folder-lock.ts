import { constants, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { makePrivateFile } from "./data-folder.ts";
import { JournalUnusable } from "./journal.ts";
import { connect } from "./sqlite-database.ts";
import { isBusy, sqliteFailure } from "./sqlite-failure.ts";

/** Two processes that start at the same moment can block each other, so one of them tries again. */
const busyMs = 100;

/**
 * Allows only one process to use a data folder. The journal detects a second writer too, but only
 * after both have served clients.
 *
 * The lock is an open transaction on an empty database. Node has no `flock`. The lock of SQLite
 * belongs to the kernel: it ends with the process in every case, children do not inherit it, and a
 * second holder in the same process is rejected too. It is not on the journal itself, because
 * people want to read the journal while the broker runs. A file next to it names the holder, only
 * for the error message: an old one locks nobody out.
 */
export class FolderLock {
  readonly #database: DatabaseSync;
  readonly #notePath: string;

  private constructor(database: DatabaseSync, notePath: string) {
    this.#database = database;
    this.#notePath = notePath;
  }

  /** Throws `JournalUnusable` if the folder is locked, with the holder if it is known. */
  static take(folder: string): FolderLock {
    const path = join(folder, "lock.db");
    const notePath = join(folder, "lock.txt");
    makePrivateFile(folder, path);
    const database = connect(path, busyMs);
    try {
      database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"); // Leaves no `-journal` file.
    } catch (error) {
      database.close();
      if (isBusy(error)) throw held(folder, notePath);
      const failure = sqliteFailure(error, "lock", path);
      throw failure instanceof JournalUnusable ? damaged(failure, path) : failure;
    }
    const lock = new FolderLock(database, notePath);
    lock.#leaveNote();
    return lock;
  }

  release(): void {
    if (!this.#database.isOpen) return;
    // Removed while the lock is ours, because the next holder writes its own file.
    this.#removeNote();
    this.#database.close();
  }

  #leaveNote(): void {
    const note = `process ${process.pid} on ${hostname()} since ${new Date().toISOString()}\n`;
    try {
      // A new file, because the path may be a symbolic link to a file that is not ours.
      rmSync(this.#notePath, { force: true });
      writeFileSync(this.#notePath, note, { mode: 0o600, flag: "wx" });
    } catch {
      // A full disk must not prevent the broker from starting and reading.
      this.#removeNote();
    }
  }

  /** A disk that has become read-only keeps the file, which locks nobody out. */
  #removeNote(): void {
    try {
      rmSync(this.#notePath, { force: true });
    } catch {
      // The next holder overwrites it.
    }
  }
}

function damaged({ message, cause }: JournalUnusable, path: string): JournalUnusable {
  const hint = `Delete "${path}": it has no data, and the next start makes a new one`;
  return new JournalUnusable(message, hint, { cause });
}

function held(folder: string, notePath: string): JournalUnusable {
  let holder = "another process";
  try {
    const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
    const note = readFileSync(notePath, { encoding: "utf8", flag });
    holder = note.slice(0, 200).split("\n")[0]?.trim() || holder;
  } catch {
    // The holder has not written its file yet, or its disk was full.
  }
  return new JournalUnusable(
    `Cannot open the data folder "${folder}": ${holder} has locked it`,
    `Stop the server that uses "${folder}", or choose another folder with --data`,
  );
}
