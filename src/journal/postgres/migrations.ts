/**
 * The steps from an empty schema to the current one, one per version. A released step is never
 * edited, because journals exist that had it. `schema.sql` shows the result.
 */
export interface Migration {
  readonly sql: string;
  /**
   * Whether an older Berth must not open the journal after this step. Otherwise it goes on: replicas
   * are upgraded one after the other.
   */
  readonly breaking: boolean;
}

export const migrations: readonly Migration[] = [
  {
    breaking: true,
    sql: `
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

INSERT INTO head (seq, checksum, bytes, epoch, expires_at) VALUES (0, 0, 0, 0, '-infinity');
`,
  },
  {
    // Sessions keep the plan of a function, also behind a pooler, where they keep no other plan.
    breaking: false,
    sql: `
CREATE FUNCTION append_commit(
  new_seq bigint, new_at bigint, new_count integer, new_events text, new_previous bigint,
  new_checksum bigint, new_epoch bigint, channel text
) RETURNS bigint -- length of all commits; null: not written, because of the head or the epoch
LANGUAGE plpgsql SET search_path FROM CURRENT AS $body$
DECLARE
  total bigint;
BEGIN
  UPDATE head
  SET seq = new_seq + new_count - 1, checksum = new_checksum,
    bytes = head.bytes + octet_length(new_events)
  WHERE head.seq = new_seq - 1 AND head.epoch = new_epoch
  RETURNING head.bytes INTO total;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  INSERT INTO journal (seq, at, count, events, previous, checksum, epoch)
  VALUES (new_seq, new_at, new_count, new_events, new_previous, new_checksum, new_epoch);
  PERFORM pg_notify(channel, new_seq::text);
  RETURN total;
END
$body$;
`,
  },
  {
    breaking: false,
    sql: `
CREATE TABLE vault (
  kind text NOT NULL,
  owner text NOT NULL, -- what the secret belongs to
  sealed_at bigint NOT NULL, -- milliseconds since 1970
  sealed bytea NOT NULL, -- with a key that is not in the database
  PRIMARY KEY (kind, owner)
);
`,
  },
  {
    breaking: false,
    sql: `
ALTER TABLE replica ADD COLUMN format integer NOT NULL DEFAULT 1; -- the newest that it reads
INSERT INTO meta VALUES ('format', '1');
`,
  },
  {
    // The statement is shorter to plan, and LZ4 needs less time than PostgreSQL's own compression.
    breaking: false,
    sql: `
CREATE OR REPLACE FUNCTION append_commit(
  new_seq bigint, new_at bigint, new_count integer, new_events text, new_previous bigint,
  new_checksum bigint, new_epoch bigint, channel text
) RETURNS bigint -- length of all commits; null: not written, because of the head or the epoch
LANGUAGE plpgsql SET search_path FROM CURRENT AS $body$
DECLARE
  total bigint;
BEGIN
  UPDATE head
  SET seq = new_seq + new_count - 1, checksum = new_checksum,
    bytes = head.bytes + octet_length(new_events)
  WHERE head.seq = new_seq - 1 AND head.epoch = new_epoch
  RETURNING head.bytes INTO total;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  INSERT INTO journal (seq, at, count, events, previous, checksum, epoch)
  VALUES (new_seq, new_at, new_count, new_events, new_previous, new_checksum, new_epoch);
  PERFORM pg_notify(channel, new_seq::text);
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true); -- for this transaction: it must be durable
  END IF;
  RETURN total;
END
$body$;
DO $body$
BEGIN
  ALTER TABLE journal ALTER COLUMN events SET COMPRESSION lz4;
EXCEPTION
  WHEN feature_not_supported THEN NULL; -- PostgreSQL was built without it
END
$body$;
`,
  },
  {
    // Every commit renews the lease of the leader. The other function is for servers of the version before.
    breaking: false,
    sql: `
CREATE FUNCTION append_commit(
  new_seq bigint, new_at bigint, new_count integer, new_events text, new_previous bigint,
  new_checksum bigint, new_epoch bigint, channel text, lease_ms integer
) RETURNS bigint -- length of all commits; null: not written, because of the head or the epoch
LANGUAGE plpgsql SET search_path FROM CURRENT AS $body$
DECLARE
  total bigint;
BEGIN
  UPDATE head
  SET seq = new_seq + new_count - 1, checksum = new_checksum,
    bytes = head.bytes + octet_length(new_events),
    expires_at = clock_timestamp() + lease_ms * interval '1 millisecond'
  WHERE head.seq = new_seq - 1 AND head.epoch = new_epoch
  RETURNING head.bytes INTO total;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  INSERT INTO journal (seq, at, count, events, previous, checksum, epoch)
  VALUES (new_seq, new_at, new_count, new_events, new_previous, new_checksum, new_epoch);
  PERFORM pg_notify(channel, new_seq::text);
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true); -- for this transaction: it must be durable
  END IF;
  RETURN total;
END
$body$;
`,
  },
];

/** The first version of the schema whose servers look at the mark of the format. */
export const formatVersion = 4;

/** The oldest version of Berth's schema that can still use this one. */
export function oldestReader(steps: readonly Migration[]): number {
  return steps.findLastIndex(({ breaking }) => breaking) + 1;
}
