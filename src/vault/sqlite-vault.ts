import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeDataFolder, makePrivateFile } from "../journal/data-folder.ts";
import type { SealedRow } from "../journal/sealed-rows.ts";
import { inTransaction } from "../journal/sqlite-transaction.ts";
import { addKey, makeKeyFile, readKeys, writeKeys } from "./key-file.ts";
import { keyBytes, keyOf, seal, type VaultKey } from "./sealing.ts";
import { unsealEntry, unsealWith } from "./unseal-entry.ts";
import {
  type EntryInfo,
  type EntryKind,
  type EntryName,
  type Vault,
  VaultUnusable,
} from "./vault.ts";

/** Another process has the file open only while an operator rotates the keys. */
const busyMs = 2_000;
/** "BrVt", so that the database of another program is not mistaken for a vault. */
const applicationId = 0x42725674;

/**
 * No write-ahead log: it would keep the bytes of wiped entries. With `secure_delete` SQLite overwrites
 * what is removed with zeros.
 */
const pragmas = `
  PRAGMA journal_mode = DELETE;
  PRAGMA synchronous = EXTRA;
  PRAGMA secure_delete = ON;
`;
const schema = `
  CREATE TABLE IF NOT EXISTS entry (
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    sealed_at_ms INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (kind, owner)
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${applicationId};
`;

export function vaultPath(folder: string): string {
  return join(folder, "vault.db");
}

/** In the data folder, unless the operator keeps the keys elsewhere. */
export function keyFilePath(folder: string): string {
  return join(folder, "vault.key");
}

export interface Rotation {
  readonly resealed: number;
  /** Entries that no key opens; they stay as they are, and so do the old keys. */
  readonly failed: readonly EntryName[];
}

type SealedEntry = EntryInfo & { readonly sealed: Uint8Array };

/**
 * A vault in a file. The file and the keys are opened at the first use, not before: a lost key must
 * not stop a server that lends.
 */
export class SqliteVault implements Vault {
  readonly #path: string;
  readonly #keyFile: string;
  readonly #now: () => number;
  #database: DatabaseSync | undefined;
  /** Of a vault in memory, which has no key file. */
  readonly #ownKeys: readonly VaultKey[] | undefined;

  constructor(path: string, keyFile: string, now: () => number = Date.now) {
    this.#path = path;
    this.#keyFile = keyFile;
    this.#now = now;
    this.#ownKeys = path === ":memory:" ? [keyOf(randomBytes(keyBytes))] : undefined;
  }

  static inMemory(): SqliteVault {
    return new SqliteVault(":memory:", "");
  }

