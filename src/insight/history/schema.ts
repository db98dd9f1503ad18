import type { DatabaseSync } from "node:sqlite";
import { JournalUnusable } from "../../journal/journal.ts";

/**
 * "BrtH" in the header of the file, so that the database of another program is not used by mistake.
 */
const applicationId = 0x42_72_74_48;

/** The holder of the leases of the server's janitor. */
export const janitorHolder = "berth-janitor";

/** Older entries have no purpose. Those of the server's own janitor are known by its name. */
export const markCleaning = `UPDATE history SET purpose = 'clean' WHERE holder = '${janitorHolder}'`;

/**
 * The steps from an empty file to the current tables, one per version. `PRAGMA user_version` is the
 * number of steps that a file has had. A released step is never edited.
 *
 * The number is the only index. Entries are in the order of their ends, so a time is found by
 * bisection, and a reader in another thread scans half a million entries in a tenth of a second.
 * With indexes by pool, resource and holder, writing an entry took 50 µs, because each index
 * changes a page; without them, it takes 3 µs.
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
  `
ALTER TABLE history ADD COLUMN purpose TEXT NOT NULL DEFAULT 'use'; -- 'use' or 'clean'
${markCleaning};
`,
  // Shared resources. Older entries have no amounts, and `HistoryFollower` learns the capacities.
  `
ALTER TABLE history ADD COLUMN amount TEXT; -- JSON, by dimension; null: an exclusive resource
ALTER TABLE history ADD COLUMN asked TEXT; -- JSON; null: pool and count are all that was asked for
ALTER TABLE history_size ADD COLUMN capacity TEXT; -- JSON; null: exclusive resources

CREATE TABLE history_capacity ( -- shared resources
  resource TEXT PRIMARY KEY,
  capacity TEXT NOT NULL -- JSON, by dimension
) STRICT, WITHOUT ROWID;

ALTER TABLE history_place ADD COLUMN has_capacities INTEGER NOT NULL DEFAULT 0; -- 1: yes
`,
  `
CREATE TABLE history_upkeep ( -- times in which a resource was dirty
  number INTEGER PRIMARY KEY, -- in the order of ready_at
  resource TEXT NOT NULL,
  pool TEXT NOT NULL,
  id TEXT, -- the lease that left it dirty; null: no lease did
  claim TEXT,
  dirty_at INTEGER NOT NULL,
  ready_at INTEGER NOT NULL
) STRICT;

CREATE TABLE history_dirty ( -- what is dirty, or being cleaned
  resource TEXT PRIMARY KEY,
  dirty TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;
`,
  `
CREATE TABLE history_charge ( -- times in which a cluster was charged to a space, or was stock
  number INTEGER PRIMARY KEY, -- in the order of to_at
  resource TEXT NOT NULL,
  instance TEXT NOT NULL,
  pool TEXT NOT NULL,
  template TEXT NOT NULL,
  space TEXT, -- null: stock
  price REAL NOT NULL, -- per hour
  from_at INTEGER NOT NULL,
  to_at INTEGER NOT NULL
) STRICT;

CREATE TABLE history_charged ( -- clusters that exist
  resource TEXT PRIMARY KEY,
  charge TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;

CREATE TABLE history_price ( -- of clusters that are lent from now on
  pool TEXT PRIMARY KEY,
  price REAL NOT NULL -- per hour
) STRICT, WITHOUT ROWID;
`,
  `
CREATE TABLE history_outage (
  number INTEGER PRIMARY KEY,
  what TEXT NOT NULL, -- 'server', 'journal' or 'hub'
  name TEXT, -- of the hub
  from_at INTEGER NOT NULL,
  to_at INTEGER -- null: it goes on
) STRICT;

CREATE TABLE history_limit ( -- from then on a pool had this limit
  pool TEXT NOT NULL,
  at INTEGER NOT NULL,
  max INTEGER, -- null: none
  PRIMARY KEY (pool, at)
) STRICT, WITHOUT ROWID;

ALTER TABLE history_place ADD COLUMN seen_at INTEGER; -- when the server ran last; null: not known
`,
];

/** Runs before any change: the database of another program must not be changed. */
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

/** Whether a step is missing. Throws `JournalUnusable` for a file of a newer Berth. */
export function isOutdated(database: DatabaseSync, path: string): boolean {
  const version = pragma(database, "user_version");
  if (version <= steps.length) return version < steps.length;
  throw new JournalUnusable(
    `Cannot open the history "${path}": its tables have version ${version}, and this Berth knows up to ${steps.length}`,
    "Start the newer Berth that wrote it, or drop it with --rebuild-history",
  );
}

/** Runs in a transaction of the caller. */
export function migrateHistory(database: DatabaseSync): void {
  for (const step of steps.slice(pragma(database, "user_version"))) database.exec(step);
  database.exec(`PRAGMA application_id = ${applicationId}`);
  database.exec(`PRAGMA user_version = ${steps.length}`);
}

/** False for a file that was created but never written. */
export function isHistory(database: DatabaseSync): boolean {
  return (
    pragma(database, "application_id") === applicationId && pragma(database, "user_version") > 0
  );
}

function pragma(database: DatabaseSync, name: "application_id" | "user_version"): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
