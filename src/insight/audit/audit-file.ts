/** The file of the audit: its tables, and how it is opened. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makePrivateFile } from "../../journal/data-folder.ts";
import { JournalUnusable } from "../../journal/journal.ts";
import { connect } from "../../journal/sqlite-database.ts";
import { sqliteFailure } from "../../journal/sqlite-failure.ts";

/** "BrtA" in the header of the file. */
const applicationId = 0x42_72_74_41;
const version = 1;
/** Only a person with sqlite3 could lock it. */
const busyMs = 250;
const logSizeMax = 16 * 1024 * 1024;

/** The path of the audit in a data folder. */
export function auditPath(folder: string): string {
  return join(folder, "audit.db");
}

const tables = `
CREATE TABLE audit (
  number INTEGER PRIMARY KEY, -- without gaps; the oldest may be deleted
  at INTEGER NOT NULL, -- milliseconds since 1970
  body TEXT NOT NULL, -- JSON, as it is exported, but without the hashes
  previous TEXT NOT NULL, -- the hash of the entry before
  hash TEXT NOT NULL -- SHA-256 of previous, a line feed and body
) STRICT;

CREATE TABLE audit_open ( -- requests and leases, because later events do not repeat who asked
  id TEXT PRIMARY KEY,
  lease TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_member (
  resource TEXT PRIMARY KEY,
  pool TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_place (
  id INTEGER PRIMARY KEY CHECK (id = 1), -- there is one
  journal TEXT NOT NULL, -- which journal the events come from
  seq INTEGER NOT NULL -- number of the last event that is in these tables
) STRICT;
INSERT INTO audit_place VALUES (1, '', 0);
PRAGMA application_id = ${applicationId};
PRAGMA user_version = ${version};
`;

/** Creates the file if it is missing. */
export function openAuditFile(path: string): DatabaseSync {
  makePrivateFile(dirname(path), path);
  const database = connect(path, busyMs);
  try {
    if (isEmpty(database)) create(database);
    else mustBeAudit(database, path);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA journal_size_limit = ${logSizeMax};
    `);
    return database;
  } catch (error) {
    database.close();
    throw sqliteFailure(error, "open the audit", path);
  }
}

export function auditInMemory(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  create(database);
  return database;
}

/** Throws `JournalUnusable` if there is no audit. */
export function readAuditFile(path: string): DatabaseSync {
  if (!existsSync(path)) {
    throw new JournalUnusable(
      `Cannot open the audit "${path}": there is no such file`,
      "Name the data folder of a server with --data. For a server on another machine: berth audit export > audit.jsonl && berth audit verify audit.jsonl",
      { input: "missing" },
    );
  }
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: busyMs });
    mustBeAudit(database, path);
    return database;
  } catch (error) {
    throw sqliteFailure(error, "open the audit", path);
  }
}

function create(database: DatabaseSync): void {
  database.exec(`BEGIN; ${tables} COMMIT;`);
}

function isEmpty(database: DatabaseSync): boolean {
  const count = database.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.["count"];
  return pragma(database, "application_id") === 0 && count === 0;
}

function mustBeAudit(database: DatabaseSync, path: string): void {
  if (pragma(database, "application_id") !== applicationId) {
    throw new JournalUnusable(
      `Cannot open the audit "${path}": it is the database of another program`,
      "Move that file away, or choose another folder with --data",
    );
  }
  const found = pragma(database, "user_version");
  if (found <= version) return;
  throw new JournalUnusable(
    `Cannot open the audit "${path}": its tables have version ${found}, and this Berth knows up to ${version}`,
    "Start the newer Berth that wrote it, or move the file away",
  );
}

function pragma(database: DatabaseSync, name: "application_id" | "user_version"): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
