/** Bounds the events, not the rows, that are read at once: rows hold from one event to hundreds. */
const pageEvents = 512;

/** Each chunk is a commit of its own, so that the broker's commits get their turn in between. */
export const pruneChunk = 512;

/** All SQL of the journal, apart from its schema. */
export const sql = {
  secret: "SELECT value FROM meta WHERE key = 'secret'",

  head: "SELECT seq + count - 1 AS head FROM journal ORDER BY seq DESC LIMIT 1",

  /**
   * Writes nothing if the journal does not end right before. One statement is one transaction, so
   * the check and the row cannot be torn apart, and it saves BEGIN and COMMIT.
   */
  insertCommit: `
    INSERT INTO journal (seq, at, count, events)
    SELECT ?1, ?2, ?3, ?4
    WHERE ?1 = coalesce((SELECT seq + count FROM journal ORDER BY seq DESC LIMIT 1), 1)`,

  /** Means nothing to anybody; a disk that takes it takes commits. */
  probe: `
    INSERT INTO meta (key, value) VALUES ('probed', ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,

  commitWith: `
    SELECT seq FROM journal
    WHERE seq = (SELECT max(seq) FROM journal WHERE seq <= ?1) AND seq + count > ?1`,

  pageOfCommits: `
    SELECT seq, at, count, events FROM journal
    WHERE seq >= ?1 AND seq < ?1 + ${pageEvents} ORDER BY seq`,

  nextCommit: "SELECT min(seq) AS seq FROM journal WHERE seq > ?",

  /** Leaves an older snapshot out: events that only the later one covers may be pruned by now. */
  saveSnapshot: `
    INSERT INTO snapshot (id, seq, at, state) VALUES (1, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, at = excluded.at, state = excluded.state
    WHERE excluded.seq >= snapshot.seq`,

  loadSnapshot: "SELECT seq, at, state FROM snapshot",

  /** Deletes a run of the oldest, up to the first to keep, so that clocks cannot tear a hole. */
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
