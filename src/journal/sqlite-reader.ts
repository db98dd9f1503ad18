import { DatabaseSync } from "node:sqlite";
import type { Instant } from "../core/model/time.ts";
import {
  type Journal,
  JournalUnusable,
  prunedEvents,
  type Recorded,
  recordedAfter,
  type Snapshot,
} from "./journal.ts";
import { applicationId } from "./migrations.ts";
import { sqliteFailure } from "./sqlite-failure.ts";
import { sql } from "./sqlite-statements.ts";

/**
 * Reads a journal without changing it, also while a broker writes it. It takes no lock that blocks
 * another process, and it cannot write.
 */
export class SqliteJournalReader implements Pick<Journal, "read" | "loadSnapshot"> {
  readonly #database: DatabaseSync;

  /** Throws `JournalUnusable` if the file is missing or not ours. */
  constructor(path: string) {
    this.#database = open(path);
    const owner = this.#database.prepare("PRAGMA application_id").get()?.["application_id"];
    if (owner === applicationId) return;
    this.#database.close();
    throw new JournalUnusable(
      `Cannot read the journal "${path}": it is not a journal`,
      "Name the data folder of a Berth server, or its journal.db",
    );
  }

  async *read(seq: number): AsyncIterable<Recorded> {
    const select = this.#database.prepare(
      "SELECT seq, at, count, events FROM journal WHERE seq + count > ? ORDER BY seq",
    );
    let next = seq + 1;
    for (const row of select.iterate(next)) {
      const commit = {
        seq: Number(row["seq"]),
        at: Number(row["at"]) as Instant,
        count: Number(row["count"]),
        events: String(row["events"]),
      };
      if (commit.seq > next) throw prunedEvents(next, commit.seq);
      yield recordedAfter(seq, commit);
      next = commit.seq + commit.count;
    }
  }

  async loadSnapshot(): Promise<Snapshot | undefined> {
    const row = this.#database.prepare(sql.loadSnapshot).get();
    if (row === undefined) return undefined;
    const at = Number(row["at"]) as Instant;
    return { seq: Number(row["seq"]), at, state: String(row["state"]) };
  }

  close(): void {
    this.#database.close();
  }
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
