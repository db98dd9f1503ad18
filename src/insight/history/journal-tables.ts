/**
 * History once stood in the journal's own file. A folder that such a Berth has written is taken over
 * in two steps, each of which is a transaction in one file:
 *
 * 1. Everything that the history file does not have yet is copied into it, with the number of the
 *    last event, and synced.
 * 2. The tables in the journal's file are dropped.
 *
 * After a crash in the first step the history file is what it was. After a crash between the two it
 * has that event's number, so the next start finds nothing to copy and goes on with the second. An
 * older Berth that is started in between makes its tables again from the journal; what they have that
 * the history file does not is then added in the same way.
 */
import type { DatabaseSync } from "node:sqlite";
import { JournalUnusable } from "../../journal/journal.ts";

/** How the journal's file is called beside the history file that is open. */
const attached = "journal_file";
/** Since then entries tell what their grant had waited for. */
const versionWithWaits = 2;

const columns = [
  ...["id", "claim", "holder", "space", "pool", "resource", "count", "priority"],
  ...["asked_at", "asked_seq", "granted_at", "ended_at", "how"],
].join(", ");

/** Whether a journal's file has tables of history. */
export function hasHistoryTables(journal: DatabaseSync): boolean {
  const table = "SELECT 1 FROM sqlite_schema WHERE name = 'history_place'";
  return journal.prepare(table).get() !== undefined;
}

/** Makes the journal's file readable for `copyFromJournal`. Not within a transaction. */
export function attachJournal(history: DatabaseSync, journalPath: string): Disposable {
  history.prepare(`ATTACH ? AS ${attached}`).run(journalPath);
  return { [Symbol.dispose]: () => history.exec(`DETACH ${attached}`) };
}

/** Within a transaction of the caller's. Answers how many entries were added. */
export function copyFromJournal(history: DatabaseSync): number {
  const from = placeIn(history, attached, "version");
  if (from.version === 0) return 0; // Its process ended while it made them.
  if (from.version > versionWithWaits) throw unknownTables(from.version);
  const here = placeIn(history, "main", "0");
  if (from.seq <= here.seq) return 0;
  const waitedFor = from.version < versionWithWaits ? "NULL" : "waited_for";
  const isNew = here.lastNumber === 0;
  const added = isNew ? copyEntries(history, waitedFor) : addEntries(history, waitedFor);
  history.exec(`
    DELETE FROM history_open;
    INSERT INTO history_open SELECT id, entry FROM ${attached}.history_open;
    DELETE FROM history_member;
    INSERT INTO history_member SELECT resource, pool FROM ${attached}.history_member;
    INSERT OR REPLACE INTO history_size SELECT pool, at, size FROM ${attached}.history_size`);
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

/** With their numbers: they are cursors that somebody may hold. */
function copyEntries(history: DatabaseSync, waitedFor: string): number {
  const copy = `INSERT INTO history (number, ${columns}, waited_for)
    SELECT number, ${columns}, ${waitedFor} FROM ${attached}.history`;
  return Number(history.prepare(copy).run().changes);
}

/** Ends are in order, so what is new ended together with the last one that is known, or later. */
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

/** Over a connection to the journal's file. */
export function dropHistoryTables(journal: DatabaseSync): void {
  const tables = journal
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'history*'")
    .all();
  if (tables.length === 0) return;
  journal.exec("BEGIN IMMEDIATE");
  try {
    for (const { name } of tables) journal.exec(`DROP TABLE ${name}`);
    journal.exec("COMMIT");
  } catch (error) {
    if (journal.isTransaction) journal.exec("ROLLBACK");
    throw error;
  }
}

function unknownTables(version: number): JournalUnusable {
  return new JournalUnusable(
    `Cannot move history out of the journal's file: its tables have the unknown version ${version}`,
    "Start the newer Berth that wrote it, or drop it with --rebuild-history",
  );
}
