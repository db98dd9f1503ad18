CREATE TABLE meta (
  key text PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE head (
  one boolean PRIMARY KEY DEFAULT true CHECK (one), -- there is one row
  seq bigint NOT NULL, -- number of the last event
  checksum bigint NOT NULL, -- of the last commit
  bytes bigint NOT NULL, -- length of all commits
  epoch bigint NOT NULL, -- grows with every change of the leader; each append names its own
  leader text, -- id of the replica that leads
  address text, -- where the others reach it
  since timestamptz,
  expires_at timestamptz NOT NULL -- by the clock of the database: then another one may lead
) WITH (fillfactor = 50);

CREATE TABLE journal (
  seq bigint PRIMARY KEY, -- number of the first event of the commit
  at bigint NOT NULL, -- milliseconds since 1970
  count integer NOT NULL CHECK (count > 0),
  events text NOT NULL, -- a JSON array of so many events
  previous bigint NOT NULL, -- CRC-32 of the commit before, and of this commit together with it
  checksum bigint NOT NULL,
  epoch bigint NOT NULL -- under which it was written
);

CREATE TABLE snapshot (
  one boolean PRIMARY KEY DEFAULT true CHECK (one), -- there is one
  seq bigint NOT NULL, -- number of the last event in it
  at bigint NOT NULL,
  state text NOT NULL,
  checksum bigint NOT NULL
);

CREATE TABLE replica (
  id text PRIMARY KEY,
  address text, -- where the others reach it; null: it can never lead
  version text NOT NULL, -- of Berth
  seq bigint NOT NULL, -- number of the last event that it has applied
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL
);

CREATE VIEW events AS -- for people with psql
SELECT
  journal.seq + each.position - 1 AS seq,
  to_timestamp(journal.at / 1000.0) AS at,
  each.event ->> 'type' AS type,
  each.event
FROM journal, jsonb_array_elements(journal.events::jsonb) WITH ORDINALITY AS each (event, position);