  async put(entry: EntryName, value: string): Promise<void> {
    this.#inTransaction((database) => {
      // Within the transaction: a rotation must not come between the key and the row.
      const [key] = this.#keys(database);
      if (key !== undefined) this.#write(database, entry, seal(key, entry, value));
    });
  }

  async open(entry: EntryName): Promise<string | undefined> {
    const database = this.#connect();
    const row = this.#guard("read", () =>
      database
        .prepare("SELECT sealed FROM entry WHERE kind = ? AND owner = ?")
        .get(entry.kind, entry.owner),
    );
    if (row === undefined) return undefined;
    return this.#unseal(entry, row["sealed"] as Uint8Array, this.#keys(database));
  }

  async wipe({ kind, owner }: EntryName): Promise<void> {
    this.#inTransaction((database) => {
      database.prepare("DELETE FROM entry WHERE kind = ? AND owner = ?").run(kind, owner);
    });
  }

  async list(kind: EntryKind): Promise<readonly EntryInfo[]> {
    if (!this.#exists()) return [];
    const database = this.#connect();
    const rows = this.#guard("read", () =>
      database
        .prepare("SELECT owner, sealed_at_ms FROM entry WHERE kind = ? ORDER BY owner")
        .all(kind),
    );
    return rows.map((row) => ({
      kind,
      owner: String(row["owner"]),
      sealedAtMs: Number(row["sealed_at_ms"]),
    }));
  }

  /**
   * Gives every entry, sealed as it is, to another vault, and removes it here. A crash in between
   * leaves it in both.
   */
  async moveTo(take: (row: SealedEntry) => Promise<void>) {
    const rows = await this.sealedRows();
    for (const row of rows) {
      await take(row);
      await this.wipe(row);
    }
    return rows.length;
  }

  /** Every entry, sealed as it is. Needs no key. */
  async sealedRows(): Promise<readonly SealedEntry[]> {
    if (!this.#exists()) return [];
    const sql = "SELECT kind, owner, sealed_at_ms, sealed FROM entry ORDER BY kind, owner";
    const rows = this.#guard("read", () => this.#connect().prepare(sql).all());
    return rows.map((row) => ({
      kind: row["kind"] as EntryKind,
      owner: String(row["owner"]),
      sealedAtMs: Number(row["sealed_at_ms"]),
      sealed: row["sealed"] as Uint8Array,
    }));
  }

  /** Adds entries that are sealed already, and replaces those that are there. Needs no key. */
  async addSealed(rows: readonly SealedRow[]): Promise<void> {
    this.#inTransaction((database) => {
      const put = database.prepare(
        "INSERT OR REPLACE INTO entry (kind, owner, sealed_at_ms, sealed) VALUES (?, ?, ?, ?)",
      );
      for (const { kind, owner, sealedAtMs, sealed } of rows) {
        put.run(kind, owner, sealedAtMs, sealed);
      }
    });
  }

  /**
   * Seals every entry with a new key, and then forgets the old keys. A crash at any point leaves a
   * key file that opens every entry.
   */
  async rotate(): Promise<Rotation> {
    makeKeyFile(this.#keyFile);
    const keys = addKey(this.#keyFile);
    const rotation = await this.reseal();
    if (rotation.failed.length === 0) writeKeys(this.#keyFile, keys.slice(0, 1));
    return rotation;
  }

  /** Seals every entry with the first key of the file, which stays as it is. */
  async reseal(): Promise<Rotation> {
    return this.#inTransaction((database) => this.#reseal(database, this.#keys(database)));
  }

  async close(): Promise<void> {
    this.#database?.close();
    this.#database = undefined;
  }

  #reseal(database: DatabaseSync, keys: readonly VaultKey[]): Rotation {
    const failed: EntryName[] = [];
    const rows = database.prepare("SELECT kind, owner, sealed FROM entry").all();
    for (const row of rows) {
      const entry = { kind: row["kind"] as EntryKind, owner: String(row["owner"]) };
      const sealed = row["sealed"] as Uint8Array;
      const value = unsealWith(entry, sealed, keys);
      const [first] = keys;
      if (value === undefined || first === undefined) failed.push(entry);
      else this.#write(database, entry, seal(first, entry, value));
    }
    return { resealed: rows.length - failed.length, failed };
  }

  #write(database: DatabaseSync, { kind, owner }: EntryName, sealed: Buffer): void {
    // Removed first: an update in place may leave the old bytes in a page that has shrunk.
    database.prepare("DELETE FROM entry WHERE kind = ? AND owner = ?").run(kind, owner);
    database
      .prepare("INSERT INTO entry (kind, owner, sealed_at_ms, sealed) VALUES (?, ?, ?, ?)")
      .run(kind, owner, this.#now(), sealed);
  }

  #unseal(entry: EntryName, sealed: Uint8Array, keys: readonly VaultKey[]): string {
    const restore = "Restore the file from a backup";
    return unsealEntry(entry, sealed, keys, { vault: this.#path, keyFile: this.#keyFile, restore });
  }

  /** A missing key file is made only for a vault that is still empty: a new key opens nothing old. */
  #keys(database: DatabaseSync): readonly VaultKey[] {
    if (this.#ownKeys !== undefined) return this.#ownKeys;
    if (!existsSync(this.#keyFile)) {
      const row = database.prepare("SELECT count(*) AS count FROM entry").get();
      if (row?.["count"] === 0) makeKeyFile(this.#keyFile);
    }
    return readKeys(this.#keyFile);
  }

  #exists(): boolean {
    return this.#database !== undefined || this.#path === ":memory:" || existsSync(this.#path);
  }

  #connect(): DatabaseSync {
    if (this.#database !== undefined) return this.#database;
    const database = this.#guard("open", () => {
      if (this.#path !== ":memory:") {
        makeDataFolder(dirname(this.#path));
        makePrivateFile(dirname(this.#path), this.#path);
      }
      const opened = new DatabaseSync(this.#path, { timeout: busyMs });
      mustBeVault(opened, this.#path);
      opened.exec(pragmas);
      opened.exec(schema);
      return opened;
    });
    this.#database = database;
    return database;
  }

  #inTransaction<Result>(work: (database: DatabaseSync) => Result): Result {
    const database = this.#connect();
    return this.#guard("write", () => inTransaction(database, () => work(database)));
  }

  #guard<Result>(verb: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (error instanceof VaultUnusable) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new VaultUnusable(
        `Cannot ${verb} the vault "${this.#path}": ${why}`,
        "Check the disk and the rights of the file; lending goes on without it",
        { cause: error },
      );
    }
  }
}

/** Runs before any change: the database of another program stays as it is. */
function mustBeVault(database: DatabaseSync, path: string): void {
  const owner = database.prepare("PRAGMA application_id").get()?.["application_id"];
  const tables = database.prepare("SELECT count(*) AS count FROM sqlite_schema").get();
  if (owner === applicationId || (owner === 0 && tables?.["count"] === 0)) return;
  database.close();
  throw new VaultUnusable(
    `Cannot open the vault "${path}": it is the database of another program`,
    "Move that file away, or name another folder with --data",
  );
}
