/** Makes a journal usable again that has events which cannot be applied: it sets them aside. */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { commitChecksum } from "../journal/checksum.ts";
import { FolderLock } from "../journal/folder-lock.ts";
import { HeadMark, type JournalEnd, readHeadMark } from "../journal/head-mark.ts";
import { JournalUnusable, type Snapshot, storedCommit } from "../journal/journal.ts";
import { checksumVersion } from "../journal/migrations.ts";
import { journalPath } from "../journal/sqlite.ts";
import { openDatabase } from "../journal/sqlite-database.ts";
import { sqliteFailure } from "../journal/sqlite-failure.ts";
import { commitFrom, readChecksumsFrom, readSnapshot } from "../journal/sqlite-rows.ts";
import { sql, withoutChecksums } from "../journal/sqlite-statements.ts";
import { inTransaction } from "../journal/sqlite-transaction.ts";
import { lossOf } from "./loss.ts";
import { type SkipPlan, SkipPlanner } from "./skip-plan.ts";

export interface SkipReport {
  readonly file: string;
  readonly skipped: readonly {
    readonly event: number;
    readonly why: string;
    readonly loss: string;
  }[];
  /** Acknowledged events that are missing at the end; null: none. */
  readonly missingAtEnd: { readonly from: number; readonly to: number } | null;
  readonly dropsSnapshot: boolean;
  /** The file with the skipped events; null: nothing was changed. */
  readonly setAside: string | null;
}

/** Reports what `skipEvents` would do. Throws `JournalUnusable` if nothing can be done. */
export async function planSkip(folder: string): Promise<SkipReport> {
  const lock = FolderLock.take(folder);
  try {
    return reportOf(folder, readPlan(folder), null);
  } catch (error) {
    throw sqliteFailure(error, "read the journal", journalPath(folder));
  } finally {
    lock.release();
  }
}

/** Replaces the events in the journal. What they were is in a new file next to it. */
export async function skipEvents(folder: string, nowMs: number): Promise<SkipReport> {
  const lock = FolderLock.take(folder);
  try {
    const plan = readPlan(folder);
    const planned = reportOf(folder, plan, null);
    const hasWork = plan.skipped.length > 0 || plan.dropsSnapshot || planned.missingAtEnd !== null;
    if (!hasWork) return planned;
    const setAside = writeAside(folder, plan, nowMs);
    const end = rewrite(folder, plan);
    const mark = HeadMark.open(folder);
    mark.write(end);
    mark.close();
    return { ...planned, setAside };
  } catch (error) {
    throw sqliteFailure(error, "skip events of", journalPath(folder));
  } finally {
    lock.release();
  }
}

function readPlan(folder: string): SkipPlan {
  const path = journalPath(folder);
  using database = new DatabaseSync(path, { readOnly: true });
  const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  const hasChecksums = version >= checksumVersion;
  const known = (text: string) => (hasChecksums ? text : withoutChecksums(text));
  const checksumsFrom = hasChecksums ? readChecksumsFrom(database, path) : Infinity;
  const commits = database.prepare(known(sql.allCommits)).all().map(commitFrom);
  const snapshot = readableSnapshot(() =>
    readSnapshot(database, checksumsFrom, known(sql.loadSnapshot)),
  );
  return new SkipPlanner(commits, snapshot, checksumsFrom).plan();
}

function readableSnapshot(read: () => Snapshot | undefined): Snapshot | "damaged" | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof JournalUnusable) return "damaged";
    throw error;
  }
}

function reportOf(folder: string, plan: SkipPlan, setAside: string | null): SkipReport {
  const last = plan.commits.at(-1);
  const head = last === undefined ? 0 : last.seq + last.events.length - 1;
  const marked = readHeadMark(folder)?.head ?? 0;
  return {
    file: journalPath(folder),
    skipped: plan.skipped.map(({ seq, why, event }) => {
      return { event: seq, why, loss: lossOf(event) };
    }),
    missingAtEnd: marked > head ? { from: head + 1, to: marked } : null,
    dropsSnapshot: plan.dropsSnapshot,
    setAside,
  };
}

/** Only its owner may read it: events have user data. */
function writeAside(folder: string, { skipped }: SkipPlan, nowMs: number): string {
  const name = `skipped-events-${new Date(nowMs).toISOString().replaceAll(":", "")}.jsonl`;
  const path = join(folder, name);
  const file = openSync(path, "wx", 0o600);
  try {
    for (const one of skipped) writeSync(file, `${JSON.stringify(one)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return path;
}

/** In one transaction: either all events are replaced or none. Every later checksum changes. */
function rewrite(folder: string, { commits, dropsSnapshot }: SkipPlan): JournalEnd {
  using database = openDatabase(journalPath(folder));
  const insert = database.prepare(
    `INSERT INTO journal (seq, at, count, events, previous, checksum) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (seq) DO UPDATE SET count = excluded.count, events = excluded.events,
       previous = excluded.previous, checksum = excluded.checksum`,
  );
  let last: number | null = null;
  let head = 0;
  inTransaction(database, () => {
    for (const { seq, at, events, hasChecksum } of commits) {
      const commit = storedCommit(seq - 1, at, events);
      const previous: number | null = hasChecksum ? (last ?? 0) : null;
      last = previous === null ? null : commitChecksum(previous, commit);
      insert.run(seq, at, commit.count, commit.events, previous, last);
      head = seq + commit.count - 1;
    }
    if (dropsSnapshot) database.exec("DELETE FROM snapshot");
  });
  return { head, checksum: last };
}
