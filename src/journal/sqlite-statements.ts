/**
 * Limits the events that are read at once, not the rows, because a row has one to hundreds of
 * events.
 */
const pageEvents = 512;

/** Each chunk is its own commit, so that the commits of the broker run in between. */
export const pruneChunk = 512;

/** In the order that `commitFrom` in `sqlite-rows.ts` expects. */
const commitColumns = "seq, at, count, events, previous, checksum";

/** In the table `meta` while a copy into the journal is not finished. */
export const copyingKey = "copying";

/** All SQL of the journal, except its schema. */
export const sql = {
  meta: "SELECT value FROM meta WHERE key = ?",

  setMeta: `
    INSERT INTO meta (key, value) VALUES (?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,

  head: "SELECT seq + count - 1 AS head FROM journal ORDER BY seq DESC LIMIT 1",

  lastCommit: `SELECT ${commitColumns} FROM journal ORDER BY seq DESC LIMIT 1`,

  commitOf: `SELECT ${commitColumns} FROM journal WHERE seq <= ? ORDER BY seq DESC LIMIT 1`,

  allCommits: `SELECT ${commitColumns} FROM journal ORDER BY seq`,

  /**
   * Writes nothing if the journal does not end right before. One statement is one transaction, so
   * the check and the insert are atomic, and no BEGIN and COMMIT are needed.
   */
  insertCommit: `
    INSERT INTO journal (${commitColumns})
    SELECT ?1, ?2, ?3, ?4, ?5, ?6
    WHERE ?1 = coalesce((SELECT seq + count FROM journal ORDER BY seq DESC LIMIT 1), 1)`,

  /** The value has no meaning. If this write succeeds, commits succeed. */
  probe: `
    INSERT INTO meta (key, value) VALUES ('probed', ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,

  bytes: `
    SELECT (page_count - freelist_count) * page_size AS bytes
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,

  commitWith: `
    SELECT seq FROM journal
    WHERE seq = (SELECT max(seq) FROM journal WHERE seq <= ?1) AND seq + count > ?1`,

  commitsAfter: `SELECT ${commitColumns} FROM journal WHERE seq + count > ? ORDER BY seq`,

  pageOfCommits: `
    SELECT ${commitColumns} FROM journal
    WHERE seq >= ?1 AND seq < ?1 + ${pageEvents} ORDER BY seq`,

  /** Starts at the commit that contains event ?1, which may begin before it. */
  commitsWithText: `
    SELECT ${commitColumns} FROM journal
    WHERE seq >= coalesce((SELECT max(seq) FROM journal WHERE seq <= ?1), ?1) AND seq <= ?2
      AND seq + count > ?1 AND instr(events, ?3) > 0
    ORDER BY seq`,

  nextCommit: "SELECT min(seq) AS seq FROM journal WHERE seq > ?",

  /** Ignores an older snapshot: events that only the later one covers may already be pruned. */
  saveSnapshot: `
    INSERT INTO snapshot (id, seq, at, state, checksum) VALUES (1, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
      seq = excluded.seq, at = excluded.at, state = excluded.state, checksum = excluded.checksum
    WHERE excluded.seq >= snapshot.seq`,

  loadSnapshot: "SELECT seq, at, state, checksum FROM snapshot",

  /**
   * Deletes the oldest commits in sequence, up to the first one to keep, so that wrong clocks
   * cannot cause a gap.
   */
  prune: `
    WITH oldest AS (SELECT seq, at, count FROM journal ORDER BY seq LIMIT ${pruneChunk} + 1)
    DELETE FROM journal WHERE seq < coalesce(
      (
        SELECT min(seq) FROM oldest
        WHERE at >= ? OR seq + count - 1 > coalesce((SELECT seq FROM snapshot), 0)
      ),
      (SELECT max(seq) FROM oldest)
    )`,
} as const;

/** A statement for a journal of an older Berth, which has no checksums. */
export function withoutChecksums(statement: string): string {
  return statement
    .replace("previous, checksum", "NULL AS previous, NULL AS checksum")
    .replace("state, checksum", "state, NULL AS checksum");
}
