/** Reads the rows of the journal and checks them: its meta values, its commits, its snapshot. */
import type { DatabaseSync } from "node:sqlite";
import type { Instant } from "../core/model/time.ts";
import {
  type CheckedCommit,
  CommitChain,
  damageHint,
  secretChecksum,
  snapshotChecksum,
} from "./checksum.ts";
import { formatKey } from "./format.ts";
import { JournalUnusable, type Recorded, recordedAfter, type Snapshot } from "./journal.ts";
import { sql } from "./sqlite-statements.ts";

/** One row of `sql.pageOfCommits`, `sql.lastCommit`, `sql.commitOf` or `sql.allCommits`. */
export function commitFrom(row: Record<string, unknown>): CheckedCommit {
  return {
    seq: Number(row["seq"]),
    at: Number(row["at"]) as Instant,
    count: Number(row["count"]),
    events: String(row["events"]),
    previous: numberOrNull(row["previous"]),
    checksum: numberOrNull(row["checksum"]),
  };
}

/** As `commitFrom`, for a statement that returns arrays. */
export function commitFromArray(row: Readonly<Record<number, unknown>>): CheckedCommit {
  return {
    seq: Number(row[0]),
    at: Number(row[1]) as Instant,
    count: Number(row[2]),
    events: String(row[3]),
    previous: numberOrNull(row[4]),
    checksum: numberOrNull(row[5]),
  };
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

/**
 * Throws `JournalUnusable` if the secret is missing or damaged. A missing secret must not become the
 * text "undefined", because anyone could then derive tokens.
 */
export function readSecret(database: DatabaseSync, path: string): string {
  const secret = metaValue(database, "secret");
  if (secret === undefined || secret.length === 0) {
    throw new JournalUnusable(
      `Cannot open the journal "${path}": its secret is missing`,
      "Restore the data folder from a backup",
    );
  }
  if (metaValue(database, "secret_checksum") === String(secretChecksum(secret))) return secret;
  throw new JournalUnusable(
    `Cannot open the journal "${path}": its secret is damaged (its checksum does not match)`,
    damageHint,
  );
}

/** The first event whose commit must have a checksum. */
export function readChecksumsFrom(database: DatabaseSync, path: string): number {
  const from = Number(metaValue(database, "checksums_from"));
  if (Number.isSafeInteger(from) && from > 0) return from;
  throw new JournalUnusable(
    `Cannot open the journal "${path}": its table "meta" is damaged`,
    damageHint,
  );
}

/** The newest format of events that the journal may have. */
export function readFormat(database: DatabaseSync): number {
  return Number(metaValue(database, formatKey) ?? 1);
}

function metaValue(database: DatabaseSync, key: string): string | undefined {
  const value = database.prepare(sql.meta).get(key)?.["value"];
  return typeof value === "string" ? value : undefined;
}

/** Finds commits by their text. Throws `JournalUnusable` if one of them is damaged. */
export function searchCommits(
  database: DatabaseSync,
  checksumsFrom: number,
  { text, from, to }: { readonly text: string; readonly from: number; readonly to: number },
  statement: string = sql.commitsWithText,
): Recorded[] {
  return database
    .prepare(statement)
    .all(from, to, text)
    .map((row) => {
      const commit = commitFrom(row);
      // The commits do not follow each other, so each has its own chain.
      new CommitChain(checksumsFrom).check(commit);
      return recordedAfter(0, commit);
    });
}

/** Throws `JournalUnusable` if the snapshot is damaged. */
export function readSnapshot(
  database: DatabaseSync,
  checksumsFrom: number,
  statement: string = sql.loadSnapshot,
): Snapshot | undefined {
  const row = database.prepare(statement).get();
  if (row === undefined) return undefined;
  const at = Number(row["at"]) as Instant;
  const snapshot = { seq: Number(row["seq"]), at, state: String(row["state"]) };
  const checksum = numberOrNull(row["checksum"]);
  const isOld = checksum === null && snapshot.seq < checksumsFrom;
  if (isOld || checksum === snapshotChecksum(snapshot)) return snapshot;
  throw new JournalUnusable(
    `Cannot load the snapshot of event ${snapshot.seq} from the journal: its checksum does not match`,
    damageHint,
  );
}
