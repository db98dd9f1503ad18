import { DatabaseSync } from "node:sqlite";
import { CommitChain } from "./checksum.ts";
import {
  type Journal,
  JournalUnusable,
  prunedEvents,
  type Recorded,
  recordedAfter,
  type Snapshot,
} from "./journal.ts";
import { applicationId, checksumVersion } from "./migrations.ts";
import { sqliteFailure } from "./sqlite-failure.ts";
import { commitFrom, readChecksumsFrom, readSnapshot, searchCommits } from "./sqlite-rows.ts";
import { sql, withoutChecksums } from "./sqlite-statements.ts";

/**
 * Reads a journal without changing it, also while a broker writes it. It takes no lock that blocks
 * another process, and it cannot write.
 */
export class SqliteJournalReader implements Pick<Journal, "read" | "search" | "loadSnapshot"> {
  readonly #database: DatabaseSync;
  /** The version of the schema. An older Berth may still write this journal. */
  readonly #version: number;
  readonly #checksumsFrom: number;

  /** Throws `JournalUnusable` if the file is missing or not ours. */
  constructor(path: string) {
    const database = open(path);
    this.#database = database;
    try {
      mustBeJournal(database, path);
      this.#version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
      const hasChecksums = this.#version >= checksumVersion;
      this.#checksumsFrom = hasChecksums ? readChecksumsFrom(database, path) : Infinity;
    } catch (error) {
      database.close();
      throw sqliteFailure(error, "read the journal", path);
    }
  }

  async *read(seq: number): AsyncIterable<Recorded> {
    const select = this.#database.prepare(this.#known(sql.commitsAfter));
    const chain = new CommitChain(this.#checksumsFrom);
    let next = seq + 1;
    for (const row of select.iterate(next)) {
      const commit = commitFrom(row);
      if (commit.seq > next) throw prunedEvents(next, commit.seq);
      chain.check(commit);
      yield recordedAfter(seq, commit);
      next = commit.seq + commit.count;
    }
  }

  async search(text: string, from: number, to: number): Promise<readonly Recorded[]> {
    const statement = this.#known(sql.commitsWithText);
    return searchCommits(this.#database, this.#checksumsFrom, { text, from, to }, statement);
  }

  async loadSnapshot(): Promise<Snapshot | undefined> {
    return readSnapshot(this.#database, this.#checksumsFrom, this.#known(sql.loadSnapshot));
  }

  /** The statement in a form that the version of the schema allows. */
  #known(statement: string): string {
    return this.#version >= checksumVersion ? statement : withoutChecksums(statement);
  }

  close(): void {
    this.#database.close();
  }
}

function mustBeJournal(database: DatabaseSync, path: string): void {
  const owner = database.prepare("PRAGMA application_id").get()?.["application_id"];
  if (owner === applicationId) return;
  throw new JournalUnusable(
    `Cannot read the journal "${path}": it is not a journal`,
    "Name the data folder of a Berth server, or its journal.db",
  );
}

function open(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { readOnly: true });
  } catch (error) {
    const cause = sqliteFailure(error, "read the journal", path);
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new JournalUnusable(message, "Name the data folder of a Berth server", { cause });
  }
}
