import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { makePrivateFile } from "./data-folder.ts";
import { JournalUnusable } from "./journal.ts";
import { connect } from "./sqlite-database.ts";
import { isBusy, sqliteFailure } from "./sqlite-failure.ts";

/** Two that start at the same moment can each keep the other out: one of them tries again. */
const busyMs = 100;

/**
 * Keeps a data folder to one process: the journal's own check would catch a second writer too, but
 * only after both have served clients.
 *
 * The lock is an open transaction on an empty database. Node has no `flock`; SQLite's lock is the
 * kernel's, so it goes with the process however that ends, is not inherited by children, and is
 * refused to a second holder in the same process as well. It is not taken on the journal itself,
 * because people want to read that while the broker runs. Who holds it is written beside it, for
 * the message alone: a stale note locks nobody out.
 */
export class FolderLock {
  readonly #database: DatabaseSync;
  readonly #notePath: string;

  private constructor(database: DatabaseSync, notePath: string) {
    this.#database = database;
    this.#notePath = notePath;
  }

  /** Throws `JournalUnusable`, naming the holder if that is known, when it is held. */
  static take(folder: string): FolderLock {
    const path = join(folder, "lock.db");
    const notePath = join(folder, "lock.txt");
    makePrivateFile(folder, path);
    const database = connect(path, busyMs);
    try {
      database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"); // Leaves no `-journal` file.
    } catch (error) {
      database.close();
      throw isBusy(error) ? held(folder, notePath) : sqliteFailure(error, "lock", path);
    }
    const lock = new FolderLock(database, notePath);
    lock.#leaveNote();
    return lock;
  }

  release(): void {
    if (!this.#database.isOpen) return;
    rmSync(this.#notePath, { force: true }); // While it is ours: the next holder writes its own.
    this.#database.close();
  }

  #leaveNote(): void {
    const note = `process ${process.pid} on ${hostname()} since ${new Date().toISOString()}\n`;
    try {
      writeFileSync(this.#notePath, note, { mode: 0o600 });
    } catch {
      // A full disk must not keep the broker from starting to read what it has.
      rmSync(this.#notePath, { force: true });
    }
  }
}

function held(folder: string, notePath: string): JournalUnusable {
  let holder = "another process";
  try {
    holder = readFileSync(notePath, "utf8").slice(0, 200).split("\n")[0]?.trim() || holder;
  } catch {
    // Between taking the lock and writing the note, or a disk without room for it.
  }
  return new JournalUnusable(
    `Cannot open the data folder "${folder}": ${holder} holds it`,
    "Stop that process, or choose another folder with --data",
  );
}
