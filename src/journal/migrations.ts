/**
 * "Brth" in the header of the file, so that the database of another program is not used by mistake.
 */
export const applicationId = 0x42_72_74_68;

/** The version of the schema that added checksums. */
export const checksumVersion = 2;

/**
 * The steps from an empty file to the current schema, one per version. `PRAGMA user_version` is the
 * number of steps that a file has had. A released step is never edited, because files exist that
 * had it. `schema.sql` shows the result, so that a review sees the difference of a new step there.
 */
export const migrations: readonly string[] = [
  `
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
  seq INTEGER PRIMARY KEY, -- number of the first event of the commit
  at INTEGER NOT NULL, -- milliseconds since 1970
  count INTEGER NOT NULL CHECK (count > 0),
  events TEXT NOT NULL -- a JSON array of so many events
) STRICT;

CREATE TABLE snapshot (
  id INTEGER PRIMARY KEY CHECK (id = 1), -- there is one
  seq INTEGER NOT NULL, -- number of the last event in it
  at INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT;

CREATE VIEW events (seq, at, type, event) AS -- for people with a sqlite3 prompt
SELECT
  journal.seq + each.key,
  strftime('%Y-%m-%dT%H:%M:%fZ', journal.at / 1000.0, 'unixepoch'),
  each.value ->> 'type',
  each.value
FROM journal, json_each(journal.events) AS each;
`,
  `
-- CRC-32 of the commit before, and of this commit together with it; null if an older Berth wrote it
ALTER TABLE journal ADD COLUMN previous INTEGER;
ALTER TABLE journal ADD COLUMN checksum INTEGER;
ALTER TABLE snapshot ADD COLUMN checksum INTEGER;
INSERT INTO meta (key, value)
SELECT 'checksums_from', coalesce(max(seq + count), 1) FROM journal;
`,
];
