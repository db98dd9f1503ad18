/**
 * An older Berth stored history in the journal file. Such a folder is migrated in two steps, each a
 * transaction in one file:
 *
 * 1. Every entry that the history file does not have is copied into it, with the number of the last
 * event, and synced. 2. The tables in the journal file are dropped.
 *
 * After a crash in step 1, the history file is unchanged. After a crash between the steps, it has
 * the number of that event, so the next start has nothing to copy and continues with step 2. An
 * older Berth that is started in between builds its tables again from the journal; entries that the
 * history file does not have are then added in the same way.
 */
import type { DatabaseSync } from "node:sqlite";
import { JournalUnusable } from "../../journal/journal.ts";
import { inTransaction } from "../../journal/sqlite-transaction.ts";
import { markCleaning } from "./schema.ts";

/** The name of the attached journal file in queries. */
const attached = "journal_file";
/** Since this version, entries contain what their grant waited for. */
const versionWithWaits = 2;

const columns = [
  ...["id", "claim", "holder", "space", "pool", "resource", "count", "priority"],
  ...["asked_at", "asked_seq", "granted_at", "ended_at", "how"],
].join(", ");

/** Whether a journal file has history tables. */
export function hasHistoryTables(journal: DatabaseSync): boolean {
  const table = "SELECT 1 FROM sqlite_schema WHERE name = 'history_place'";
  return journal.prepare(table).get() !== undefined;
}

/** Makes the journal file readable for `copyFromJournal`. Must not run in a transaction. */
export function attachJournal(history: DatabaseSync, journalPath: string): Disposable {
  history.prepare(`ATTACH ? AS ${attached}`).run(journalPath);
  return { [Symbol.dispose]: () => history.exec(`DETACH ${attached}`) };
}

/** Runs in a transaction of the caller. Returns the number of added entries. */
export function copyFromJournal(history: DatabaseSync): number {
  const from = placeIn(history, attached, "version");
  // The process that created the tables died before it had finished.
  if (from.version === 0) return 0;
  if (from.version > versionWithWaits) throw unknownTables(from.version);
  const here = placeIn(history, "main", "0");
  if (from.seq <= here.seq) return 0;
  const waitedFor = from.version < versionWithWaits ? "NULL" : "waited_for";
  const isNew = here.lastNumber === 0;
  const added = isNew ? copyEntries(history, waitedFor) : addEntries(history, waitedFor);
  history.exec(`
    ${markCleaning};
    DELETE FROM history_open;
    INSERT INTO history_open SELECT id, entry FROM ${attached}.history_open;
    DELETE FROM history_member;
    INSERT INTO history_member SELECT resource, pool FROM ${attached}.history_member;
    INSERT OR REPLACE INTO history_size (pool, at, size)
      SELECT pool, at, size FROM ${attached}.history_size;
    UPDATE history_place SET has_capacities = 0`);
  history
    .prepare("UPDATE history_place SET seq = ?, last_number = ?")
    .run(from.seq, isNew ? from.lastNumber : here.lastNumber + added);
  return added;
}

function placeIn(history: DatabaseSync, file: string, version: string) {
  const select = `SELECT ${version} AS version, seq, last_number FROM ${file}.history_place`;
  const row = history.prepare(select).get();
  return {
    version: Number(row?.["version"] ?? 0),
    seq: Number(row?.["seq"] ?? 0),
    lastNumber: Number(row?.["last_number"] ?? 0),
  };
}

/** Keeps the numbers, because clients may use them as cursors. */
function copyEntries(history: DatabaseSync, waitedFor: string): number {
  const copy = `INSERT INTO history (number, ${columns}, waited_for)
    SELECT number, ${columns}, ${waitedFor} FROM ${attached}.history`;
  return Number(history.prepare(copy).run().changes);
}

/** Entries are in order of their ends, so new entries ended with the last known one or later. */
function addEntries(history: DatabaseSync, waitedFor: string): number {
  const add = `
    WITH known AS (
      SELECT last_number AS number, (SELECT coalesce(max(ended_at), 0) FROM main.history) AS at
      FROM main.history_place)
    INSERT INTO history (number, ${columns}, waited_for)
    SELECT (SELECT number FROM known) + row_number() OVER (ORDER BY number),
      ${columns}, ${waitedFor}
    FROM ${attached}.history
    WHERE ended_at >= (SELECT at FROM known) AND (id, coalesce(claim, ''), pool) NOT IN (
      SELECT id, coalesce(claim, ''), pool FROM main.history
      WHERE ended_at = (SELECT at FROM known))`;
  return Number(history.prepare(add).run().changes);
}

/** Uses a connection to the journal file. */
export function dropHistoryTables(journal: DatabaseSync): void {
  const tables = journal
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'history*'")
    .all();
  if (tables.length === 0) return;
  inTransaction(journal, () => {
    for (const { name } of tables) journal.exec(`DROP TABLE ${name}`);
  });
}

function unknownTables(version: number): JournalUnusable {
  return new JournalUnusable(
    `Cannot move history out of the journal's file: its tables have the unknown version ${version}`,
    "Start the newer Berth that wrote it, or drop it with --rebuild-history",
  );
}
