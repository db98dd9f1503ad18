import type { DatabaseSync } from "node:sqlite";
import { JournalUnusable } from "../../journal/journal.ts";

/**
 * How the tables of history became what they are, counted in `history_place.version`. They stand in
 * the journal's file, but they have steps of their own: an older Berth leaves them alone.
 *
 * There is no index but the number. Entries come in the order of their ends, so a time is found by
 * bisection, and a reader in another thread looks at half a million in a tenth of a second. With
 * indexes by pool, resource and holder an entry cost 50 µs to write, because each dirties a page of
 * every index; without, it costs 3 µs.
 */
const steps: readonly string[] = [
  `
CREATE TABLE history (
  number INTEGER PRIMARY KEY, -- in the order of the ends
  id TEXT NOT NULL, -- of the request and its lease
  claim TEXT, -- null where nothing was granted
  holder TEXT NOT NULL,
  space TEXT NOT NULL,
  pool TEXT NOT NULL,
  resource TEXT,
  count INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  asked_at INTEGER NOT NULL, -- milliseconds since 1970, as all times here
  asked_seq INTEGER NOT NULL, -- number of the event
  granted_at INTEGER,
  ended_at INTEGER NOT NULL,
  how TEXT NOT NULL
) STRICT;

CREATE TABLE history_open ( -- what waits or is held
  id TEXT PRIMARY KEY,
  entry TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE history_member (
  resource TEXT PRIMARY KEY,
  pool TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE history_size ( -- from then on a pool had so many resources
  pool TEXT NOT NULL,
  at INTEGER NOT NULL,
  size INTEGER NOT NULL,
  PRIMARY KEY (pool, at)
) STRICT, WITHOUT ROWID;
`,
  `
ALTER TABLE history ADD COLUMN waited_for TEXT; -- what it was last in want of; null: not known
`,
];

const place = `
CREATE TABLE IF NOT EXISTS history_place (
  id INTEGER PRIMARY KEY CHECK (id = 1), -- there is one
  version INTEGER NOT NULL, -- of these tables
  seq INTEGER NOT NULL, -- number of the last event that is in them
  last_number INTEGER NOT NULL
) STRICT;
INSERT INTO history_place VALUES (1, 0, 0, 0) ON CONFLICT DO NOTHING;
`;

/** All that there is, so that it is made again from the journal. The tables of a newer Berth as well. */
export function dropHistory(database: DatabaseSync): void {
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'history*'")
    .all();
  for (const { name } of tables) database.exec(`DROP TABLE ${name}`);
}

/**
 * Makes or upgrades the tables; writes nothing where they are as they should be, so that a server
 * starts on a full disk. Throws `JournalUnusable` for those of a newer Berth.
 */
export function migrateHistory(database: DatabaseSync, path: string): void {
  const version = versionOf(database);
  if (version > steps.length) {
    const known = steps.length;
    throw new JournalUnusable(
      `Cannot open the history in "${path}": its tables have version ${version}, and this Berth knows up to ${known}`,
      "Start the newer Berth that wrote it, or drop it with --rebuild-history",
    );
  }
  if (version === steps.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(place);
    for (const step of steps.slice(version)) database.exec(step);
    database.prepare("UPDATE history_place SET version = ?").run(steps.length);
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** 0: there are none. */
function versionOf(database: DatabaseSync): number {
  const table = "SELECT 1 FROM sqlite_schema WHERE name = 'history_place'";
  if (database.prepare(table).get() === undefined) return 0;
  return Number(database.prepare("SELECT version FROM history_place").get()?.["version"] ?? 0);
}
