import { randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { secretChecksum } from "./checksum.ts";
import { JournalUnusable } from "./journal.ts";
import { applicationId, migrations } from "./migrations.ts";
import { sqliteFailure } from "./sqlite-failure.ts";
import { sql } from "./sqlite-statements.ts";
import { inTransaction } from "./sqlite-transaction.ts";

/**
 * Readers do not block a writer. This timeout is for a person who writes with sqlite3. The whole
 * process waits meanwhile.
 */
const busyMs = 250;
/** 4 MB. A larger log means rarer but longer checkpoints, each on the calling thread. */
const checkpointPages = 1_000;
/**
 * SQLite truncates the log to this size in bytes after a long read or a large snapshot made it
 * grow.
 */
const logSizeMax = 16 * 1024 * 1024;

/**
 * Opens the database and creates or upgrades its schema. FULL syncs the write-ahead log in every
 * commit: with NORMAL, a power cut could lose commits that were already acknowledged. Throws
 * `JournalUnusable` if the file is damaged, of another program, or of a newer Berth.
 */
export function openDatabase(path: string): DatabaseSync {
  const database = connect(path, busyMs);
  try {
    mustBeOurs(database, path);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = ${checkpointPages};
      PRAGMA journal_size_limit = ${logSizeMax};
    `);
    migrate(database, path);
    return database;
  } catch (error) {
    database.close();
    throw sqliteFailure(error, "open the journal", path);
  }
}

/** The error names the file and the cause, also if the file cannot be opened. */
export function connect(path: string, timeoutMs: number): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: timeoutMs });
  } catch (error) {
    throw sqliteFailure(error, "open", path);
  }
}

/** Runs before any change: the database of another program must not be switched to WAL. */
function mustBeOurs(database: DatabaseSync, path: string): void {
  const owner = pragma(database, "application_id");
  if (owner === applicationId) return;
  const tables = database.prepare("SELECT count(*) AS count FROM sqlite_schema").get();
  if (owner === 0 && tables?.["count"] === 0) return;
  throw new JournalUnusable(
    `Cannot open the journal "${path}": it is the database of another program`,
    "Move that file away, or choose another folder with --data",
  );
}

function migrate(database: DatabaseSync, path: string): void {
  const version = pragma(database, "user_version");
  if (version > migrations.length) {
    const known = migrations.length;
    const state = `its schema has version ${version}, and this Berth knows up to ${known}`;
    throw new JournalUnusable(
      `Cannot open the journal "${path}": ${state}`,
      "Start the newer Berth that wrote it, or restore a backup from before the upgrade",
    );
  }
  if (version === migrations.length) return;
  inTransaction(database, () => {
    for (const step of migrations.slice(version)) database.exec(step);
    database.exec(`PRAGMA application_id = ${applicationId}`);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    createSecret(database);
  });
}

/** The secret of an older journal stays. It gets its checksum here, because it had none. */
function createSecret(database: DatabaseSync): void {
  const insert = database.prepare("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING");
  insert.run("secret", randomBytes(32).toString("base64url"));
  const secret = database.prepare(sql.meta).get("secret")?.["value"];
  insert.run("secret_checksum", String(secretChecksum(String(secret))));
}

function pragma(database: DatabaseSync, name: "application_id" | "user_version"): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
