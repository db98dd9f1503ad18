import type { DatabaseSync } from "node:sqlite";
import { JournalUnusable } from "../../journal/journal.ts";

/** "BrtH" in the file's header, so that another program's database is not taken for ours. */
const applicationId = 0x42_72_74_48;

/**
 * How the tables of history became what they are, one step per version: `PRAGMA user_version` counts
 * those that a file has had. A step is never edited once it is released.
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
  how TEXT NOT NULL,
  waited_for TEXT -- what the grant waited for last; null: not known
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

CREATE TABLE history_place (
  id INTEGER PRIMARY KEY CHECK (id = 1), -- there is one
  journal TEXT NOT NULL, -- which journal the events come from; empty: not known
  seq INTEGER NOT NULL, -- number of the last event that is in these tables
  last_number INTEGER NOT NULL
) STRICT;
INSERT INTO history_place VALUES (1, '', 0, 0);
`,
];

/** Before anything is changed: the database of another program must not become ours. */
export function mustBeHistory(database: DatabaseSync, path: string): void {
  const owner = pragma(database, "application_id");
  if (owner === applicationId) return;
  const tables = database.prepare("SELECT count(*) AS count FROM sqlite_schema").get();
  if (owner === 0 && tables?.["count"] === 0) return;
  throw new JournalUnusable(
    `Cannot open the history "${path}": it is the database of another program`,
    "Move that file away, or choose another folder with --data",
  );
}

/** Whether there is a step to take. Throws `JournalUnusable` for the file of a newer Berth. */
export function isOutdated(database: DatabaseSync, path: string): boolean {
  const version = pragma(database, "user_version");
  if (version <= steps.length) return version < steps.length;
  throw new JournalUnusable(
    `Cannot open the history "${path}": its tables have version ${version}, and this Berth knows up to ${steps.length}`,
    "Start the newer Berth that wrote it, or drop it with --rebuild-history",
  );
}

/** Within a transaction of the caller's. */
export function migrateHistory(database: DatabaseSync): void {
  for (const step of steps.slice(pragma(database, "user_version"))) database.exec(step);
  database.exec(`PRAGMA application_id = ${applicationId}`);
  database.exec(`PRAGMA user_version = ${steps.length}`);
}

/** False for a file that was made, and in which nothing was ever written. */
export function isHistory(database: DatabaseSync): boolean {
  return (
    pragma(database, "application_id") === applicationId && pragma(database, "user_version") > 0
  );
}

function pragma(database: DatabaseSync, name: "application_id" | "user_version"): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
