import { formatKey } from "../format.ts";
import { formatVersion } from "./migrations.ts";

/** Limits the events that are read at once, not the rows: a row has one to thousands of events. */
const pageEvents = 512;

/** Each chunk is a transaction of its own, so that commits run in between. */
export const pruneChunk = 512;

const commitColumns = "seq, at, count, events, previous, checksum";
const prefixed = commitColumns.replaceAll(/\w+/g, "commit.$&");

export type Statements = ReturnType<typeof statementsFor>;

/** All SQL of the journal, except its schema. Names are qualified, because sessions may be shared. */
export function statementsFor(schema: string) {
  const table = (name: string) => `"${schema}"."${name}"`;
  const [head, journal, snapshot] = [table("head"), table("journal"), table("snapshot")];
  const [meta, replica] = [table("meta"), table("replica")];
  return {
    meta: `SELECT key, value FROM ${meta}`,

    /**
     * One statement is one transaction: it writes everything, or nothing if the journal does not end
     * right before this commit or another replica leads. The row of \`head\` is locked until the end,
     * so that a new leader is elected before or after it. It renews the lease, so that no leader loses
     * the lead because it is busy. The function is in \`migrations.ts\`.
     */
    append: `
      SELECT bytes FROM ${table("append_commit")}($1, $2, $3, $4, $5, $6, $7, $8, $9::integer) AS bytes
      WHERE bytes IS NOT NULL`,

    probe: `
      WITH same AS (
        UPDATE ${head} SET seq = seq WHERE seq = $1::bigint AND epoch = $2::bigint RETURNING bytes)
      SELECT bytes, ${durable} FROM same`,

    /** Whether a commit whose answer was lost was written. */
    written: `
      SELECT head.bytes FROM ${journal} AS commit, ${head} AS head
      WHERE commit.seq = $1::bigint AND commit.checksum = $2::bigint AND commit.epoch = $3::bigint`,

    /**
     * Ends the epoch of a leader that goes on in the next one, so that an append whose outcome it does
     * not know is written before this or never.
     */
    fence: `
      UPDATE ${head} SET epoch = epoch + 1 WHERE epoch = $1::bigint
      RETURNING seq, checksum, epoch`,

    head: `SELECT seq, checksum, bytes, epoch FROM ${head}`,

    /** The last commit, and the end that the head names. One row, also if there is no commit. */
    lastCommit: `
      SELECT ${prefixed}, head.seq AS head, head.checksum AS head_checksum, head.bytes,
        coalesce((SELECT octet_length(state) FROM ${snapshot}), 0) AS snapshot_bytes
      FROM ${head} AS head
      LEFT JOIN (SELECT ${commitColumns} FROM ${journal} ORDER BY seq DESC LIMIT 1) AS commit ON true`,

    /** Always a row: without a commit it has only the last event of the journal. */
    page: `
      SELECT ${prefixed}, head.seq AS head FROM ${head} AS head LEFT JOIN ${journal} AS commit
        ON commit.seq >= $1::bigint AND commit.seq < $1::bigint + ${pageEvents}
      ORDER BY commit.seq`,

    /** The commit with event $1, which may begin before it. */
    commitWith: `
      SELECT seq FROM (
        SELECT seq, count FROM ${journal} WHERE seq <= $1::bigint ORDER BY seq DESC LIMIT 1) AS last
      WHERE seq + count > $1::bigint`,

    nextCommit: `SELECT min(seq) AS seq FROM ${journal} WHERE seq > $1::bigint`,

    search: `
      SELECT ${commitColumns} FROM ${journal}
      WHERE seq >= coalesce(
          (SELECT max(seq) FROM ${journal} WHERE seq <= $1::bigint), $1::bigint)
        AND seq <= $2::bigint AND seq + count > $1::bigint AND strpos(events, $3::text) > 0
      ORDER BY seq`,

    allCommits: `SELECT ${commitColumns} FROM ${journal} ORDER BY seq`,

    /** Ignores an older snapshot: events that only the later one covers may already be pruned. */
    saveSnapshot: `
      INSERT INTO ${snapshot} AS saved (seq, at, state, checksum)
      SELECT $1::bigint, $2::bigint, $3::text, $4::bigint FROM ${head} WHERE seq >= $1::bigint
      ON CONFLICT (one) DO UPDATE SET
        seq = excluded.seq, at = excluded.at, state = excluded.state, checksum = excluded.checksum
      WHERE excluded.seq >= saved.seq
      RETURNING seq`,

    loadSnapshot: `SELECT seq, at, state, checksum FROM ${snapshot}`,

    /** As for SQLite: the oldest commits in sequence, so that wrong clocks cannot cause a gap. */
    prune: `
      WITH oldest AS (
        SELECT seq, at, count FROM ${journal} ORDER BY seq LIMIT ${pruneChunk} + 1
      ), gone AS (
        DELETE FROM ${journal} WHERE seq < coalesce(
          (
            SELECT min(seq) FROM oldest
            WHERE at >= $1::bigint
              OR seq + count - 1 > coalesce((SELECT seq FROM ${snapshot}), 0)
          ),
          (SELECT max(seq) FROM oldest)
        )
        RETURNING octet_length(events) AS bytes
      )
      UPDATE ${head} SET bytes = head.bytes - total.bytes
      FROM (SELECT coalesce(sum(bytes), 0) AS bytes, count(*) AS pruned FROM gone) AS total
      RETURNING head.bytes, total.pruned`,

    ...leadership(head),
    ...replicas(replica, meta),
    ...secrets(table("vault"), head),
  } as const;
}

