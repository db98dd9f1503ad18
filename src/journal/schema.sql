CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
  seq INTEGER PRIMARY KEY, -- number of the first event of the commit
  at INTEGER NOT NULL, -- milliseconds since 1970
  count INTEGER NOT NULL CHECK (count > 0),
  events TEXT NOT NULL -- a JSON array of so many events
, previous INTEGER, checksum INTEGER) STRICT;

CREATE TABLE snapshot (
  id INTEGER PRIMARY KEY CHECK (id = 1), -- there is one
  seq INTEGER NOT NULL, -- number of the last event in it
  at INTEGER NOT NULL,
  state TEXT NOT NULL
, checksum INTEGER) STRICT;

CREATE VIEW events (seq, at, type, event) AS -- for people with a sqlite3 prompt
SELECT
  journal.seq + each.key,
  strftime('%Y-%m-%dT%H:%M:%fZ', journal.at / 1000.0, 'unixepoch'),
  each.value ->> 'type',
  each.value
FROM journal, json_each(journal.events) AS each;