/** A session that does not wait for its commits to be durable is made to wait, for one transaction. */
const durable = `set_config('synchronous_commit',
  CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
  ELSE current_setting('synchronous_commit') END, true)`;

/** The clock of the database decides alone, so the clocks of the replicas may be wrong. */
function leadership(head: string) {
  const standing = `seq, checksum, bytes, epoch, leader, address,
    extract(epoch FROM since) * 1000 AS since_ms,
    CASE WHEN expires_at = '-infinity' THEN 0
    ELSE extract(epoch FROM expires_at - clock_timestamp()) * 1000 END AS remaining_ms,
    extract(epoch FROM clock_timestamp()) * 1000 AS now_ms`;
  return {
    look: `SELECT ${standing} FROM ${head}`,

    /**
     * A leader whose lease has not run out stays. No lease is twice as long as a lease: then the clock of
     * the database was set back. A commit under way is waited for.
     */
    claim: `
      WITH claimed AS (
        UPDATE ${head} SET epoch = epoch + 1, leader = $1::text, address = $2::text,
          since = clock_timestamp(),
          expires_at = clock_timestamp() + $3::integer * interval '1 millisecond'
        WHERE expires_at <= clock_timestamp()
          OR expires_at > clock_timestamp() + 2 * $3::integer * interval '1 millisecond'
        RETURNING ${standing})
      SELECT *, pg_notify($4, '') FROM claimed`,

    renew: `
      UPDATE ${head}
      SET expires_at = clock_timestamp() + $2::integer * interval '1 millisecond'
      WHERE epoch = $1::bigint RETURNING ${standing}`,

    /** The next epoch belongs to nobody, so no late append of this leader can succeed. */
    resign: `
      WITH resigned AS (
        UPDATE ${head} SET epoch = epoch + 1, leader = NULL, address = NULL, since = NULL,
          expires_at = '-infinity'
        WHERE epoch = $1::bigint RETURNING epoch)
      SELECT pg_notify($2, '') FROM resigned`,
  };
}

/** A replica that has not reported for this long is gone. */
const goneAfter = "1 hour";

function replicas(replica: string, meta: string) {
  return {
    report: `
      INSERT INTO ${replica} AS known (id, address, version, seq, started_at, seen_at, format)
      VALUES ($1::text, $2::text, $3::text, $4::bigint, clock_timestamp(), clock_timestamp(), $5::integer)
      ON CONFLICT (id) DO UPDATE SET address = excluded.address, version = excluded.version,
        seq = excluded.seq, seen_at = excluded.seen_at, format = excluded.format`,

    /** Raises the mark if every server can read that format. Returns the mark as it is then. */
    raiseFormat: `
      WITH raised AS (
        UPDATE ${meta} SET value = $1::text
        WHERE key = '${formatKey}' AND value::integer < $1::integer AND NOT EXISTS (
          SELECT FROM ${replica}
          WHERE format < $1::integer AND seen_at >= clock_timestamp() - interval '${goneAfter}')
        RETURNING value
      ), closed AS (
        UPDATE ${meta} SET value = '${formatVersion}'
        WHERE key = 'oldest_reader' AND value::integer < ${formatVersion} AND EXISTS (SELECT FROM raised))
      SELECT coalesce(
        (SELECT value FROM raised), (SELECT value FROM ${meta} WHERE key = '${formatKey}')) AS format`,

    forget: `
      DELETE FROM ${replica}
      WHERE id = $1::text OR seen_at < clock_timestamp() - interval '${goneAfter}'`,

    replicas: `
      SELECT id, address, version, seq, extract(epoch FROM started_at) * 1000 AS started_ms,
        extract(epoch FROM clock_timestamp() - seen_at) * 1000 AS silent_ms
      FROM ${replica} ORDER BY id`,
  };
}

/** Changes of the leader have one row, also if there is nothing to remove; those of others have none. */
function secrets(vault: string, head: string) {
  return {
    sealed: `SELECT sealed FROM ${vault} WHERE kind = $1::text AND owner = $2::text`,
    listSealed: `SELECT owner, sealed_at FROM ${vault} WHERE kind = $1::text ORDER BY owner`,
    allSealed: `SELECT kind, owner, sealed_at, sealed FROM ${vault} ORDER BY kind, owner`,

    putSealed: `
      WITH written AS (
        INSERT INTO ${vault} (kind, owner, sealed_at, sealed)
        SELECT $1::text, $2::text, $3::bigint, $4::bytea FROM ${head} WHERE epoch = $5::bigint
        ON CONFLICT (kind, owner) DO UPDATE
        SET sealed_at = excluded.sealed_at, sealed = excluded.sealed
        RETURNING owner)
      SELECT owner, ${durable} FROM written`,

    removeSealed: `
      WITH leads AS (
        SELECT epoch FROM ${head} WHERE epoch = $3::bigint
      ), removed AS (
        DELETE FROM ${vault} WHERE kind = $1::text AND owner = $2::text
          AND EXISTS (SELECT FROM leads))
      SELECT epoch, ${durable} FROM leads`,

    addSealed: `
      INSERT INTO ${vault} (kind, owner, sealed_at, sealed)
      VALUES ($1::text, $2::text, $3::bigint, $4::bytea) ON CONFLICT (kind, owner) DO NOTHING`,

    resealed: `
      UPDATE ${vault} SET sealed_at = $3::bigint, sealed = $4::bytea
      WHERE kind = $1::text AND owner = $2::text AND sealed = $5::bytea RETURNING owner`,
  };
}
